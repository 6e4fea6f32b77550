// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"errors"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
)

type loopKey struct{}

// TestLoop: a dependency that needs itself is an error, not a dead lock.
func TestLoop(t *testing.T) {
	r := newRegistry("Test")
	Provide(r, func(ctx context.Context, _ loopKey) (int, error) { return Get[int](ctx, loopKey{}), nil })
	ctx, _ := r.SetupInformers(t.Context(), nil)
	if _, ok := Lookup[int](ctx, loopKey{}); ok {
		t.Error("a dependency was made of itself")
	}
}

type (
	legacyKey struct{}
	brokenKey struct{}
	countKey  struct{}
)

type idleInformer struct{}

func (idleInformer) Run(<-chan struct{}) {}
func (idleInformer) HasSynced() bool     { return true }

// TestInjectors: what is registered the old way is in the context of every
// set, in the order in which one may need the other.
func TestInjectors(t *testing.T) {
	r := newRegistry("Test")
	follow := func(ctx context.Context, step string) context.Context {
		before, _ := ctx.Value(legacyKey{}).(string)
		return context.WithValue(ctx, legacyKey{}, before+step+" ")
	}
	r.RegisterFilteredInformers(func(ctx context.Context) (context.Context, []controller.Informer) {
		return follow(ctx, "filtered"), []controller.Informer{idleInformer{}, idleInformer{}}
	})
	r.RegisterInformer(func(ctx context.Context) (context.Context, controller.Informer) {
		return follow(ctx, "informer"), idleInformer{}
	})
	r.RegisterDuck(func(ctx context.Context) context.Context { return follow(ctx, "duck") })
	r.RegisterInformerFactory(func(ctx context.Context) context.Context { return follow(ctx, "factory") })
	r.RegisterClient(func(ctx context.Context, _ *rest.Config) context.Context { return follow(ctx, "client") })

	ctx, informers := r.SetupInformers(t.Context(), &rest.Config{})

	if got, want := Get[string](ctx, legacyKey{}), "client factory duck informer filtered "; got != want {
		t.Errorf("order is %q, want %q", got, want)
	}
	if len(informers) != 4 {
		t.Errorf("got %d informers, want the set and the three injected ones", len(informers))
	}
	if n := len(r.GetClients()) + len(r.GetInformerFactories()) + len(r.GetDucks()) +
		len(r.GetInformers()) + len(r.GetFilteredInformers()); n != 5 {
		t.Errorf("the registry returns %d injectors, want 5", n)
	}
}

// TestProviderFails: the error of a provider reaches whoever asks, each time.
func TestProviderFails(t *testing.T) {
	broken := errors.New("broken")
	r := newRegistry("Test")
	Provide(r, func(context.Context, brokenKey) (int, error) { return 0, broken })
	ctx, _ := r.SetupInformers(t.Context(), nil)
	for range 2 {
		if _, err := lookup(ctx, brokenKey{}); !errors.Is(err, broken) {
			t.Errorf("lookup: %v, want %v", err, broken)
		}
	}
}

// TestMadeOnce: however many ask at once, a dependency is made once a set.
func TestMadeOnce(t *testing.T) {
	r := newRegistry("Test")
	made := 0 // the race detector sees a second maker
	Provide(r, func(context.Context, countKey) (*int, error) { made++; return &made, nil })
	ctx, _ := r.SetupInformers(t.Context(), nil)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { Get[*int](ctx, countKey{}) })
	}
	wg.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

func TestWrongType(t *testing.T) {
	ctx := context.WithValue(t.Context(), countKey{}, "a string")
	if _, ok := Lookup[int](ctx, countKey{}); ok {
		t.Error("Lookup gave an int of a string")
	}
	defer func() {
		if _, ok := recover().(*DependencyError); !ok {
			t.Error("Get did not panic with a DependencyError")
		}
	}()
	Get[int](ctx, countKey{})
}
