// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package referrers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	listers "weir.dev/client/listers/serving/v1"
)

// Writer writes what Routes refer to.
type Writer struct {
	Client         clientset.Interface
	Revisions      listers.RevisionLister
	Configurations listers.ConfigurationLister
	// ReferredRevisions and ReferredConfigurations return the objects that say that the Route at namespace/name leads to
	// them.
	ReferredRevisions      func(route types.NamespacedName) ([]*v1.Revision, error)
	ReferredConfigurations func(route types.NamespacedName) ([]*v1.Configuration, error)
	Now                    func() time.Time
}

// Of is the function Of with the newest Revisions from the cache.
func (w *Writer) Of(route *v1.Route) Targets {
	return Of(route, func(name string) string {
		config, err := w.Configurations.Configurations(route.Namespace).Get(name)
		if err != nil {
			return ""
		}
		return config.Status.LatestCreatedRevisionName
	})
}

// Set makes all targets say that route leads to them; those that do not exist are left out.
func (w *Writer) Set(ctx context.Context, route *v1.Route, targets Targets) error {
	for name := range targets.Revisions {
		rev, err := w.Revisions.Revisions(route.Namespace).Get(name)
		if err == nil {
			err = w.patchRevision(ctx, rev, addTo(rev, route.Name))
		}
		if err != nil && !apierrs.IsNotFound(err) {
			return err
		}
	}
	for name := range targets.Configurations {
		config, err := w.Configurations.Configurations(route.Namespace).Get(name)
		if err == nil {
			err = w.patchConfiguration(ctx, config, add(Names(config.Annotations), route.Name))
		}
		if err != nil && !apierrs.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// Clear makes all others say that route does not lead to them. The Configuration of route's own Service goes on to say so:
// the Service writes that, so that new Revisions have their least scale from the start.
func (w *Writer) Clear(ctx context.Context, route *v1.Route, except Targets) error {
	key := types.NamespacedName{Namespace: route.Namespace, Name: route.Name}
	revisions, err := w.ReferredRevisions(key)
	if err != nil {
		return fmt.Errorf("finding Revisions of Route %s: %w", key, err)
	}
	for _, rev := range revisions {
		if except.Revisions.Has(rev.Name) {
			continue
		}
		if err := w.patchRevision(ctx, rev, removeFrom(rev, route.Name)); err != nil && !apierrs.IsNotFound(err) {
			return err
		}
	}
	configurations, err := w.ReferredConfigurations(key)
	if err != nil {
		return fmt.Errorf("finding Configurations of Route %s: %w", key, err)
	}
	for _, config := range configurations {
		if except.Configurations.Has(config.Name) || sameService(route, config) {
			continue
		}
		err := w.patchConfiguration(ctx, config, remove(Names(config.Annotations), route.Name))
		if err != nil && !apierrs.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// sameService says whether one Service made both.
func sameService(route *v1.Route, config *v1.Configuration) bool {
	service := route.Labels[serving.ServiceLabelKey]
	return service != "" && service == config.Labels[serving.ServiceLabelKey]
}

func (w *Writer) patchRevision(ctx context.Context, rev *v1.Revision, c change) error {
	return patch(c.metadata(rev.ResourceVersion, w.Now()), "Revision", rev.Name, func(data []byte) error {
		_, err := w.Client.ServingV1().Revisions(rev.Namespace).Patch(
			ctx, rev.Name, types.MergePatchType, data, metav1.PatchOptions{})
		return err
	})
}

func (w *Writer) patchConfiguration(ctx context.Context, config *v1.Configuration, c change) error {
	return patch(c.metadata(config.ResourceVersion, w.Now()), "Configuration", config.Name, func(data []byte) error {
		_, err := w.Client.ServingV1().Configurations(config.Namespace).Patch(
			ctx, config.Name, types.MergePatchType, data, metav1.PatchOptions{})
		return err
	})
}

// patch sends a patch unless it is nil.
func patch(content map[string]any, kind, name string, send func([]byte) error) error {
	if content == nil {
		return nil
	}
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("marshalling patch of %s %q: %w", kind, name, err)
	}
	if err := send(data); err != nil {
		return fmt.Errorf("noting Routes on %s %q: %w", kind, name, err)
	}
	return nil
}
