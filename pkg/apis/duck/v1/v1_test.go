// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck"
)

// full has all shapes; bare has none.
type full struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Status        `json:",inline"`
		AddressStatus `json:",inline"`
	} `json:"status"`
}

type bare struct {
	metav1.ObjectMeta `json:"metadata"`
}

func TestShapes(t *testing.T) {
	tests := map[string]struct {
		shape duck.Implementable
		has   any // a type with the shape
	}{
		"conditions":  {&Conditions{}, &full{}},
		"addressable": {&Addressable{}, &full{}},
		"source":      {&Source{}, &Source{}},
		"binding":     {&Binding{}, &Binding{}},
		"podspecable": {&PodSpecable{}, &appsv1.Deployment{}},
		"pod":         {&Pod{}, &corev1.Pod{}},
		"cronjob":     {&CronJob{}, &batchv1.CronJob{}},
	}
	for name, tc := range tests {
		if err := duck.VerifyType(tc.has, tc.shape); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _ := duck.ConformsToType(&bare{}, tc.shape); ok {
			t.Errorf("%s: a type without it must not conform", name)
		}
	}
}

func TestSource(t *testing.T) {
	s := &Source{}
	s.Populate()
	if s.Status.IsReady() {
		t.Error("a source is not ready before it says so")
	}
	s.GetConditionSet().Manage(&s.Status).MarkTrue(SourceConditionSinkProvided)
	if !s.Status.IsReady() {
		t.Errorf("a source with a sink is ready: %+v", s.Status.Conditions)
	}
	if err := s.Spec.Validate(t.Context()); err != nil {
		t.Errorf("a full source is valid: %v", err)
	}
	s.Spec.CloudEventOverrides.Extensions["Not-Allowed"] = ""
	s.Spec.Sink = Destination{}
	got := s.Spec.Validate(t.Context()).Error()
	for _, path := range []string{"ceOverrides.extensions", `"Not-Allowed"`, "sink.ref"} {
		if !strings.Contains(got, path) {
			t.Errorf("the message does not name %s: %s", path, got)
		}
	}
}

func TestStatus(t *testing.T) {
	s := &Status{ObservedGeneration: 3, Annotations: map[string]string{"a": "b"}}
	apis.NewLivingConditionSet("Foo").Manage(s).MarkTrue("Foo")
	if !s.GetCondition(apis.ConditionReady).IsTrue() || s.GetCondition("Bar") != nil {
		t.Errorf("got %+v", s.Conditions)
	}
	sink := &Status{}
	s.ConvertTo(context.Background(), sink)
	if sink.ObservedGeneration != 3 || len(sink.Conditions) != 1 || sink.Annotations["a"] != "b" {
		t.Errorf("only the summary crosses by default, got %+v", sink)
	}
	s.ConvertTo(context.Background(), sink, func(t apis.ConditionType) bool { return t == "Foo" })
	if len(sink.Conditions) != 1 || sink.Conditions[0].Type != "Foo" {
		t.Errorf("else what is asked for, got %+v", sink.Conditions)
	}
}

func TestReferences(t *testing.T) {
	ctx := apis.WithinParent(context.Background(), metav1.ObjectMeta{Namespace: "ns"})
	ref := KReference{Kind: "Service", Name: "s", APIVersion: "v1"}
	ref.SetDefaults(ctx)
	if ref.Namespace != "ns" || ref.Validate(ctx) != nil {
		t.Errorf("got %+v", ref)
	}
	ref.Namespace = "other"
	if got := ref.Validate(ctx); !strings.HasPrefix(got.Error(), "mismatched namespaces: namespace\n") {
		t.Errorf("got %q", got.Error())
	}
	if got := ref.Validate(apis.AllowDifferentNamespace(ctx)); got != nil {
		t.Errorf("got %q", got.Error())
	}
	if got := (&KReference{}).Validate(ctx).Error(); got != "missing field(s): apiVersion, kind, name" {
		t.Errorf("got %q", got)
	}
}

func TestDestination(t *testing.T) {
	ref := &KReference{Kind: "Service", Name: "s", APIVersion: "v1"}
	tests := map[string]struct {
		reason string
		d      *Destination
		ok     bool
	}{
		"ref":               {"its address", &Destination{Ref: ref}, true},
		"uri":               {"itself", &Destination{URI: apis.HTTP("a")}, true},
		"ref and path":      {"relative to its address", &Destination{Ref: ref, URI: &apis.URL{Path: "/x"}}, true},
		"nothing":           {"nowhere", &Destination{}, false},
		"nil":               {"nowhere", nil, false},
		"path alone":        {"relative to nothing", &Destination{URI: &apis.URL{Path: "/x"}}, false},
		"ref and absolute":  {"two places", &Destination{Ref: ref, URI: apis.HTTP("a")}, false},
		"ref without names": {"incomplete", &Destination{Ref: &KReference{}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.d.Validate(context.Background()); (got == nil) != tc.ok {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
