// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"weir.dev/pkg/controller"
)

type setKey struct{}

// set holds the dependencies that were asked for, each made once.
type set struct {
	registry *registry
	base     context.Context // what providers get: the context of SetupInformers, with the set

	mu        sync.Mutex
	entries   map[any]*entry
	informers []watch         // in the order in which they were asked for
	stop      <-chan struct{} // not nil once Run was called
	running   sync.WaitGroup
}

// watch is an informer with the package of its accessor.
type watch struct {
	controller.Informer
	accessor string
}

// makingKey is where a provider's context keeps the keys that are being made.
type makingKey struct{}

// entry is made by whoever asks first; others wait for it.
type entry struct {
	once  sync.Once
	value any
	err   error
}

var _ controller.Informer = (*set)(nil)

func newSet(r *registry) *set { return &set{registry: r, entries: map[any]*entry{}} }

func (s *set) attach(ctx context.Context) context.Context {
	s.base = context.WithValue(ctx, setKey{}, s)
	return s.base
}

// get returns the dependency of key, asked for by ctx.
func (s *set) get(ctx context.Context, key any) (any, error) {
	return s.getOr(ctx, key, func() (Provider, error) {
		if p, ok := s.registry.provider(key); ok {
			return p, nil
		}
		return Provider{}, s.notLinked(key)
	})
}

// getOr is get with another way to find out how the dependency is made.
func (s *set) getOr(ctx context.Context, key any, find func() (Provider, error)) (any, error) {
	making, _ := ctx.Value(makingKey{}).([]any)
	if slices.Contains(making, key) {
		return nil, errors.New("it is needed to make itself")
	}
	e := s.entry(key)
	e.once.Do(func() { e.value, e.err = s.make(append(slices.Clip(making), key), key, find) }) //nolint:contextcheck // what is made belongs to the set, not to who asks first
	return e.value, e.err
}

func (s *set) entry(key any) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[key]
	if !ok {
		e = &entry{}
		s.entries[key] = e
	}
	return e
}

func (s *set) make(making []any, key any, find func() (Provider, error)) (any, error) {
	provider, err := find()
	if err != nil {
		return nil, err
	}
	value, informer, err := call(context.WithValue(s.base, makingKey{}, making), provider, key)
	if err != nil {
		return nil, err
	}
	if informer != nil {
		s.add(watch{Informer: informer, accessor: accessorOf(key)})
	}
	return value, nil
}

// call turns the panic of an accessor that the provider itself needs into an error.
func call(ctx context.Context, p Provider, key any) (value any, informer controller.Informer, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *DependencyError:
			err = fmt.Errorf("it needs %s: %w", r.Accessor, r.Err)
		default:
			panic(r)
		}
	}()
	return p.New(ctx, key)
}

func (s *set) notLinked(key any) error {
	pkg := accessorOf(key)
	if s.registry == Fake {
		pkg += "/fake"
	}
	return fmt.Errorf("nothing is registered with injection.%s; import %q", s.registry.name, pkg)
}

// add starts the informer if the set runs, else leaves it to Run.
func (s *set) add(informer watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.informers = append(s.informers, informer)
	if s.stop != nil {
		s.start(informer)
	}
}

// start is called with mu held. It does nothing after the end, so that nothing
// is added to running while Run waits for it.
func (s *set) start(informer watch) {
	select {
	case <-s.stop:
	default:
		s.running.Go(func() { informer.Run(s.stop) })
	}
}

// Run implements controller.Informer for all informers of the set.
func (s *set) Run(stop <-chan struct{}) {
	s.mu.Lock()
	s.stop = stop
	for _, informer := range s.informers {
		s.start(informer)
	}
	s.mu.Unlock()

	<-stop
	s.mu.Lock()   // an informer that was being added is counted now
	s.mu.Unlock() //nolint:staticcheck // see above
	s.running.Wait()
}

// HasSynced implements controller.Informer for all informers of the set.
func (s *set) HasSynced() bool {
	s.mu.Lock()
	informers := slices.Clone(s.informers)
	s.mu.Unlock()
	for _, informer := range informers {
		if !informer.HasSynced() {
			return false
		}
	}
	return true
}

// Watches names the accessors whose informers the set of ctx was asked for, in
// order. Tests assert it for a process.
func Watches(ctx context.Context) []string {
	return accessorsOf(ctx, func(watch) bool { return true })
}

// Unsynced names those of them whose caches are not filled yet.
func Unsynced(ctx context.Context) []string {
	return accessorsOf(ctx, func(w watch) bool { return !w.HasSynced() })
}

func accessorsOf(ctx context.Context, wanted func(watch) bool) []string {
	s, ok := ctx.Value(setKey{}).(*set)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	accessors := make([]string, 0, len(s.informers))
	for _, informer := range s.informers {
		if wanted(informer) {
			accessors = append(accessors, informer.accessor)
		}
	}
	slices.Sort(accessors)
	return accessors
}

// accessorOf names the package that a key belongs to.
func accessorOf(key any) string { return reflect.TypeOf(key).PkgPath() }
