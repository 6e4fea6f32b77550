// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// ListWatch gives an informer objects of example's type, whatever their kind:
// resource is what it reads, of client.
func ListWatch(resource dynamic.ResourceInterface, client dynamic.Interface, example runtime.Object) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := resource.List(ctx, o)
			if err != nil {
				return nil, err
			}
			return typedList(list, example)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := resource.Watch(ctx, o)
			if err != nil {
				return nil, err
			}
			return newTypedWatch(w, example), nil
		},
	}, client)
}

func typedList(list *unstructured.UnstructuredList, example runtime.Object) (*metav1.List, error) {
	out := &metav1.List{Items: make([]runtime.RawExtension, len(list.Items))}
	out.ResourceVersion, out.Continue, out.RemainingItemCount = list.GetResourceVersion(), list.GetContinue(), list.GetRemainingItemCount()
	for i := range list.Items {
		o, err := typed(&list.Items[i], example)
		if err != nil {
			return nil, err
		}
		out.Items[i].Object = o
	}
	return out, nil
}

// typedEvent ends a watch at an object that cannot be read: the informer must
// not go on without it.
func typedEvent(in watch.Event, example runtime.Object) watch.Event {
	u, ok := in.Object.(*unstructured.Unstructured)
	if !ok || in.Type == watch.Error {
		return in
	}
	o, err := typed(u, example)
	if err != nil {
		return watch.Event{Type: watch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: 500, Message: err.Error(),
		}}
	}
	in.Object = o
	return in
}

func typed(u *unstructured.Unstructured, example runtime.Object) (runtime.Object, error) {
	out := example.DeepCopyObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("read %s %s/%s as %T: %w", u.GetKind(), u.GetNamespace(), u.GetName(), out, err)
	}
	return out, nil
}
