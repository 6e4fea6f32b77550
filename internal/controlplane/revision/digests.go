// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/digest"
	"weir.dev/pkg/apis"
)

// ConditionDigestsPinned is False, as a warning, on a Revision whose instances may not all run the same image. It goes away
// when they do. The type is ours.
const ConditionDigestsPinned apis.ConditionType = "DigestsPinned"

// Reasons of ConditionDigestsPinned.
const (
	// ReasonUnresolved is a tag of which nobody could say what it means.
	ReasonUnresolved = "Unresolved"
	// ReasonStartedByTag is a digest that was learnt when instances ran already.
	ReasonStartedByTag = "StartedByTag"
)

// resolveDigests finds out, once, which image each container means; false while that is going on. What could not be found
// out is left to the node.
func (r *Reconciler) resolveDigests(ctx context.Context, rev *v1.Revision) bool {
	if len(rev.Status.ContainerStatuses)+len(rev.Status.InitContainerStatuses) ==
		len(rev.Spec.Containers)+len(rev.Spec.InitContainers) {
		return true
	}
	cfg := config.FromContext(ctx).Deployment
	digests, unknown := digest.Known(digest.ImagesOf(&rev.Spec.PodSpec), r.localImage, cfg.RegistriesSkippingTagResolving)
	if len(unknown) > 0 {
		found, ok := r.ask(rev, unknown, cfg)
		if !ok {
			rev.Status.MarkResourcesAvailableUnknown(v1.ReasonResolvingDigests, "")
			return false
		}
		for image, result := range found {
			digests[image] = result.Digest
		}
		warnUnresolved(rev, unknown, found)
	}
	rev.Status.ContainerStatuses = statuses(rev.Spec.Containers, digests)
	rev.Status.InitContainerStatuses = statuses(rev.Spec.InitContainers, digests)
	return true
}

// ask asks registries, and then leaves them alone for a while; false while the answer is not there.
func (r *Reconciler) ask(rev *v1.Revision, images []string, cfg *config.Deployment) (map[string]digest.Result, bool) {
	results, ok := r.digests.Resolve(digest.Request{
		Done: func() { r.enqueue(types.NamespacedName{Namespace: rev.Namespace, Name: rev.Name}) },
		UID:  rev.UID, Images: images, As: digest.IdentityOf(rev.Namespace, &rev.Spec.PodSpec), Timeout: cfg.DigestResolutionTimeout,
	})
	if ok {
		r.digests.Forget(rev.UID)
		r.asked.Begin(rev.UID, again)
	}
	return results, ok
}

// pinLocal learns the digests of local images that were not there when the Revision was made: what runs, else what is there.
func (r *Reconciler) pinLocal(rev *v1.Revision, seen observation) {
	pin := func(containers []corev1.Container, statuses []v1.ContainerStatus) {
		for i := range statuses {
			if d := r.localImage(containers[i].Image); d != "" && statuses[i].ImageDigest == "" {
				statuses[i].ImageDigest = cmp.Or(digest.FromImageID(containers[i].Image, seen.imageID(containers[i].Name)), d)
			}
		}
	}
	pin(rev.Spec.InitContainers, rev.Status.InitContainerStatuses)
	pin(rev.Spec.Containers, rev.Status.ContainerStatuses)
}

func statuses(containers []corev1.Container, digests map[string]string) []v1.ContainerStatus {
	if len(containers) == 0 {
		return nil
	}
	s := make([]v1.ContainerStatus, 0, len(containers))
	for i := range containers {
		s = append(s, v1.ContainerStatus{Name: containers[i].Name, ImageDigest: digests[containers[i].Image]})
	}
	return s
}

func warnUnresolved(rev *v1.Revision, images []string, results map[string]digest.Result) {
	var messages []string
	for _, image := range images {
		if err := results[image].Err; err != nil {
			messages = append(messages, v1.RevisionContainerMissingMessage(image, "failed to resolve image to digest: "+err.Error()))
		}
	}
	if len(messages) > 0 {
		warnDigests(rev, ReasonUnresolved, strings.Join(messages, "; ")+
			". Each instance runs what the tag means to its node when it starts.")
	}
}

