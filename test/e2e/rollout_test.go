// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
)

// TestGradualRollout moves requests to a new Revision in steps: its share only grows, the Service says that it is not done, and
// no request is lost on the way.
func TestGradualRollout(t *testing.T) {
	w := newWorld(t)
	gradually := func(s *servingv1.Service) {
		s.Annotations = map[string]string{"serving.knative.dev/rollout-duration": "5s"}
	}
	svc := w.deploy(probeService("app", env("VERSION", "one"), gradually))
	first := svc.Status.LatestReadyRevisionName
	stop := w.load(svc.Status.URL.String(), 4)
	change := func() (bool, error) {
		svc, err := w.Serving.ServingV1().Services(w.ns).Get(w.ctx, "app", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		svc.Spec.Template.Spec.Containers[0].Env[0].Value = "two"
		_, err = w.Serving.ServingV1().Services(w.ns).Update(w.ctx, svc, metav1.UpdateOptions{})
		return err == nil, err
	}
	w.eventually("the template changes", change)

	var shares []int64
	w.eventually("all requests go to the new Revision", func() (bool, error) {
		svc, err := w.Serving.ServingV1().Services(w.ns).Get(w.ctx, "app", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		share := shareOf(svc, first)
		if len(shares) == 0 || shares[len(shares)-1] != share {
			shares = append(shares, share)
		}
		if ready := svc.Status.GetCondition(servingv1.ServiceConditionReady); share > 0 && share < 100 && ready.IsTrue() {
			t.Errorf("Ready is True with %d %% moved", share)
		}
		return svc.IsReady() && share == 100, nil
	})
	stop()
	for i := 1; i < len(shares); i++ {
		if shares[i] < shares[i-1] {
			t.Errorf("the new Revision's share went back: %v", shares)
		}
	}
	if len(shares) < 4 {
		t.Errorf("the new Revision's shares were %v, want several steps", shares)
	}
}

// shareOf is the share of all Revisions but one.
func shareOf(svc *servingv1.Service, but string) int64 {
	var share int64
	for _, t := range svc.Status.Traffic {
		if t.RevisionName != but && t.Percent != nil {
			share += *t.Percent
		}
	}
	return share
}
