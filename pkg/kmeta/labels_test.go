// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmeta

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

func ownerAt(uid, version string, generation int64) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version, Generation: generation}}
}

// TestLabels: an owner at version 10 and generation 2 finds what was made for
// that, and what for other states of it.
func TestLabels(t *testing.T) {
	now := ownerAt("u", "10", 2)
	type selected struct{ Version, OldVersion, Generation, OldGeneration bool }
	tests := map[string]struct {
		reason string
		labels labels.Set
		want   selected
	}{
		"Version":       {"made for this version", MakeVersionLabels(now), selected{Version: true}},
		"OldVersion":    {"made for another version", MakeVersionLabels(ownerAt("u", "9", 2)), selected{OldVersion: true}},
		"Generation":    {"made for this generation", MakeGenerationLabels(ownerAt("u", "11", 2)), selected{Generation: true}},
		"OldGeneration": {"made for another generation", MakeGenerationLabels(ownerAt("u", "10", 1)), selected{OldGeneration: true}},
		"Stranger":      {"made for another owner of the same state", MakeGenerationLabels(ownerAt("other", "10", 2)), selected{}},
		"StrangersOld":  {"made for an earlier state of another", MakeVersionLabels(ownerAt("other", "9", 2)), selected{}},
		"Nothing":       {"made for nobody", labels.Set{}, selected{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := selected{
				Version:       MakeVersionLabelSelector(now).Matches(tc.labels),
				OldVersion:    MakeOldVersionLabelSelector(now).Matches(tc.labels),
				Generation:    MakeGenerationLabelSelector(now).Matches(tc.labels),
				OldGeneration: MakeOldGenerationLabelSelector(now).Matches(tc.labels),
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: selected by (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
