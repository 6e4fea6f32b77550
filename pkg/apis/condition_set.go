// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionSet says which condition sums up a resource and which conditions
// it depends on. It is a value without state; Manage applies it to a status.
type ConditionSet struct {
	happy      ConditionType
	dependents []ConditionType
	// reason and message are those of what nobody has said anything about yet.
	reason, message string
}

// NewLivingConditionSet returns a set summed up by Ready. The dependents must
// all be True for Ready to be.
func NewLivingConditionSet(d ...ConditionType) ConditionSet {
	return newConditionSet(ConditionReady, d)
}

// NewBatchConditionSet returns a set summed up by Succeeded.
func NewBatchConditionSet(d ...ConditionType) ConditionSet {
	return newConditionSet(ConditionSucceeded, d)
}

func newConditionSet(happy ConditionType, dependents []ConditionType) ConditionSet {
	set := ConditionSet{happy: happy}
	for _, d := range dependents {
		if d != happy && !slices.Contains(set.dependents, d) {
			set.dependents = append(set.dependents, d)
		}
	}
	return set
}

// ReasonUninitialized is the reason of what nobody has said anything about yet.
const ReasonUninitialized = "Uninitialized"

// Explained returns the set, for those who want no Unknown without a reason:
// what nobody has said anything about yet says that.
func (s ConditionSet) Explained() ConditionSet {
	s.reason, s.message = ReasonUninitialized, "Nothing is known yet."
	return s
}

// GetTopLevelConditionType returns the type of the summary.
func (s ConditionSet) GetTopLevelConditionType() ConditionType { return s.happy }

// Manage returns a manager for the conditions of the given status.
func (s ConditionSet) Manage(status ConditionsAccessor) ConditionManager {
	return &conditionManager{ConditionSet: s, status: status}
}

// ConditionManager reads and writes the conditions of one status and keeps the
// summary true to them.
type ConditionManager interface {
	ConditionAccessor

	// IsHappy says whether the summary is True.
	IsHappy() bool
	// GetTopLevelCondition returns the summary, or nil.
	GetTopLevelCondition() *Condition

	// SetCondition stores a condition as it is; the summary is not touched.
	SetCondition(c Condition)
	// ClearCondition removes a condition that the summary does not depend on.
	ClearCondition(t ConditionType) error

	// MarkTrue sets the condition and recomputes the summary.
	MarkTrue(t ConditionType)
	// MarkTrueWithReason is MarkTrue with an explanation.
	MarkTrueWithReason(t ConditionType, reason, messageFormat string, messageA ...interface{})
	// MarkUnknown sets the condition; the summary becomes Unknown unless
	// another dependent is False.
	MarkUnknown(t ConditionType, reason, messageFormat string, messageA ...interface{})
	// MarkFalse sets the condition and, for a dependent, the summary.
	MarkFalse(t ConditionType, reason, messageFormat string, messageA ...interface{})

	// InitializeConditions adds what is missing.
	InitializeConditions()
}

type conditionManager struct {
	ConditionSet
	status ConditionsAccessor
}

var _ ConditionManager = (*conditionManager)(nil)

// counts says whether a condition of this type counts for the summary.
func (m *conditionManager) counts(t ConditionType) bool {
	return t == m.happy || slices.Contains(m.dependents, t)
}

func (m *conditionManager) severity(t ConditionType) ConditionSeverity {
	if m.counts(t) {
		return ConditionSeverityError
	}
	return ConditionSeverityInfo
}

func (m *conditionManager) GetCondition(t ConditionType) *Condition {
	if m.status == nil {
		return nil
	}
	for _, c := range m.status.GetConditions() {
		if c.Type == t {
			return &c
		}
	}
	return nil
}

func (m *conditionManager) GetTopLevelCondition() *Condition { return m.GetCondition(m.happy) }

func (m *conditionManager) IsHappy() bool { return m.GetTopLevelCondition().IsTrue() }

// SetCondition keeps the stored transition time of an unchanged condition, so
// that marking the same again changes nothing.
func (m *conditionManager) SetCondition(c Condition) {
	if m.status == nil {
		return
	}
	conditions := make(Conditions, 0, len(m.status.GetConditions())+1)
	for _, old := range m.status.GetConditions() {
		if old.Type != c.Type {
			conditions = append(conditions, old)
			continue
		}
		c.LastTransitionTime = old.LastTransitionTime
		if c == old {
			return
		}
	}
	c.LastTransitionTime = VolatileTime{Inner: metav1.NewTime(time.Now())}
	conditions = append(conditions, c)
	slices.SortStableFunc(conditions, func(a, b Condition) int { return cmp.Compare(a.Type, b.Type) })
	m.status.SetConditions(conditions)
}

