// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
)

// Provider says how a dependency is made.
type Provider struct {
	// Key is a value of the type under whose values contexts hold the
	// dependency. The type belongs to the accessor's package, which errors name.
	Key any
	// New makes the dependency of one key, and the informer to start for it, if
	// any. Accessors that are called with ctx give the same set's dependencies.
	New func(ctx context.Context, key any) (any, controller.Informer, error)
}

// Provide registers how the dependencies T of keys K are made.
func Provide[K comparable, T any](r Interface, f func(ctx context.Context, key K) (T, error)) {
	r.Provide(Provider{
		Key: *new(K),
		New: func(ctx context.Context, key any) (any, controller.Informer, error) {
			value, err := f(ctx, key.(K))
			return value, nil, err
		},
	})
}

// ProvideInformer registers how the informers of keys K are made.
func ProvideInformer[K comparable, T any](r Interface, f func(ctx context.Context, key K) (T, controller.Informer)) {
	r.Provide(Provider{
		Key: *new(K),
		New: func(ctx context.Context, key any) (any, controller.Informer, error) {
			value, informer := f(ctx, key.(K))
			return value, informer, nil
		},
	})
}

// ProvideClient registers how the client of key K is made from the
// configuration of the set.
func ProvideClient[K comparable, T any](r Interface, _ K, f func(*rest.Config) (T, error)) {
	Provide(r, func(ctx context.Context, _ K) (T, error) {
		cfg := GetConfig(ctx)
		if cfg == nil {
			return *new(T), fmt.Errorf("the set has no client configuration")
		}
		return f(cfg)
	})
}

// Get returns what ctx holds under key, else what its set makes of it. It
// panics with a *DependencyError when there is neither; Construct turns that
// into an error. Accessors are made of it.
func Get[T any](ctx context.Context, key any) T {
	value, err := lookup(ctx, key)
	if err != nil {
		panic(err)
	}
	typed, ok := value.(T)
	if !ok {
		panic(newDependencyError(key, fmt.Errorf("the context holds a %T, not a %s", value, reflect.TypeFor[T]())))
	}
	return typed
}

// Share is Get for keys that nobody can register in advance: what ctx does not
// hold is made by f, once in its set, and an informer starts with the set.
func Share[T any](ctx context.Context, key any, f func(ctx context.Context) (T, controller.Informer)) T {
	if value, ok := ctx.Value(key).(T); ok {
		return value
	}
	set, ok := ctx.Value(setKey{}).(*set)
	if !ok {
		panic(newDependencyError(key, errNoSet))
	}
	value, err := set.getOr(ctx, key, func() (Provider, error) {
		return Provider{Key: key, New: func(ctx context.Context, _ any) (any, controller.Informer, error) {
			value, informer := f(ctx)
			return value, informer, nil
		}}, nil
	})
	if err != nil {
		panic(newDependencyError(key, err))
	}
	return value.(T)
}

// Lookup is Get for a dependency that may be missing.
func Lookup[T any](ctx context.Context, key any) (T, bool) {
	value, err := lookup(ctx, key)
	if err != nil {
		return *new(T), false
	}
	typed, ok := value.(T)
	return typed, ok
}

func lookup(ctx context.Context, key any) (any, *DependencyError) {
	if value := ctx.Value(key); value != nil {
		return value, nil
	}
	set, ok := ctx.Value(setKey{}).(*set)
	if !ok {
		return nil, newDependencyError(key, errNoSet)
	}
	value, err := set.get(ctx, key)
	if err != nil {
		return nil, newDependencyError(key, err)
	}
	return value, nil
}
