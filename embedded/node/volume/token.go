// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

type token struct {
	text string
	// renew is when a new one is asked for.
	renew time.Time
}

// addToken adds a service account's token, asked for anew once four fifths of
// its life or a day have passed.
func (s *Set) addToken(ctx context.Context, pod *corev1.Pod, volume string, p *corev1.ServiceAccountTokenProjection, usual int32, files map[string]file) error {
	key := volume + "/" + p.Path
	current, ok := s.tokens[key]
	if !ok || !s.now().Before(current.renew) {
		fresh, err := s.requestToken(ctx, pod, p)
		if err != nil {
			return err
		}
		s.tokens[key] = fresh
		current = fresh
	}
	owner, private := tokenOwner(pod)
	if private || fsGroup(pod) != nil {
		usual = 0o600
	}
	files[p.Path] = file{data: []byte(current.text), mode: usual, owner: owner}
	return nil
}

func (s *Set) requestToken(ctx context.Context, pod *corev1.Pod, p *corev1.ServiceAccountTokenProjection) (token, error) {
	spec := authenticationv1.TokenRequestSpec{
		ExpirationSeconds: p.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}
	if spec.ExpirationSeconds == nil {
		spec.ExpirationSeconds = ptr.To[int64](3600)
	}
	if p.Audience != "" {
		spec.Audiences = []string{p.Audience}
	}
	account := pod.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	status, err := s.source.Token(ctx, pod.Namespace, account, spec)
	if err != nil {
		return token{}, fmt.Errorf("request token of service account %s/%s: %w", pod.Namespace, account, err)
	}
	life := time.Duration(*spec.ExpirationSeconds) * time.Second
	if left := status.ExpirationTimestamp.Sub(s.now()); left > 0 && left < life {
		life = left
	}
	// Spread, so that pods of one start do not all ask at the same time.
	const longest = 24 * time.Hour
	use := min(life*4/5, longest) - rand.N(10*time.Second)
	return token{text: status.Token, renew: s.now().Add(use)}, nil
}

// tokenOwner is the user that all containers run as, if they say so.
func tokenOwner(pod *corev1.Pod) (owner *int64, private bool) {
	var common *int64
	if s := pod.Spec.SecurityContext; s != nil {
		common = s.RunAsUser
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			user := common
			if s := list[i].SecurityContext; s != nil && s.RunAsUser != nil {
				user = s.RunAsUser
			}
			if user == nil || owner != nil && *owner != *user {
				return nil, false
			}
			owner = user
		}
	}
	return owner, owner != nil
}
