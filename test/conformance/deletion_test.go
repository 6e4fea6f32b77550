// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
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
