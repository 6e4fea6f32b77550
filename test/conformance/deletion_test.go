// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// "It is RECOMMENDED that developers are able to force the deletion of Revisions". Without force one that requests are routed to
// stays: they would fail until it is made again.
func TestDeletionOfRevisions(t *testing.T) {
	s := newSpace(t)
	first := s.deploy(hello("app")).Status.LatestReadyRevisionName
	revisions := s.Serving.ServingV1().Revisions(s.ns)
	err := revisions.Delete(s.ctx, first, metav1.DeleteOptions{})
	if err == nil || !strings.Contains(err.Error(), `routed to by Route "app"`) {
		t.Errorf("Delete of a routed Revision: %v, want it refused with the Route's name", err)
	}
	s.update("app", func(svc *servingv1.Service) {
		svc.Spec.Template.Annotations = map[string]string{"example.com/next": "yes"}
	})
	var second string
	s.eventually("the next Revision is routed to alone", func() (bool, error) {
		svc, err := s.Serving.ServingV1().Services(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		second = svc.Status.LatestReadyRevisionName
		return err == nil && svc.IsReady() && second != first, err
	})
	if err := revisions.Delete(s.ctx, second, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Errorf("forced deletion of a routed Revision: %v", err)
	}
	s.eventually("the first one may go then", func() (bool, error) {
		err := revisions.Delete(s.ctx, first, metav1.DeleteOptions{})
		return err == nil || apierrors.IsNotFound(err), nil
	})
}

// A namespace goes with all that is in it, although Routes have finalizers and routed Revisions are guarded.
func TestNamespaceGoes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	svc := hello("app")
	svc.Spec.Traffic = []servingv1.TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100), Tag: "tag"}}
	s.deploy(svc)
	namespaces := s.Kube.CoreV1().Namespaces()
	ns, err := namespaces.Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inner := *s
	inner.ns = ns.Name
	inner.deploy(svc)
	if err := namespaces.Delete(s.ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the namespace is gone", func() (bool, error) {
		_, err := namespaces.Get(s.ctx, ns.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	s.getOK(s.ready("app").Status.URL.String()) // the one of the same name next door stays
}
