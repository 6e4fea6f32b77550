// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status is the simplest thing with conditions.
type status struct{ c Conditions }

func (s *status) GetConditions() Conditions  { return s.c }
func (s *status) SetConditions(c Conditions) { s.c = c }

const (
	foo   ConditionType = "Foo"
	bar   ConditionType = "Bar"
	extra ConditionType = "Extra"
)

func condition(t ConditionType, s corev1.ConditionStatus, reason, message string) Condition {
	return Condition{Type: t, Status: s, Reason: reason, Message: message}
}

func TestConditionAggregation(t *testing.T) {
	set := NewLivingConditionSet(foo, bar)
	unknown := func(t ConditionType) Condition { return condition(t, corev1.ConditionUnknown, "", "") }
	isTrue := func(t ConditionType) Condition { return condition(t, corev1.ConditionTrue, "", "") }
	info := func(c Condition) Condition { c.Severity = ConditionSeverityInfo; return c }

	tests := map[string]struct {
		reason string
		start  Conditions
		do     func(ConditionManager)
		want   Conditions
	}{
		"initialize": {
			reason: "everything that the set names is there, in the order of types",
			do:     func(m ConditionManager) { m.InitializeConditions() },
			want:   Conditions{unknown(bar), unknown(foo), unknown(ConditionReady)},
		},
		"initialize when ready": {
			reason: "a dependent that a newer version adds does not take Ready away",
			start:  Conditions{isTrue(foo), isTrue(ConditionReady)},
			do:     func(m ConditionManager) { m.InitializeConditions() },
			want:   Conditions{isTrue(bar), isTrue(foo), isTrue(ConditionReady)},
		},
		"false dependent": {
			reason: "a failure is the summary's failure, with its cause",
			do: func(m ConditionManager) {
				m.InitializeConditions()
				m.MarkFalse(foo, "Broken", "it is %s", "broken")
			},
			want: Conditions{
				unknown(bar), condition(foo, corev1.ConditionFalse, "Broken", "it is broken"),
				condition(ConditionReady, corev1.ConditionFalse, "Broken", "it is broken"),
			},
		},
		"unknown beside false": {
			reason: "a failure outweighs what is not known",
			do: func(m ConditionManager) {
				m.MarkFalse(foo, "Broken", "b")
				m.MarkUnknown(bar, "Waiting", "w")
			},
			want: Conditions{
				condition(bar, corev1.ConditionUnknown, "Waiting", "w"),
				condition(foo, corev1.ConditionFalse, "Broken", "b"),
				condition(ConditionReady, corev1.ConditionFalse, "Broken", "b"),
			},
		},
		"unknown after its own false": {
			reason: "a dependent that is tried again takes the failure back",
			do: func(m ConditionManager) {
				m.MarkFalse(foo, "Broken", "b")
				m.MarkUnknown(foo, "Again", "a")
			},
			want: Conditions{
				condition(foo, corev1.ConditionUnknown, "Again", "a"),
				condition(ConditionReady, corev1.ConditionUnknown, "Again", "a"),
			},
		},
		"all true": {
			reason: "the summary is True when all dependents are",
			do: func(m ConditionManager) {
				m.InitializeConditions()
				m.MarkTrue(foo)
				m.MarkTrue(bar)
			},
			want: Conditions{isTrue(bar), isTrue(foo), isTrue(ConditionReady)},
		},
		"true beside unknown": {
			reason: "one is not enough, and the summary says what is missing",
			do: func(m ConditionManager) {
				m.InitializeConditions()
				m.MarkUnknown(bar, "Waiting", "w")
				m.MarkTrue(foo)
			},
			want: Conditions{
				condition(bar, corev1.ConditionUnknown, "Waiting", "w"), isTrue(foo),
				condition(ConditionReady, corev1.ConditionUnknown, "Waiting", "w"),
			},
		},
		"true with a dependent missing": {
			reason: "what was never said is not known",
			do:     func(m ConditionManager) { m.MarkTrue(foo) },
			want:   Conditions{isTrue(foo), unknown(ConditionReady)},
		},
		"the newest failure wins": {
			reason: "after one failure is over, the summary names the latest of the others",
			do: func(m ConditionManager) {
				m.MarkFalse(bar, "Second", "2")
				time.Sleep(time.Second)
				m.MarkFalse(foo, "First", "1")
				time.Sleep(time.Second)
				m.MarkTrue(foo)
			},
			want: Conditions{
				condition(bar, corev1.ConditionFalse, "Second", "2"), isTrue(foo),
				condition(ConditionReady, corev1.ConditionFalse, "Second", "2"),
			},
		},
		"true with reason": {
			reason: "an explanation may go with True, yet not into the summary",
			do: func(m ConditionManager) {
				m.MarkTrue(bar)
				m.MarkTrueWithReason(foo, "NotNeeded", "none")
			},
			want: Conditions{
				isTrue(bar), condition(foo, corev1.ConditionTrue, "NotNeeded", "none"), isTrue(ConditionReady),
			},
		},
		"informational": {
			reason: "a condition outside the set never lowers the summary",
			start:  Conditions{isTrue(bar), isTrue(foo), isTrue(ConditionReady)},
			do: func(m ConditionManager) {
				m.MarkFalse(extra, "Idle", "zero")
				m.MarkUnknown(extra, "Waking", "soon")
			},
			want: Conditions{
				isTrue(bar), info(condition(extra, corev1.ConditionUnknown, "Waking", "soon")),
				isTrue(foo), isTrue(ConditionReady),
			},
		},
		"informational beside true": {
			reason: "recomputing the summary does not count it either",
			do: func(m ConditionManager) {
				m.MarkFalse(extra, "Idle", "zero")
				m.MarkTrue(foo)
				m.MarkTrue(bar)
			},
			want: Conditions{
				isTrue(bar), info(condition(extra, corev1.ConditionFalse, "Idle", "zero")),
				isTrue(foo), isTrue(ConditionReady),
			},
		},
		"percent in a message": {
			reason: "formats apply to arguments only once",
			do:     func(m ConditionManager) { m.MarkFalse(foo, "R", "%s", "100%d") },
			want: Conditions{
				condition(foo, corev1.ConditionFalse, "R", "100%d"), condition(ConditionReady, corev1.ConditionFalse, "R", "100%d"),
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &status{c: tc.start}
				tc.do(set.Manage(s))
				if diff := cmp.Diff(tc.want, s.c, cmpopts.IgnoreTypes(VolatileTime{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func TestConditionWithoutDependents(t *testing.T) {
	s := &status{}
	m := NewLivingConditionSet().Manage(s)
	m.InitializeConditions()
	if m.IsHappy() {
		t.Error("want not happy before anything is known")
	}
	m.MarkTrue(ConditionReady)
	if !m.IsHappy() {
		t.Error("want happy once Ready is marked True")
	}
	m.MarkFalse(ConditionReady, "Failed", "f")
	if c := m.GetTopLevelCondition(); !c.IsFalse() || c.GetReason() != "Failed" || c.GetMessage() != "f" {
		t.Errorf("want Ready False with its reason, got %+v", c)
	}
}

func TestConditionTransitionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &status{}
		m := NewLivingConditionSet(foo).Manage(s)
		m.MarkFalse(foo, "A", "a")
		first := m.GetCondition(foo).LastTransitionTime
		time.Sleep(time.Minute)

		m.MarkFalse(foo, "A", "a")
		if got := m.GetCondition(foo).LastTransitionTime; got != first {
			t.Error("the same again must keep the time")
		}
		m.MarkFalse(foo, "A", "b")
		if got := m.GetCondition(foo).LastTransitionTime; !got.Inner.After(first.Inner.Time) {
			t.Error("another message must move the time")
		}
	})
}

func TestClearCondition(t *testing.T) {
	s := &status{}
	m := NewLivingConditionSet(foo).Manage(s)
	m.MarkTrue(foo)
	m.MarkFalse(extra, "X", "x")
	if err := m.ClearCondition(foo); err == nil {
		t.Error("a dependent must not be removable")
	}
	if err := m.ClearCondition(ConditionReady); err == nil {
		t.Error("the summary must not be removable")
	}
	if err := m.ClearCondition(extra); err != nil || m.GetCondition(extra) != nil {
		t.Errorf("want the other condition removed, got %v", err)
	}
	if err := m.ClearCondition(extra); err != nil {
		t.Errorf("removing what is not there is fine, got %v", err)
	}
}

func TestTimesAreSemanticallyEqual(t *testing.T) {
	a := Conditions{{Type: foo, LastTransitionTime: VolatileTime{Inner: metav1.NewTime(time.Unix(1, 0))}}}
	b := Conditions{{Type: foo, LastTransitionTime: VolatileTime{Inner: metav1.NewTime(time.Unix(2, 0))}}}
	if !equality.Semantic.DeepEqual(a, b) {
		t.Error("conditions that differ in times must be equal, else each reconcile writes")
	}
}
