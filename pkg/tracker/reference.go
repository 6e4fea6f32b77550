// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package tracker

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/tracker/reference"
)

// Reference names one object, or all objects of a kind and namespace that a
// selector matches.
type Reference = reference.Reference

// keyOf turns what event handlers and callers of Track pass into a key.
func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
