// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
)

// registry holds functions only; what they make belongs to a set.
type registry struct {
	name string

	mu        sync.RWMutex
	providers map[reflect.Type]Provider
	clients   []ClientInjector
	fetchers  []ClientFetcher
	factories []InformerFactoryInjector
	ducks     []DuckFactoryInjector
	informers []InformerInjector
	filtered  []FilteredInformersInjector
}

var _ Interface = (*registry)(nil)

func newRegistry(name string) *registry {
	return &registry{name: name, providers: map[reflect.Type]Provider{}}
}

func register[T any](r *registry, list *[]T, f T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, f)
}

func all[T any](r *registry, list *[]T) []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(*list)
}

// Provide implements Interface.
func (r *registry) Provide(p Provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.providers[reflect.TypeOf(p.Key)] = p
}

func (r *registry) provider(key any) (Provider, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	p, ok := r.providers[reflect.TypeOf(key)]
	return p, ok
}

// RegisterClient implements Interface.
func (r *registry) RegisterClient(f ClientInjector) { register(r, &r.clients, f) }

// GetClients implements Interface.
func (r *registry) GetClients() []ClientInjector { return all(r, &r.clients) }

// RegisterClientFetcher implements Interface.
func (r *registry) RegisterClientFetcher(f ClientFetcher) { register(r, &r.fetchers, f) }

// FetchAllClients implements Interface.
func (r *registry) FetchAllClients(ctx context.Context) []any {
	fetchers := all(r, &r.fetchers)
	clients := make([]any, 0, len(fetchers))
	for _, fetch := range fetchers {
		clients = append(clients, fetch(ctx))
	}
	return clients
}

// RegisterInformerFactory implements Interface.
func (r *registry) RegisterInformerFactory(f InformerFactoryInjector) { register(r, &r.factories, f) }

// GetInformerFactories implements Interface.
func (r *registry) GetInformerFactories() []InformerFactoryInjector { return all(r, &r.factories) }

// RegisterDuck implements Interface.
func (r *registry) RegisterDuck(f DuckFactoryInjector) { register(r, &r.ducks, f) }

// GetDucks implements Interface.
func (r *registry) GetDucks() []DuckFactoryInjector { return all(r, &r.ducks) }

// RegisterInformer implements Interface.
func (r *registry) RegisterInformer(f InformerInjector) { register(r, &r.informers, f) }

// GetInformers implements Interface.
func (r *registry) GetInformers() []InformerInjector { return all(r, &r.informers) }

// RegisterFilteredInformers implements Interface.
func (r *registry) RegisterFilteredInformers(f FilteredInformersInjector) {
	register(r, &r.filtered, f)
}

// GetFilteredInformers implements Interface.
func (r *registry) GetFilteredInformers() []FilteredInformersInjector { return all(r, &r.filtered) }

// SetupInformers implements Interface.
func (r *registry) SetupInformers(ctx context.Context, cfg *rest.Config) (context.Context, []controller.Informer) {
	cfg = unthrottled(cfg)
	set := newSet(r)
	ctx = set.attach(WithConfig(ctx, cfg))
	informers := []controller.Informer{set}

	for _, inject := range r.GetClients() {
		ctx = inject(ctx, cfg)
	}
	for _, inject := range r.GetInformerFactories() {
		ctx = inject(ctx)
	}
	for _, inject := range r.GetDucks() {
		ctx = inject(ctx)
	}
	for _, inject := range r.GetInformers() {
		var informer controller.Informer
		ctx, informer = inject(ctx)
		informers = append(informers, informer)
	}
	for _, inject := range r.GetFilteredInformers() {
		var more []controller.Informer
		ctx, more = inject(ctx)
		informers = append(informers, more...)
	}
	return ctx, informers
}

// unthrottled lifts the client library's default of five requests a second
// from a configuration that does not say: the API server has its own, fair limits.
func unthrottled(cfg *rest.Config) *rest.Config {
	if cfg == nil || cfg.QPS != 0 || cfg.RateLimiter != nil {
		return cfg
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	return cfg
}
