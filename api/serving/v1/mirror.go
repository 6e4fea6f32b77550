// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import "weir.dev/pkg/apis"

// mirror gives a dependent condition the status, reason and message of a
// child's summary. A child without a summary says nothing.
func mirror(m apis.ConditionManager, t apis.ConditionType, child *apis.Condition) {
	switch {
	case child == nil:
	case child.IsTrue():
		m.MarkTrue(t)
	case child.IsFalse():
		m.MarkFalse(t, child.Reason, "%s", child.Message)
	default:
		m.MarkUnknown(t, child.Reason, "%s", child.Message)
	}
}
