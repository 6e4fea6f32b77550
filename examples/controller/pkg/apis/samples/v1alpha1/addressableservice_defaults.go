// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "context"

// SetDefaults implements apis.Defaultable.
func (a *AddressableService) SetDefaults(context.Context) {
	if a.Spec.Scheme == "" {
		a.Spec.Scheme = "http"
	}
}
