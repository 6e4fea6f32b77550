// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
)

// "Ownership … MUST be recorded using an OwnerReference … with controller set to True and uid set to the UID of the owning
// resource."
func TestOwnership(t *testing.T) {
	s := newSpace(t)
	svc := s.deploy(hello("app"))
	owned := map[string]struct {
		object metav1.Object
		owner  metav1.Object
	}{
		"configuration": {s.configuration("app"), svc},
		"route":         {s.route("app"), svc},
		"revision":      {s.revision(svc.Status.LatestReadyRevisionName), s.configuration("app")},
	}
	for name, o := range owned {
		ref := metav1.GetControllerOf(o.object)
		if ref == nil || ref.UID != o.owner.GetUID() {
			t.Errorf("%s is controlled by %v, want %s", name, ref, o.owner.GetUID())
		}
	}
}

// "If the owning resource determines an ownership conflict … SHOULD NOT modify the resource, and SHOULD signal the conflict with
// an error Condition."
func TestOwnershipConflict(t *testing.T) {
	s := newSpace(t)
	foreign := &servingv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
	foreign.Spec.Template = hello("").Spec.Template
	if _, err := s.Serving.ServingV1().Configurations(s.ns).Create(s.ctx, foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, hello("app"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.AwaitService(s.ctx, s.ns, "app", "NotOwned", func(svc *servingv1.Service) bool {
		c := svc.Status.GetCondition("Ready")
		return c != nil && c.Status == corev1.ConditionFalse && c.Reason == "NotOwned"
	})
	if err != nil {
		t.Error(err)
	}
	if ref := metav1.GetControllerOf(s.configuration("app")); ref != nil {
		t.Errorf("somebody else's Configuration was taken: %v", ref)
	}
}

// "Deleting an owning resource MUST trigger deletion of all owned resources."
func TestCascadingDeletion(t *testing.T) {
	s := newSpace(t)
	revision := s.deploy(hello("app")).Status.LatestReadyRevisionName
	serving := s.Serving.ServingV1()
	if err := serving.Services(s.ns).Delete(s.ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("owned resources are gone", func() (bool, error) {
		_, config := serving.Configurations(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		_, route := serving.Routes(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		_, rev := serving.Revisions(s.ns).Get(s.ctx, revision, metav1.GetOptions{})
		return apierrors.IsNotFound(config) && apierrors.IsNotFound(route) && apierrors.IsNotFound(rev), nil
	})
}

// "metadata changes MUST be copied to both Configuration and Route … the serving.knative.dev/service label … MUST be set …
// Additional labels and annotations … MUST be removed."
func TestServiceMetadata(t *testing.T) {
	s := newSpace(t)
	svc := hello("app")
	svc.Labels = map[string]string{"team": "one"}
	svc.Annotations = map[string]string{"example.com/note": "one"}
	s.deploy(svc)
	s.checkCopied("team", "one")

	s.update("app", func(svc *servingv1.Service) {
		svc.Labels = map[string]string{"team": "two"}
		svc.Annotations["example.com/note"] = "two"
	})
	s.eventually("changes are copied", func() (bool, error) { return s.configuration("app").Labels["team"] == "two", nil })
	s.eventually("to the Route too", func() (bool, error) { return s.route("app").Labels["team"] == "two", nil })
	s.checkCopied("team", "two")

	patch := []byte(`{"metadata":{"labels":{"extra":"x"},"annotations":{"example.com/extra":"x"}}}`)
	_, err := s.Serving.ServingV1().Routes(s.ns).Patch(s.ctx, "app", "application/merge-patch+json", patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.eventually("additional metadata is removed", func() (bool, error) {
		r := s.route("app")
		return r.Labels["extra"] == "" && r.Annotations["example.com/extra"] == "", nil
	})
}

func (s *space) checkCopied(label, value string) {
	s.t.Helper()
	for name, o := range map[string]metav1.Object{"configuration": s.configuration("app"), "route": s.route("app")} {
		if got := o.GetLabels()[label]; got != value {
			s.t.Errorf("%s label %s=%q, want %q", name, label, got, value)
		}
		if got := o.GetAnnotations()["example.com/note"]; got != value {
			s.t.Errorf("%s annotation %q, want %q", name, got, value)
		}
		if got := o.GetLabels()["serving.knative.dev/service"]; got != "app" {
			s.t.Errorf("%s label serving.knative.dev/service=%q", name, got)
		}
	}
}

// "If the spec.template field has changed … a new owned Revision MUST be created … values of spec.template.metadata and
// spec.template.spec MUST be copied … metadata … from the Configuration MUST NOT be copied." "MUST … configuration label …
// configurationGeneration label."
func TestConfigurationCreatesRevisions(t *testing.T) {
	s := newSpace(t)
	svc := hello("app")
	svc.Labels = map[string]string{"on": "service"}
	svc.Spec.Template.Labels = map[string]string{"on": "template"}
	first := s.deploy(svc).Status.LatestReadyRevisionName

	rev := s.revision(first)
	want := map[string]string{
		"on":                                "template",
		"serving.knative.dev/configuration": "app",
		"serving.knative.dev/configurationGeneration": fmt.Sprint(s.configuration("app").Generation),
	}
	for k, v := range want {
		if rev.Labels[k] != v {
			t.Errorf("Revision label %s=%q, want %q", k, rev.Labels[k], v)
		}
	}

	s.update("app", func(svc *servingv1.Service) { svc.Labels["on"] = "changed" })
	s.eventually("the label is on the Configuration", func() (bool, error) {
		return s.configuration("app").Labels["on"] == "changed", nil
	})
	if got := s.ready("app").Status.LatestCreatedRevisionName; got != first {
		t.Errorf("a change of metadata made Revision %q", got)
	}
	if got := s.revision(first).Labels["on"]; got != "template" {
		t.Errorf("a change of metadata reached the Revision: %q", got)
	}

	s.update("app", func(svc *servingv1.Service) {
		svc.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TARGET", Value: "two"}}
	})
	second := s.ready("app").Status
	if second.LatestCreatedRevisionName == first || second.LatestReadyRevisionName != second.LatestCreatedRevisionName {
		t.Errorf("after a change of the template: created %q, ready %q; before %q",
			second.LatestCreatedRevisionName, second.LatestReadyRevisionName, first)
	}
}

// "Developers MUST NOT be able to … update Revision spec directly."
func TestRevisionSpecIsImmutable(t *testing.T) {
	s := newSpace(t)
	name := s.deploy(hello("app")).Status.LatestReadyRevisionName
	patch := []byte(`{"spec":{"timeoutSeconds":7}}`)
	_, err := s.Serving.ServingV1().Revisions(s.ns).Patch(s.ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{})
	if err == nil {
		t.Error("a Revision's spec was changed")
	}
}

// "Each user-visible resource … MUST have a conditions field in status"; Service: "Ready, ConfigurationsReady, RoutesReady".
func TestConditions(t *testing.T) {
	s := newSpace(t)
	svc := s.deploy(hello("app"))
	for _, c := range []string{"Ready", "ConfigurationsReady", "RoutesReady"} {
		if got := svc.Status.GetCondition(apis.ConditionType(c)); got == nil || got.Status != corev1.ConditionTrue || got.Severity != "" {
			t.Errorf("Service condition %s: %+v", c, got)
		}
	}
	if !s.configuration("app").IsReady() || !s.route("app").IsReady() || !s.revision(svc.Status.LatestReadyRevisionName).IsReady() {
		t.Error("the Service is Ready, but not all it is made of")
	}
	if svc.Status.ObservedGeneration != svc.Generation {
		t.Errorf("observedGeneration %d, generation %d", svc.Status.ObservedGeneration, svc.Generation)
	}
}
