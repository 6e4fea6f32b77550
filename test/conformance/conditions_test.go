// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	servingv1 "weir.dev/api/serving/v1"
)

// The table of fields under "Error Signalling", as clients without our types read it, of a good Service and of a broken one: at most
// one condition of a type, Ready of no severity, every False with its reason, times of RFC 3339, and URLs with their scheme.
func TestConditionsAsTheyAreWritten(t *testing.T) {
	s := newSpace(t)
	s.deploy(hello("app"))
	broken := hello("broken")
	broken.Spec.Template.Spec.Containers[0].Image = "weir.local/not-there"
	s.createService(broken)
	if _, err := s.AwaitService(s.ctx, s.ns, "broken", "failed", func(svc *servingv1.Service) bool { return svc.IsFailed() }); err != nil {
		t.Fatal(err)
	}
	for resource := range fourKinds {
		list, err := s.dynamicAs("").Resource(resourceOf("v1beta1", resource)).Namespace(s.ns).List(s.ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%d %s: %v", len(list.Items), resource, err)
		}
		for i := range list.Items {
			s.checkConditions(&list.Items[i])
		}
	}
}

func (s *space) checkConditions(o *unstructured.Unstructured) {
	s.t.Helper()
	what := o.GetKind() + " " + o.GetName()
	if observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); observed != o.GetGeneration() {
		s.t.Errorf("%s: observedGeneration %d, generation %d", what, observed, o.GetGeneration())
	}
	for _, path := range [][]string{{"status", "url"}, {"status", "address", "url"}} {
		if text, found, _ := unstructured.NestedString(o.Object, path...); found {
			if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" {
				s.t.Errorf("%s: %v is %q", what, path, text)
			}
		}
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var types []string
	for _, c := range conditions {
		condition := map[string]string{}
		for key, value := range c.(map[string]any) {
			condition[key], _ = value.(string)
		}
		types = append(types, condition["type"])
		s.checkCondition(what, condition)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(types))); len(distinct) != len(types) || !slices.Contains(types, "Ready") {
		s.t.Errorf("%s has conditions %v", what, types)
	}
}

func (s *space) checkCondition(what string, condition map[string]string) {
	s.t.Helper()
	if !slices.Contains([]string{"True", "False", "Unknown"}, condition["status"]) ||
		!slices.Contains([]string{"", "Warning", "Info"}, condition["severity"]) ||
		condition["type"] == "Ready" && condition["severity"] != "" {
		s.t.Errorf("%s: %v", what, condition)
	}
	if condition["status"] == "False" && (condition["reason"] == "" || condition["message"] == "") {
		s.t.Errorf("%s is False without reason or message: %v", what, condition)
	}
	if _, err := time.Parse(time.RFC3339, condition["lastTransitionTime"]); err != nil {
		s.t.Errorf("%s: %v", what, err)
	}
}
