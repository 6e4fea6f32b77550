// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resourcesemantics

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Callback is a further look at objects of a kind.
type Callback struct {
	function func(ctx context.Context, obj *unstructured.Unstructured) error
	verbs    []admissionv1.Operation
}

// NewCallback returns a callback for the given operations. The object is the
// new one, of a deletion the stored one.
func NewCallback(function func(context.Context, *unstructured.Unstructured) error, verbs ...admissionv1.Operation) Callback {
	return Callback{function: function, verbs: verbs}
}

// Call calls the function if the operation is one of its own. It returns the
// object, which the function may have changed.
func (c Callback) Call(ctx context.Context, req *admissionv1.AdmissionRequest, raw []byte) (*unstructured.Unstructured, error) {
	if c.function == nil || !slices.Contains(c.verbs, req.Operation) {
		return nil, nil
	}
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &obj.Object); err != nil {
		return nil, fmt.Errorf("decode for callback: %w", err)
	}
	return obj, c.function(ctx, obj)
}