func (m *conditionManager) ClearCondition(t ConditionType) error {
	if m.counts(t) {
		return fmt.Errorf("condition %q is part of the set and cannot be removed", t)
	}
	if m.GetCondition(t) == nil {
		return nil
	}
	kept := slices.Clone(m.status.GetConditions())
	m.status.SetConditions(slices.DeleteFunc(kept, func(c Condition) bool { return c.Type == t }))
	return nil
}

func (m *conditionManager) set(t ConditionType, status corev1.ConditionStatus, reason, message string) {
	m.SetCondition(Condition{
		Type: t, Status: status, Severity: m.severity(t), Reason: reason, Message: message,
	})
}

func (m *conditionManager) MarkTrue(t ConditionType) {
	m.set(t, corev1.ConditionTrue, "", "")
	m.summarize()
}

func (m *conditionManager) MarkTrueWithReason(t ConditionType, reason, messageFormat string, messageA ...interface{}) {
	m.set(t, corev1.ConditionTrue, reason, fmt.Sprintf(messageFormat, messageA...))
	m.summarize()
}

func (m *conditionManager) MarkUnknown(t ConditionType, reason, messageFormat string, messageA ...interface{}) {
	message := fmt.Sprintf(messageFormat, messageA...)
	m.set(t, corev1.ConditionUnknown, reason, message)
	if t == m.happy || !m.counts(t) {
		return
	}
	if failed := m.newestDependent((*Condition).IsFalse); failed != nil {
		m.set(m.happy, corev1.ConditionFalse, failed.Reason, failed.Message)
		return
	}
	m.set(m.happy, corev1.ConditionUnknown, reason, message)
}

func (m *conditionManager) MarkFalse(t ConditionType, reason, messageFormat string, messageA ...interface{}) {
	message := fmt.Sprintf(messageFormat, messageA...)
	m.set(t, corev1.ConditionFalse, reason, message)
	if t != m.happy && m.counts(t) {
		m.set(m.happy, corev1.ConditionFalse, reason, message)
	}
}

func (m *conditionManager) InitializeConditions() {
	happy := m.GetCondition(m.happy)
	if happy == nil {
		m.set(m.happy, corev1.ConditionUnknown, m.reason, m.message)
	}
	for _, t := range m.dependents {
		switch c := m.GetCondition(t); {
		case c == nil && happy.IsTrue():
			m.set(t, corev1.ConditionTrue, "", "")
		case c == nil:
			m.set(t, corev1.ConditionUnknown, m.reason, m.message)
		}
	}
}

// summarize recomputes the summary after something became True: the newest
// failure wins, else the newest Unknown, else a missing dependent leaves it
// Unknown, else it is True. A set without dependents has nothing to sum up: its
// summary is what it was marked.
func (m *conditionManager) summarize() {
	if len(m.dependents) == 0 {
		return
	}
	if c := m.newestDependent((*Condition).IsFalse); c != nil {
		m.set(m.happy, corev1.ConditionFalse, c.Reason, c.Message)
		return
	}
	if c := m.newestDependent((*Condition).IsUnknown); c != nil {
		m.set(m.happy, corev1.ConditionUnknown, c.Reason, c.Message)
		return
	}
	for _, t := range m.dependents {
		if m.GetCondition(t) == nil {
			m.set(m.happy, corev1.ConditionUnknown, "", "")
			return
		}
	}
	if !m.IsHappy() {
		m.set(m.happy, corev1.ConditionTrue, "", "")
	}
}

// newestDependent returns the most recently changed error-severity condition
// besides the summary for which is holds, or nil.
func (m *conditionManager) newestDependent(is func(*Condition) bool) *Condition {
	var newest *Condition
	for _, c := range m.status.GetConditions() {
		if c.Type == m.happy || c.Severity != ConditionSeverityError || !is(&c) {
			continue
		}
		if newest == nil || newest.LastTransitionTime.Inner.Before(&c.LastTransitionTime.Inner) {
			newest = &c
		}
	}
	return newest
}
