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

// A Revision may be deleted, unless requests are routed to it: they would fail until it is made again. (users.md 18)
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
	s.eventually("the next Revision is routed to alone", func() (bool, error) {
		svc, err := s.Serving.ServingV1().Services(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		return err == nil && svc.IsReady() && svc.Status.LatestReadyRevisionName != first, err
	})
	s.eventually("the first one may go then", func() (bool, error) {
		err := revisions.Delete(s.ctx, first, metav1.DeleteOptions{})
		return err == nil || apierrors.IsNotFound(err), nil
	})
}
