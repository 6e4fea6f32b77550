// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func limits(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}

type hidden struct{ x int }

func TestEqual(t *testing.T) {
	if equal, err := SafeEqual(limits("500m"), limits("0.5")); !equal || err != nil {
		t.Errorf("quantities are equal by value, got %v, %v", equal, err)
	}
	if diff, err := SafeDiff(limits("1"), limits("2")); diff == "" || err != nil {
		t.Errorf("want a difference, got %v", err)
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	a, b := hidden{1}, hidden{2}
	if _, err := SafeEqual(a, b); err == nil {
		t.Error("SafeEqual")
	}
	if _, err := SafeDiff(a, b); err == nil {
		t.Error("SafeDiff")
	}
	if _, err := ShortDiff(a, b); err == nil {
		t.Error("ShortDiff")
	}
}

func TestShortDiff(t *testing.T) {
	old := corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c", Image: "x"}}}
	cur := corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c", Image: "y"}}}
	got, err := ShortDiff(old, cur)
	if want := "{v1.PodSpec}.Containers[0].Image:\n\t-: \"x\"\n\t+: \"y\"\n"; got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err := ShortDiff(old, old); got != "" || err != nil {
		t.Errorf("the same has no difference, got %q, %v", got, err)
	}
	if got, _ := ShortDiff(map[string]int{"a": 1}, map[string]int{}); !strings.Contains(got, "-:") || strings.Contains(got, "+:") {
		t.Errorf("what is gone has no new value, got %q", got)
	}
}

func TestCompareSetFields(t *testing.T) {
	x := corev1.Container{Name: "a", Image: "i", Stdin: true, Resources: corev1.ResourceRequirements{Limits: limits("1")}}
	y := corev1.Container{Name: "a", Image: "j", Resources: corev1.ResourceRequirements{Limits: limits("1000m")}}
	got, err := CompareSetFields(&x, &y)
	if diff := cmp.Diff([]string{"image", "stdin"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := CompareSetFields(x, 1); err == nil {
		t.Error("different types must be an error")
	}
	if _, err := CompareSetFields(1, 1); err == nil {
		t.Error("what is no struct must be an error")
	}
}
