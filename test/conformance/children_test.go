// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// "Routes [and Configurations] which are owned (controlled) by a Service SHOULD NOT be updated by developers; any changes will be
// reset by the Service controller."
func TestChangesOfChildrenAreReset(t *testing.T) {
	s := newSpace(t)
	first := s.deploy(hello("app")).Status.LatestReadyRevisionName
	patch := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("patch %s: %v", what, err)
		}
	}
	serving := s.Serving.ServingV1()
	_, err := serving.Routes(s.ns).Patch(s.ctx, "app", types.MergePatchType,
		[]byte(`{"spec":{"traffic":[{"revisionName":"`+first+`","percent":100,"latestRevision":false}]}}`), metav1.PatchOptions{})
	patch("the Route", err)
	_, err = serving.Configurations(s.ns).Patch(s.ctx, "app", types.MergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"timeoutSeconds":7}}}}`), metav1.PatchOptions{})
	patch("the Configuration", err)
	s.eventually("the Route's traffic is as the Service says", func() (bool, error) {
		traffic := s.route("app").Spec.Traffic
		return len(traffic) == 1 && traffic[0].RevisionName == "" && traffic[0].LatestRevision != nil && *traffic[0].LatestRevision, nil
	})
	s.eventually("the Configuration's template is as the Service says", func() (bool, error) {
		timeout := s.configuration("app").Spec.Template.Spec.TimeoutSeconds
		return timeout == nil || *timeout != 7, nil
	})
	s.ready("app")
}

// "If the Revision name is not provided … it MUST be system generated." A name that is provided is used; "If the Revision cannot be
// created, the Configuration MUST signal that the Configuration is not Ready."
func TestRevisionNames(t *testing.T) {
	s := newSpace(t)
	svc := hello("app")
	svc.Spec.Template.Name = "app-mine"
	if got := s.deploy(svc).Status.LatestReadyRevisionName; got != "app-mine" {
		t.Errorf("the Revision is called %q, want the name that was given", got)
	}
	s.update("app", func(svc *servingv1.Service) { svc.Spec.Template.Name = "" })
	if got := s.ready("app").Status.LatestReadyRevisionName; got == "app-mine" || !strings.HasPrefix(got, "app-") {
		t.Errorf("the next Revision is called %q, want a generated name", got)
	}

	// A Configuration of one's own, which wants a name that another's Revision has.
	own := &servingv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "own"}}
	own.Spec.Template = hello("own").Spec.Template
	own.Spec.Template.Name = "own-one"
	if _, err := s.Serving.ServingV1().Configurations(s.ns).Create(s.ctx, own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the Configuration of one's own is ready", func() (bool, error) { return s.configuration("own").IsReady(), nil })
	taken := &servingv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "own-one"}}
	taken.Spec.Template = hello("own-one").Spec.Template
	taken.Spec.Template.Name = "own-one-x"
	if _, err := s.Serving.ServingV1().Configurations(s.ns).Create(s.ctx, taken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("so is another", func() (bool, error) { return s.configuration("own-one").IsReady(), nil })
	s.eventually("a name that is taken is a failure", func() (bool, error) {
		c := s.configuration("own")
		c.Spec.Template.Name = "own-one-x"
		_, err := s.Serving.ServingV1().Configurations(s.ns).Update(s.ctx, c, metav1.UpdateOptions{})
		return err == nil, err
	})
	s.eventually("the Configuration says so", func() (bool, error) {
		ready := s.configuration("own").Status.GetCondition(servingv1.ConfigurationConditionReady)
		return ready != nil && ready.Status == corev1.ConditionFalse && strings.Contains(ready.Message, "own-one-x"), nil
	})
}

// "Configuration MUST track the status of owned Revisions in order of creation, and report the name of the most recently created
// Revision in status.latestCreatedRevisionName and the name of the most recently created Revision where the Ready Condition is True in
// status.latestReadyRevisionName." "If the condition is False, Ready MUST be False."
func TestLatestRevisions(t *testing.T) {
	s := newSpace(t)
	first := s.deploy(hello("app")).Status.LatestReadyRevisionName
	s.update("app", func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.Containers[0].Image = "weir.local/not-there"
	})
	var broken string
	s.eventually("the new Revision has failed", func() (bool, error) {
		c := s.configuration("app")
		broken = c.Status.LatestCreatedRevisionName
		return broken != first && c.IsFailed(), nil
	})
	if got := s.configuration("app").Status.LatestReadyRevisionName; got != first {
		t.Errorf("latestReady is %q, want %q: the new one is not", got, first)
	}
	s.eventually("Ready is False where one of its conditions is", func() (bool, error) {
		svc, err := s.Serving.ServingV1().Services(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		configurations := svc.Status.GetCondition(servingv1.ServiceConditionConfigurationsReady)
		return configurations.IsFalse() && svc.Status.GetCondition(servingv1.ServiceConditionReady).IsFalse(), nil
	})
	s.update("app", func(svc *servingv1.Service) { svc.Spec.Template.Spec.Containers[0].Image = image })
	s.eventually("a third one is ready", func() (bool, error) {
		c := s.configuration("app").Status
		return c.LatestReadyRevisionName == c.LatestCreatedRevisionName && c.LatestReadyRevisionName != first && c.LatestReadyRevisionName != broken, nil
	})
}

// "DNS Hostnames allocated to Routes MUST be unique."
func TestHostsAreUnique(t *testing.T) {
	s := newSpace(t)
	tagged := hello("app")
	tagged.Spec.Traffic = []servingv1.TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100), Tag: "one"}}
	s.deploy(tagged)
	// The tag's host is one-app; so would this Service's be.
	if _, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, hello("one-app"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the younger one is told who has the host", func() (bool, error) {
		svc, err := s.Serving.ServingV1().Services(s.ns).Get(s.ctx, "one-app", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready := svc.Status.GetCondition(servingv1.ServiceConditionReady)
		return ready.IsFalse() && ready.Reason == "HostConflict" && strings.Contains(ready.Message, "app"), nil
	})
	s.ready("app")
}
