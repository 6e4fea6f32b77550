// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/digest"
)

// tags stamps svc when a tag means another image than the one that latest runs. An image that either side does not know by
// its digest is left alone.
func (f *Follower) tags(ctx context.Context, svc *v1.Service, latest *v1.Revision, every time.Duration, s *Stamps) {
	if left := f.looked.Left(svc.UID); left > 0 {
		s.again(left)
		return
	}
	now, ok := f.lookUp(ctx, svc, s)
	if !ok {
		return // the answer brings us back
	}
	f.looked.Begin(svc.UID, every)
	s.again(every)

	running, moved := runningDigests(latest), false
	for image, digest := range now {
		moved = moved || (running[image] != "" && running[image] != digest)
	}
	if moved {
		// With what it follows: a tag may go back and forth while the template changes.
		s.set(serving.FollowedDigestsAnnotationKey, fmt.Sprintf("%s after %s", strings.Join(slices.Sorted(maps.Values(now)), ","), latest.Name))
	}
}

// lookUp returns what the images of svc mean now, of those that somebody could say it of; false while that is going on.
func (f *Follower) lookUp(ctx context.Context, svc *v1.Service, s *Stamps) (map[string]string, bool) {
	cfg := config.FromContext(ctx).Deployment
	spec := &svc.Spec.Template.Spec.PodSpec
	found, unknown := digest.Known(digest.ImagesOf(spec), f.local, cfg.RegistriesSkippingTagResolving)
	maps.DeleteFunc(found, func(_, digest string) bool { return digest == "" }) // nobody is to ask
	if len(unknown) == 0 {
		return found, true
	}
	results, ok := f.digests.Resolve(digest.Request{
		Done: func() { f.onDone(types.NamespacedName{Namespace: svc.Namespace, Name: svc.Name}) },
		UID:  svc.UID, Images: unknown, As: digest.IdentityOf(svc.Namespace, spec), Timeout: cfg.DigestResolutionTimeout,
	})
	if !ok {
		return nil, false
	}
	f.digests.Forget(svc.UID)
	for image, result := range results {
		if result.Err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("image %q: %v", image, result.Err))
			continue
		}
		found[image] = result.Digest
	}
	return found, true
}

// runningDigests is what rev was resolved to, by image.
func runningDigests(rev *v1.Revision) map[string]string {
	running := map[string]string{}
	add := func(containers []corev1.Container, statuses []v1.ContainerStatus) {
		for i := range min(len(containers), len(statuses)) {
			running[containers[i].Image] = statuses[i].ImageDigest
		}
	}
	add(rev.Spec.InitContainers, rev.Status.InitContainerStatuses)
	add(rev.Spec.Containers, rev.Status.ContainerStatuses)
	return running
}
