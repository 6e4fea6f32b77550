// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
)

// Where traffic names its Revisions, new ones come up all the same, however long that takes, and are nobody's afterwards: they
// count as unrouted, and may be deleted once there is a newer one.
func TestRevisionsBesidePinnedTraffic(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	svc := probe("app")
	svc.Spec.Traffic = []servingv1.TrafficTarget{{RevisionName: "app-00001", Percent: new(int64(100))}}
	s.deploy(svc)
	// Template and traffic at once: the Route is done long before the new Revision is.
	s.update("app", func(svc *servingv1.Service) {
		variable("STEP", "2")(svc)
		svc.Spec.Template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
			InitialDelaySeconds: 3, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(0)}},
		}
		svc.Spec.Traffic[0].Tag = "stable"
	})
	if got := s.ready("app").Status.LatestReadyRevisionName; got != "app-00002" {
		t.Fatalf("latest ready %q, want app-00002", got)
	}
	// The template alone: nothing else changes for the Route.
	s.update("app", variable("NEXT", "3"))
	s.ready("app")
	for _, name := range []string{"app-00002", "app-00003"} {
		s.eventually(name+" counts as unrouted", func() (bool, error) {
			rev, err := s.Serving.ServingV1().Revisions(s.ns).Get(s.ctx, name, metav1.GetOptions{})
			return err == nil && rev.GetRoutingState() == servingv1.RoutingStateReserve && rev.Annotations[serving.RoutesAnnotationKey] == "", err
		})
	}
	if err := s.Serving.ServingV1().Revisions(s.ns).Delete(s.ctx, "app-00002", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete what no Route leads to: %v", err)
	}
}
