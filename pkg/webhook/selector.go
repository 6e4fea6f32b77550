// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExcludeLabel on a namespace keeps webhooks away from it.
const ExcludeLabel = "webhooks.knative.dev/exclude"

// NamespaceSelector selects the namespaces that do not exclude themselves.
func NamespaceSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: ExcludeLabel, Operator: metav1.LabelSelectorOpDoesNotExist,
	}}}
}

// EnsureLabelSelectorExpressions returns current with the expressions of want:
// each replaces those about its label. What current says of other labels is
// kept, in its order.
func EnsureLabelSelectorExpressions(current, want *metav1.LabelSelector) *metav1.LabelSelector {
	if current == nil {
		return want
	}
	if want == nil {
		return current
	}
	out := current.DeepCopy()
	for _, expression := range want.MatchExpressions {
		out.MatchExpressions = place(out.MatchExpressions, expression)
	}
	return out
}

// place puts an expression where the first about its label was, else at the end.
func place(list []metav1.LabelSelectorRequirement, e metav1.LabelSelectorRequirement) []metav1.LabelSelectorRequirement {
	sameLabel := func(other metav1.LabelSelectorRequirement) bool { return other.Key == e.Key }
	at := slices.IndexFunc(list, sameLabel)
	if at < 0 {
		return append(list, e)
	}
	return slices.Insert(slices.DeleteFunc(list, sameLabel), at, e)
}