func warnDigests(rev *v1.Revision, reason, message string) {
	rev.GetConditionSet().Manage(&rev.Status).SetCondition(apis.Condition{
		Type:     ConditionDigestsPinned,
		Status:   corev1.ConditionFalse,
		Severity: apis.ConditionSeverityWarning,
		Reason:   reason,
		Message:  message,
	})
}

// again is how long it takes until a registry that did not say what a tag means is asked once more.
const again = 5 * time.Minute

// pinDigests learns the digests that could not be looked up from what nodes say that they run, or from the registry after all,
// and keeps the warning until instances are started by digest. It returns when to look again; 0 is never.
func (r *Reconciler) pinDigests(ctx context.Context, rev *v1.Revision, seen observation) time.Duration {
	if rev.Status.GetCondition(ConditionDigestsPinned) == nil {
		return 0
	}
	if unresolved := r.learn(ctx, rev, seen); len(unresolved) > 0 {
		next := r.askAgain(ctx, rev, unresolved)
		if len(r.learn(ctx, rev, seen)) > 0 {
			return next
		}
	}
	r.asked.End(rev.UID)
	if image := unpinned(ctx, rev, seen); image != "" {
		warnDigests(rev, ReasonStartedByTag, fmt.Sprintf(
			"Image %q was not resolved before instances started; they are started by digest once there are none.", image))
		return 0
	}
	// A condition that nothing depends on can always be removed.
	_ = rev.GetConditionSet().Manage(&rev.Status).ClearCondition(ConditionDigestsPinned)
	return 0
}

// learn takes digests over from the nodes, and returns the images that nobody has named yet.
func (r *Reconciler) learn(ctx context.Context, rev *v1.Revision, seen observation) (unresolved []string) {
	skip := config.FromContext(ctx).Deployment.RegistriesSkippingTagResolving
	for i := range rev.Spec.Containers {
		c, status := &rev.Spec.Containers[i], &rev.Status.ContainerStatuses[i]
		if _, fixed := digest.Fixed(c.Image, skip); fixed {
			continue
		}
		status.ImageDigest = cmp.Or(status.ImageDigest, digest.FromImageID(c.Image, seen.imageID(c.Name)))
		if status.ImageDigest == "" {
			unresolved = append(unresolved, c.Image)
		}
	}
	return unresolved
}

// unpinned is an image whose digest is known and that new instances are not started by.
func unpinned(ctx context.Context, rev *v1.Revision, seen observation) string {
	skip := config.FromContext(ctx).Deployment.RegistriesSkippingTagResolving
	for i := range rev.Spec.Containers {
		c := &rev.Spec.Containers[i]
		if _, fixed := digest.Fixed(c.Image, skip); fixed {
			continue
		}
		if d := rev.Status.ContainerStatuses[i].ImageDigest; d != "" && seen.deployedImage(c.Name) != d {
			return c.Image
		}
	}
	return ""
}

// askAgain asks the registries for images that they did not name before, now and then, as long as a Route leads to rev or may
// yet. It returns when to do so next.
func (r *Reconciler) askAgain(ctx context.Context, rev *v1.Revision, images []string) time.Duration {
	if rev.GetRoutingState() == v1.RoutingStateReserve {
		return 0
	}
	if left := r.asked.Left(rev.UID); left > 0 {
		return left
	}
	results, ok := r.ask(rev, images, config.FromContext(ctx).Deployment)
	if !ok {
		return 0 // the answer brings us back
	}
	for i := range rev.Spec.Containers {
		if d := results[rev.Spec.Containers[i].Image].Digest; d != "" {
			rev.Status.ContainerStatuses[i].ImageDigest = d
		}
	}
	return again
}
