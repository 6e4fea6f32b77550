// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"weir.dev/pkg/apis"
)

// validateResources checks what the API server would refuse in a pod, and
// nobody would be told before.
func validateResources(r *corev1.ResourceRequirements) *apis.FieldError {
	errs := only(r, "limits", "requests").
		Also(validateQuantities(r.Limits).ViaField("limits")).
		Also(validateQuantities(r.Requests).ViaField("requests"))
	for name, request := range r.Requests {
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(request.String(), string(name),
				"a request must not be above the limit, which is "+limit.String()).ViaField("requests"))
		}
	}
	return errs
}

func validateQuantities(list corev1.ResourceList) *apis.FieldError {
	var errs *apis.FieldError
	for name, quantity := range list {
		if quantity.Sign() < 0 {
			errs = errs.Also(apis.ErrInvalidValue(quantity.String(), string(name), "a quantity must not be negative"))
		}
	}
	return errs
}
