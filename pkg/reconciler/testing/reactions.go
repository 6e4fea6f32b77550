// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/apis"
)

// InduceFailure makes requests of the verb on the resource, or its
// resource/sub-resource, fail.
func InduceFailure(verb, resource string) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		target := action.GetResource().Resource
		if sub := action.GetSubresource(); sub != "" && resource != target {
			target += "/" + sub
		}
		if action.GetVerb() != verb || target != resource {
			return false, nil, nil
		}
		return true, nil, fmt.Errorf("inducing failure for %s %s", verb, action.GetResource().Resource)
	}
}

// ValidateCreates refuses to create objects that do not validate.
func ValidateCreates(ctx context.Context, action clientgotesting.Action) (bool, runtime.Object, error) {
	create, ok := action.(clientgotesting.CreateAction)
	if !ok || action.GetVerb() != "create" {
		return false, nil, nil
	}
	return refuseInvalid(apis.WithinCreate(ctx), create.GetObject())
}

// ValidateUpdates refuses to update objects to what does not validate.
func ValidateUpdates(ctx context.Context, action clientgotesting.Action) (bool, runtime.Object, error) {
	update, ok := action.(clientgotesting.UpdateAction)
	if !ok || action.GetVerb() != "update" {
		return false, nil, nil
	}
	return refuseInvalid(ctx, update.GetObject())
}

func refuseInvalid(ctx context.Context, obj runtime.Object) (bool, runtime.Object, error) {
	v, ok := obj.(apis.Validatable)
	if !ok {
		return false, nil, nil
	}
	if err := v.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return true, nil, err
	}
	return false, nil, nil
}

// PrependGenerateNameReactor names objects that are created with generateName
// as an API server would, by a count from 00001.
func PrependGenerateNameReactor(f *clientgotesting.Fake) {
	var count atomic.Int64
	f.PrependReactor("create", "*", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		obj, err := meta.Accessor(action.(clientgotesting.CreateAction).GetObject())
		if err == nil && obj.GetName() == "" && obj.GetGenerateName() != "" {
			obj.SetName(fmt.Sprintf("%s%05d", obj.GetGenerateName(), count.Add(1)))
		}
		return false, nil, nil
	})
}
