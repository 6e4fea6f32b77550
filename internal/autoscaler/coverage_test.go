// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestCoverage(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	c := coverage{gateways: map[string]*gateway{}}
	check := func(reason string, now, since, until, losses int) {
		t.Helper()
		if got, want := c.at(at(now)), (span{at(since), at(until), losses}); got != want {
			t.Errorf("%s: got %v, want %v", reason, got, want)
		}
	}
	check("nothing known", 0, 0, 0, 0)
	c.see("a")
	check("a gateway that has said nothing", 0, 0, 0, 0)
	c.report("a", at(1))
	check("its first period; what was before is not known", 1, 0, 1, 1)
	c.report("b", at(2))
	check("complete until the slower one's last report", 2, 0, 1, 1)
	c.report("a", at(3))
	check("both moved on", 3, 0, 2, 1)
	check("one is silent too long", 6, 0, 3, 2)
	check("a loss counts once", 6, 0, 3, 2)
	check("all are silent: nothing is known", 9, 9, 9, 3)
	c.report("a", at(20))
	check("starts anew after the gap", 20, 19, 20, 4)
	c.drop("a")
	check("gone", 21, 21, 21, 5)
	if c.current("a", at(20)) {
		t.Error("figures of a gateway that is gone are not current")
	}
	c.report("a", at(22))
	if !c.current("a", at(22)) || c.current("a", at(21)) {
		t.Error("only the newest figures are current")
	}
}

func TestMarkings(t *testing.T) {
	marked := map[string]string{corev1.PodDeletionCost: victimCost}
	pod := func(name string, annotations map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: annotations}}
	}
	pods := []*corev1.Pod{pod("a", marked), pod("b", nil), pod("c", marked), pod("d", nil)}
	cases := map[string]struct {
		reason string
		count  int
		inHand map[string]uint32
		want   map[string]any
	}{
		"all idle":      {"any may go", 2, nil, nil},
		"equally busy":  {"any may go", 2, map[string]uint32{"a": 1, "b": 1, "c": 1, "d": 1}, nil},
		"all go":        {"no choice", 4, map[string]uint32{"a": 1}, nil},
		"the idle ones": {"b and d are idle; a's old mark goes, c is third", 2, map[string]uint32{"a": 3, "c": 1}, map[string]any{"a": nil, "b": victimCost, "c": nil, "d": victimCost}},
		"already marked": {
			"nothing to write for c", 1, map[string]uint32{"a": 3, "b": 1, "d": 1}, map[string]any{"a": nil},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := markings(pods, c.count, c.inHand)
			if len(got) != len(c.want) {
				t.Errorf("%s: %d markings, want %d", c.reason, len(got), len(c.want))
			}
			for _, m := range got {
				if cost, ok := c.want[m.pod.Name]; !ok || cost != m.cost {
					t.Errorf("%s: %s gets %v, want %v", c.reason, m.pod.Name, m.cost, cost)
				}
			}
		})
	}
}
