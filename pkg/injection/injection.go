// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package injection hands clients and informers to controller constructors
// through the context.
//
// An accessor package registers, when it is linked, how its dependency is made
// (in Default; its fake in Fake). These two registries are the only state of
// the package. SetupInformers puts a set into a context; what an accessor's Get
// asks for is made then, once a set, and an informer that nobody asks for is
// never started. So two sets in one process share nothing.
package injection

import (
	"context"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
)

// ControllerConstructor makes a controller from what its context holds.
type ControllerConstructor func(context.Context, configmap.Watcher) *controller.Impl

// NamedControllerConstructor is a constructor that can be left out by name.
type NamedControllerConstructor struct {
	// Name of the controller.
	Name string
	// ControllerConstructor makes it.
	ControllerConstructor ControllerConstructor
}

// Functions that put a dependency into a context when a set is made, asked for
// or not. Hand-written accessors register these; generated ones use Provide.
type (
	// ClientInjector puts a client into the context.
	ClientInjector func(context.Context, *rest.Config) context.Context
	// ClientFetcher gets a client out of the context.
	ClientFetcher func(context.Context) any
	// InformerFactoryInjector puts an informer factory into the context.
	InformerFactoryInjector func(context.Context) context.Context
	// InformerInjector puts an informer, which is started, into the context.
	InformerInjector func(context.Context) (context.Context, controller.Informer)
	// FilteredInformersInjector puts informers, which are started, into the context.
	FilteredInformersInjector func(context.Context) (context.Context, []controller.Informer)
	// DuckFactoryInjector puts a duck informer factory into the context.
	DuckFactoryInjector func(context.Context) context.Context
)

// Interface is a registry of how dependencies are made.
type Interface interface {
	// Provide registers a dependency that is made when it is first asked for.
	// Another provider of the same key type replaces it.
	Provide(Provider)

	// RegisterClient registers a client; GetClients returns all.
	RegisterClient(ClientInjector)
	GetClients() []ClientInjector

	// RegisterClientFetcher registers how to find a client in a context;
	// FetchAllClients returns all that ctx has.
	RegisterClientFetcher(ClientFetcher)
	FetchAllClients(ctx context.Context) []any

	// RegisterInformerFactory registers a factory; GetInformerFactories returns all.
	RegisterInformerFactory(InformerFactoryInjector)
	GetInformerFactories() []InformerFactoryInjector

	// RegisterDuck registers a duck factory; GetDucks returns all.
	RegisterDuck(DuckFactoryInjector)
	GetDucks() []DuckFactoryInjector

	// RegisterInformer registers an informer; GetInformers returns all.
	RegisterInformer(InformerInjector)
	GetInformers() []InformerInjector

	// RegisterFilteredInformers registers informers; GetFilteredInformers returns all.
	RegisterFilteredInformers(FilteredInformersInjector)
	GetFilteredInformers() []FilteredInformersInjector

	// SetupInformers returns a context with a new set of this registry's
	// dependencies. Running the informers that it returns runs those that the
	// set was asked for, and any that it is asked for while they run.
	SetupInformers(context.Context, *rest.Config) (context.Context, []controller.Informer)
}

var (
	// Default is what accessors register with.
	Default Interface = newRegistry("Default")
	// Fake is what the fakes of accessors register with.
	Fake Interface = newRegistry("Fake")
)
