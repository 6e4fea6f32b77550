// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
	"weir.dev/pkg/reconciler/engine"
)

// newTypedController is newThingController as generated code makes it: status
// is written as the whole object, by its version.
func newTypedController(r thingReconciler) injection.ControllerConstructor {
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		client, lister := dynamicclient.Get(ctx).Resource(things.Resource()), things.Lister(ctx)
		impl := engine.NewImpl(ctx, engine.Kind[*Thing]{
			GVK: things.GroupVersionKind(), Plural: "things", KRShaped: true,
			Get: lister.Get, List: lister.List,
			Client:     func(namespace string) engine.Client[*Thing] { return putClient{client.Namespace(namespace)} },
			Status:     func(o *Thing) any { return &o.Status },
			CopyStatus: func(to, from *Thing) { to.Status = from.Status },
		}, r, "", nil)
		if _, err := things.Informer(ctx).AddEventHandler(controller.HandleAll(impl.Enqueue)); err != nil {
			panic(err)
		}
		return impl
	}
}

// putClient does what a generated client does.
type putClient struct{ dynamic dynamic.ResourceInterface }

// Get implements engine.Client.
func (c putClient) Get(ctx context.Context, name string, opts metav1.GetOptions) (*Thing, error) {
	return asThing(c.dynamic.Get(ctx, name, opts))
}

// UpdateStatus implements engine.Client.
func (c putClient) UpdateStatus(ctx context.Context, o *Thing, opts metav1.UpdateOptions) (*Thing, error) {
	o.SetGroupVersionKind(things.GroupVersionKind())
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	return asThing(c.dynamic.UpdateStatus(ctx, &unstructured.Unstructured{Object: object}, opts))
}

// Patch implements engine.Client.
func (c putClient) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*Thing, error) {
	return asThing(c.dynamic.Patch(ctx, name, pt, data, opts, subresources...))
}

func asThing(u *unstructured.Unstructured, err error) (*Thing, error) {
	if err != nil {
		return nil, err
	}
	o := &Thing{}
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
}
