// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/pkg/ptr"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// States of a rollout over 10 s, as Ingresses keep them; the second one began at fixture.Now.
const (
	steady = `{"configurations":[{"configurationName":"app","percent":100,"revisions":[{"revisionName":"app-00001","percent":100}]}]}`
	begun  = `{"configurations":[{"configurationName":"app","percent":100,"revisions":[{"revisionName":"app-00001","percent":99},` +
		`{"revisionName":"app-00002","percent":1}],"stepParams":{"starttime":1767268800000000000}}]}`
	planned = `{"configurations":[{"configurationName":"app","percent":100,"revisions":[{"revisionName":"app-00001","percent":99},` +
		`{"revisionName":"app-00002","percent":1}],"stepParams":{"starttime":1767268800000000000,"nextStepTime":1767268801000000000,` +
		`"stepDuration":1000000000,"stepSize":11}}]}`
)

// gradually makes a Route's traffic move within 10 s.
func gradually(r *v1.Route) {
	r.Annotations = map[string]string{"serving.knative.dev/rollout-duration": "10s"}
}

// rolling says that the second Revision has its first share.
func rolling(r *v1.Route) {
	r.Status.Traffic = []v1.TrafficTarget{
		{RevisionName: "app-00001", LatestRevision: ptr.Bool(false), Percent: ptr.Int64(99)},
		{RevisionName: "app-00002", LatestRevision: ptr.Bool(true), Percent: ptr.Int64(1)},
	}
	r.Status.MarkIngressRolloutInProgress()
}

// in makes an Ingress be in a state of its rollout.
func in(state string) func(*netv1alpha1.Ingress) {
	return func(ing *netv1alpha1.Ingress) {
		ing.Annotations["serving.knative.dev/rollout-duration"] = "10s"
		ing.Annotations["networking.internal.knative.dev/rollout"] = state
	}
}

// shared divides each rule between two Revisions.
func shared(ing *netv1alpha1.Ingress) {
	for i := range ing.Spec.Rules {
		path := &ing.Spec.Rules[i].HTTP.Paths[0]
		older, newer := path.Splits[0], path.Splits[0]
		older.Percent, newer.Percent, newer.ServiceName = 99, 1, "app-00002"
		newer.AppendHeaders = map[string]string{"Knative-Serving-Revision": "app-00002", "Knative-Serving-Namespace": "ns"}
		path.Splits = []netv1alpha1.IngressBackendSplit{older, newer}
	}
}

// gradualPlaceholder is the Route's k8s Service, which has its annotations.
func gradualPlaceholder() *corev1.Service {
	svc := placeholder(private())
	svc.Annotations = map[string]string{"serving.knative.dev/rollout-duration": "10s"}
	return svc
}

// TestRollout goes through a gradual rollout.
func TestRollout(t *testing.T) {
	first, second := fixture.Revision("app", 1, fixture.ReadyRevision), fixture.Revision("app", 2, fixture.ReadyRevision)
	rtesting.TableTest{{
		Name: "what serves is remembered before there is anything to move",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(gradually, served), readyConfiguration("app-00001"), first, gradualPlaceholder(), ingress(existing, fixture.ReadyIngress),
		},
		WantUpdates: updates(ingress(existing, fixture.ReadyIngress, in(steady))),
	}, {
		Name: "the next Revision begins with one percent, and Ready is Unknown",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(gradually, served), readyConfiguration("app-00002"), first, second, gradualPlaceholder(),
			ingress(existing, fixture.ReadyIngress, in(steady)),
		},
		WantUpdates:       updates(ingress(existing, fixture.ReadyIngress, in(begun), shared)),
		WantStatusUpdates: updates(route(gradually, served, rolling)),
	}, {
		Name: "that is served: the steps are planned, and the run of the first one is asked for",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(gradually, served, rolling), readyConfiguration("app-00002"), first, second, gradualPlaceholder(),
			ingress(existing, fixture.ReadyIngress, in(begun), shared),
		},
		WantErr:     true,
		WantUpdates: updates(ingress(existing, fixture.ReadyIngress, in(planned), shared)),
	}, {
		Name: "no step is due: nothing is written",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(gradually, served, rolling), readyConfiguration("app-00002"), first, second, gradualPlaceholder(),
			ingress(existing, fixture.ReadyIngress, in(planned), shared),
		},
		WantErr: true, // in a second
	}, {
		Name: "without a duration it ends at once",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served, rolling), readyConfiguration("app-00002"), first, second, placeholder(private()),
			ingress(existing, fixture.ReadyIngress, in(planned), shared),
		},
		WantUpdates: updates(ingressTo("app-00002", existing, fixture.ReadyIngress)),
		WantStatusUpdates: updates(route(served, func(r *v1.Route) {
			r.Status.Traffic[0].RevisionName = "app-00002"
		})),
	}}.Test(t, factory())
}
