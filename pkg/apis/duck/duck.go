// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package duck treats resources by their shape: a controller can work with any
// kind that has, say, an address in its status.
package duck

import (
	"encoding/json"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	mergepatch "gopkg.in/evanphx/json-patch.v4"

	"weir.dev/pkg/apis/duck/ducktypes"
	"weir.dev/pkg/kmp"
)

// Implementable is a shape that other types can have.
type Implementable = ducktypes.Implementable

// Populatable is a resource of a shape that can fill itself with sample data.
type Populatable = ducktypes.Populatable

// VerifyType returns an error unless instance has the shape: everything that
// the shape holds must survive a way through the instance's JSON.
func VerifyType(instance interface{}, shape Implementable) error {
	input, output := shape.GetFullType(), shape.GetFullType()
	input.Populate()
	if err := throughJSON(input, instance); err != nil {
		return fmt.Errorf("shape into %T: %w", instance, err)
	}
	if err := throughJSON(instance, output); err != nil {
		return fmt.Errorf("%T into shape: %w", instance, err)
	}
	diff, err := kmp.SafeDiff(input, output)
	if err != nil {
		return fmt.Errorf("compare %T with its shape: %w", instance, err)
	}
	if diff != "" {
		return fmt.Errorf("%T does not have the shape %T (-want +got):\n%s", instance, shape, diff)
	}
	return nil
}

// ConformsToType says whether instance has the shape.
func ConformsToType(instance interface{}, shape Implementable) (bool, error) {
	return VerifyType(instance, shape) == nil, nil
}

func throughJSON(from, to interface{}) error {
	b, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("marshal: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("unmarshal: %w", err)
	}
	return nil
}

// JSONPatch is a list of operations after RFC 6902.
type JSONPatch []jsonpatch.JsonPatchOperation

// MarshalJSON writes an empty patch as an empty list.
func (p JSONPatch) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]jsonpatch.JsonPatchOperation(p))
}

// CreatePatch returns what turns before into after.
func CreatePatch(before, after interface{}) (JSONPatch, error) {
	b, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("marshal before: %w", err)
	}
	a, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("marshal after: %w", err)
	}
	return CreateBytePatch(b, a)
}

// CreateMergePatch returns what turns before into after, after RFC 7386. It
// cannot set a field to null.
func CreateMergePatch(before, after interface{}) ([]byte, error) {
	b, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("marshal before: %w", err)
	}
	a, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("marshal after: %w", err)
	}
	patch, err := mergepatch.CreateMergePatch(b, a)
	if err != nil {
		return nil, fmt.Errorf("create merge patch: %w", err)
	}
	return patch, nil
}

// CreateBytePatch is CreatePatch for JSON.
func CreateBytePatch(before, after []byte) (JSONPatch, error) {
	patch, err := jsonpatch.CreatePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("create JSON patch: %w", err)
	}
	return patch, nil
}
