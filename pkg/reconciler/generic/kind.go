// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package generic gives any kind what generated code gives the kinds it was
// generated for: a typed informer, lister and reconciler, injected and on the
// same engine. It needs a Go type and the kind's names, no clientset; it reads
// and writes through the dynamic client, which costs a conversion an object.
package generic

import (
	"context"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/injection/clients/dynamicclient"
	"weir.dev/pkg/reconciler/engine"
)

// Object is a pointer to an API type, as in *v1.Thing.
type Object[T any] = engine.Object[T]

// Kind names a kind whose objects are Ts. It is comparable; equal ones share an
// informer.
type Kind[T Object[T]] struct {
	// Group, Version and Kind as in manifests.
	Group, Version, Kind string
	// Plural is the resource's name in URLs; "" follows from Kind by English rules.
	Plural string
	// ClassKey is the annotation with the class of an object; "" is a kind
	// without classes.
	ClassKey string
	// Unshaped leaves conditions and observedGeneration to the reconciler, even
	// if T could be looked after (duckv1.KRShaped).
	Unshaped bool
}

// GroupVersionKind returns the kind.
func (k Kind[T]) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// Resource returns the resource as it is in URLs.
func (k Kind[T]) Resource() schema.GroupVersionResource {
	gvk := k.GroupVersionKind()
	if k.Plural == "" {
		return apis.KindToResource(gvk)
	}
	return gvk.GroupVersion().WithResource(strings.ToLower(k.Plural))
}

// Informer returns the informer of the context's set, which is started with it.
// Its objects are Ts, with the context's transform applied.
func (k Kind[T]) Informer(ctx context.Context) cache.SharedIndexInformer {
	return injection.Share(ctx, k, func(ctx context.Context) (cache.SharedIndexInformer, controller.Informer) {
		client := dynamicclient.Get(ctx)
		resource := client.Resource(k.Resource()).Namespace(injection.GetNamespaceScope(ctx))
		informer := cache.NewSharedIndexInformer(duck.ListWatch(resource, client, fresh[T]()), fresh[T](), controller.GetResyncPeriod(ctx),
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if err := informer.SetTransform(injection.GetTransform(ctx)); err != nil {
			panic(err) // only of an informer that runs
		}
		return informer, informer
	})
}

// Lister returns the lister on that informer's cache.
func (k Kind[T]) Lister(ctx context.Context) Lister[T] {
	return k.ListerOf(k.Informer(ctx).GetIndexer())
}

// ListerOf returns a lister on a cache of Ts that is filled in another way.
func (k Kind[T]) ListerOf(indexer cache.Indexer) Lister[T] {
	return Lister[T]{cache.NewGenericLister(indexer, k.Resource().GroupResource())}
}

// For makes a controller of r, on the injected informer and client. Events of
// the kind are not enqueued yet: add a handler to Informer, as for a generated
// reconciler. It takes at most one options function.
func For[T Object[T]](ctx context.Context, k Kind[T], r engine.Interface[T], optionsFns ...controller.OptionsFn) *controller.Impl {
	return ForClass(ctx, k, r, "", optionsFns...)
}

// ForClass is For for the objects of one class.
func ForClass[T Object[T]](ctx context.Context, k Kind[T], r engine.Interface[T], class string, optionsFns ...controller.OptionsFn) *controller.Impl {
	return engine.NewImpl(ctx, k.engine(dynamicclient.Get(ctx), k.Lister(ctx)), r, class, optionsFns)
}

// NewReconciler makes a reconciler of the kind without a queue. cfg says the
// rest; its Kind is filled in. It takes at most one Options.
func NewReconciler[T Object[T]](k Kind[T], client dynamic.Interface, lister Lister[T], cfg engine.Config[T], options []controller.Options) controller.Reconciler {
	cfg.Kind = k.engine(client, lister)
	return engine.NewReconciler(cfg, options)
}

// engine is what the engine must know of the kind.
func (k Kind[T]) engine(client dynamic.Interface, lister Lister[T]) engine.Kind[T] {
	resource := client.Resource(k.Resource())
	out := engine.Kind[T]{
		GVK:    k.GroupVersionKind(),
		Plural: k.Resource().Resource,
		Get:    lister.Get,
		List:   lister.List,
		Client: func(namespace string) engine.Client[T] {
			return typedClient[T]{gvk: k.GroupVersionKind(), dynamic: resource.Namespace(namespace)}
		},
	}
	if k.ClassKey != "" {
		out.ClassKeys = []string{k.ClassKey}
	}
	if _, ok := reflect.TypeFor[T]().Elem().FieldByName("Status"); ok {
		_, shaped := any(fresh[T]()).(duckv1.KRShaped)
		out.KRShaped = shaped && !k.Unshaped
		out.Status = func(o T) any { return status(o).Addr().Interface() }
		out.CopyStatus = func(to, from T) { status(to).Set(status(from)) }
	}
	return out
}

func status[T any](o T) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }

// fresh returns an empty object.
func fresh[T any]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

// Lister reads a cache.
type Lister[T Object[T]] struct{ generic cache.GenericLister }

// Get returns an object, which is not to be changed. The error of one that is
// not there is NotFound. The namespace of a cluster-wide kind is "".
func (l Lister[T]) Get(namespace, name string) (T, error) {
	var lister cache.GenericNamespaceLister = l.generic
	if namespace != "" {
		lister = l.generic.ByNamespace(namespace)
	}
	o, err := lister.Get(name)
	if err != nil {
		return *new(T), err
	}
	return o.(T), nil
}

// List returns the objects of all namespaces that match.
func (l Lister[T]) List(selector labels.Selector) ([]T, error) {
	all, err := l.generic.List(selector)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(all))
	for _, o := range all {
		out = append(out, o.(T))
	}
	return out, nil
}
