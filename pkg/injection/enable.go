// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/signals"
)

// Enable returns a context with a new set of Default, and a function that
// starts its informers and waits until they have synced. It is for programs
// that use accessors without controllers.
func Enable(ctx context.Context, cfg *rest.Config) (context.Context, func() error) {
	ctx, informers := Default.SetupInformers(ctx, cfg)
	return ctx, func() error { return controller.StartInformers(ctx.Done(), informers...) }
}

// EnableInjectionOrDie is Enable for main functions: a nil ctx means one that
// ends on a signal, a nil cfg means the one of the command line, and what goes
// wrong panics.
func EnableInjectionOrDie(ctx context.Context, cfg *rest.Config) (context.Context, func()) {
	if ctx == nil {
		ctx = signals.NewContext()
	}
	if cfg == nil {
		cfg = ParseAndGetRESTConfigOrDie()
	}
	ctx, start := Enable(ctx, cfg)
	return ctx, func() {
		if err := start(); err != nil {
			panic(fmt.Errorf("starting informers: %w", err))
		}
	}
}
