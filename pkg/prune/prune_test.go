// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package prune

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestManagedFields(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}}
	got, err := ManagedFields(pod)
	if err != nil || got.(*corev1.Pod).ManagedFields != nil || got.(*corev1.Pod).Name != "pod" {
		t.Errorf("ManagedFields() = %v, %v", got, err)
	}
	gone := cache.DeletedFinalStateUnknown{Key: "k"}
	if got, err := ManagedFields(gone); err != nil || got != any(gone) {
		t.Errorf("ManagedFields(tombstone) = %v, %v", got, err)
	}
}

func TestChain(t *testing.T) {
	add := func(obj any) (any, error) { return obj.(int) + 1, nil }
	if got, err := Chain(add, add)(1); got != 3 || err != nil {
		t.Errorf("Chain() = %v, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := Chain(func(any) (any, error) { return nil, broken }, add)(1); !errors.Is(err, broken) {
		t.Errorf("Chain() = %v, want the error", err)
	}
}
