// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package follow has Services rolled for changes outside of them, where their authors ask for it: a ConfigMap or Secret that
// the template refers to has other contents, or a tag means another image. It answers with annotations for the
// template of the Configuration, so that a new Revision comes from a changed Configuration as every other one does, and the
// Service stays as its author wrote it. It writes nothing itself. Only package service imports it.
package follow

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/digest"
)

// Digests looks images up; see digest.Resolver.
type Digests interface {
	Resolve(digest.Request) (map[string]digest.Result, bool)
	Forget(types.UID)
}

// Config is what a Follower needs.
type Config struct {
	// Kube reads ConfigMaps and Secrets, each by its name; required.
	Kube kubernetes.Interface
	// Digests asks registries; required.
	Digests Digests
	// LocalImage names by digest an image of this machine, "" where it is none; required.
	LocalImage func(image string) string
	// Clock; nil is the real one.
	Clock clock.Clock
}

// Follower looks at what Services refer to. All methods may be called concurrently.
type Follower struct {
	contents contents
	digests  Digests
	local    func(image string) string
	// looked are the times between two looks at the tags of a Service.
	looked *digest.Pauses
	onDone func(types.NamespacedName)
}

// New returns a Follower.
func New(cfg Config) *Follower {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	return &Follower{
		contents: contents{kube: cfg.Kube, seen: cache.NewExpiringWithClock(cfg.Clock)},
		digests:  cfg.Digests,
		local:    cfg.LocalImage,
		looked:   digest.NewPauses(cfg.Clock),
	}
}

// OnDone sets what is called with the name of a Service that is to be looked at again. Call it once, before any Stamps.
func (f *Follower) OnDone(call func(types.NamespacedName)) { f.onDone = call }

// Stamps is what the template of a Configuration has beside what its Service says.
type Stamps struct {
	// Annotations change exactly when there is to be a new Revision.
	Annotations map[string]string
	// Again is when to ask next; 0 is never.
	Again time.Duration
	// Problems say what could not be looked up, for the author.
	Problems []string
}

// Stamps returns what svc is to be stamped with. config is what is there, and latest the Revision that its present generation
// made; both may be nil. What cannot be found out now stays as it is.
func (f *Follower) Stamps(ctx context.Context, svc *v1.Service, config *v1.Configuration, latest *v1.Revision) Stamps {
	s := Stamps{}
	asked := svc.Spec.Template.Annotations
	if asked[serving.FollowConfigAnnotationKey] == "enabled" {
		s.keep(config, serving.ConfigHashAnnotationKey)
		f.config(ctx, svc, &s)
	}
	if every, err := time.ParseDuration(asked[serving.FollowTagsAnnotationKey]); err == nil && every > 0 {
		s.keep(config, serving.FollowedDigestsAnnotationKey)
		if latest != nil {
			f.tags(ctx, svc, latest, every, &s)
		}
	}
	return s
}

// keep takes over what config was stamped with before.
func (s *Stamps) keep(config *v1.Configuration, key string) {
	if config == nil {
		return
	}
	if v, ok := config.Spec.Template.Annotations[key]; ok {
		s.set(key, v)
	}
}

func (s *Stamps) set(key, value string) {
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[key] = value
}

// again asks for a look after d at the latest.
func (s *Stamps) again(d time.Duration) {
	if s.Again == 0 || d < s.Again {
		s.Again = d
	}
}
