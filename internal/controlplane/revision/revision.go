// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"context"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	v1 "weir.dev/api/serving/v1"
	clientset "weir.dev/client/clientset/versioned"
	revisionreconciler "weir.dev/client/injection/reconciler/serving/v1/revision"
	palisters "weir.dev/client/listers/autoscaling/v1alpha1"
	listers "weir.dev/client/listers/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/digest"
	"weir.dev/internal/controlplane/revision/workload"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
)

// Reconciler runs Revisions.
type Reconciler struct {
	kube           kubernetes.Interface
	client         clientset.Interface
	configurations listers.ConfigurationLister
	deployments    appslisters.DeploymentLister
	autoscalers    palisters.PodAutoscalerLister
	pods           corelisters.PodLister
	tracker        tracker.Interface
	digests        Digests
	localImage     func(image string) string
	drain          netip.AddrPort
	now            func() time.Time
	// asked are the times in which registries are not asked again for what they did not know.
	asked   *digest.Pauses
	enqueue func(types.NamespacedName)
}

var _ revisionreconciler.Interface = (*Reconciler)(nil)

// ReconcileKind implements revisionreconciler.Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, rev *v1.Revision) reconciler.Event {
	wasReady := rev.IsReady()
	rev.Status.LogURL = logURL(ctx, rev)
	if !r.resolveDigests(ctx, rev) {
		return nil // the answer brings us back
	}
	deployment, err := r.deployment(ctx, rev)
	if err != nil {
		return err
	}
	seen, err := r.observe(ctx, rev, deployment)
	if err != nil {
		return err
	}
	r.pinLocal(rev, seen)
	look := r.pinDigests(ctx, rev, seen)
	reflectInstances(&rev.Status, seen)
	pa, err := r.podAutoscaler(ctx, rev, seen)
	if err != nil {
		return err
	}
	rev.Status.PropagateAutoscalerStatus(&pa.Status)
	recheck := sooner(seen.endUnknown(&rev.Status), look)
	if !wasReady && rev.Status.GetCondition(v1.RevisionConditionReady).IsTrue() {
		controller.GetEventRecorder(ctx).Event(rev, corev1.EventTypeNormal, "RevisionReady",
			"Revision becomes ready upon all resources being ready")
	}
	if recheck > 0 {
		return controller.NewRequeueAfter(recheck)
	}
	return nil
}

// sooner is the shorter of two times, of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// settings are those of the workload at the moment.
func (r *Reconciler) settings(ctx context.Context) workload.Settings {
	cfg := config.FromContext(ctx)
	return workload.Settings{Deployment: cfg.Deployment, Autoscaler: cfg.Autoscaler, Drain: r.drain}
}

// logURL is where the operator says that the logs of rev are.
func logURL(ctx context.Context, rev *v1.Revision) string {
	template := config.FromContext(ctx).Observability.RevisionURLTemplate
	return strings.ReplaceAll(template, "${REVISION_UID}", string(rev.UID))
}
