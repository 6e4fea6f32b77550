// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStatusPatch(t *testing.T) {
	base := corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: "example.com/other", Status: corev1.ConditionTrue}}}
	cases := map[string]struct {
		reason string
		change func(st *corev1.PodStatus)
		want   map[string]any
	}{
		"nothing": {"no change, no write", func(*corev1.PodStatus) {}, nil},
		"foreign": {"what others wrote is theirs", func(st *corev1.PodStatus) { st.Conditions = st.Conditions[:1] }, nil},
		"address": {"only what changed, only for this pod", func(st *corev1.PodStatus) { st.PodIP = "10.0.0.5" },
			map[string]any{"metadata": map[string]any{"uid": "uid"}, "status": map[string]any{"podIP": "10.0.0.5"}}},
	}
	for name, c := range cases {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "uid"}, Status: *base.DeepCopy()}
		c.change(&pod.Status)
		patch, err := statusPatch(pod, base)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if patch != nil {
			if err := json.Unmarshal(patch, &got); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}
