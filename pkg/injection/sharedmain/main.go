// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/environment"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/signals"
)

const threadsEnvKey = "K_THREADS_PER_CONTROLLER"

// Main runs the controllers of a component as a process of their own, until a
// signal comes. It ends the process with status 1 when they fail.
func Main(component string, ctors ...injection.ControllerConstructor) {
	MainWithContext(signals.NewContext(), component, ctors...)
}

// MainWithContext is Main until ctx ends.
func MainWithContext(ctx context.Context, component string, ctors ...injection.ControllerConstructor) {
	ctx, cfg, _ := parse(ctx)
	MainWithConfig(ctx, component, cfg, ctors...)
}

// MainNamed is MainWithContext without the controllers that the flag
// disable-controllers names. It says which names none of them has: what was
// meant runs.
func MainNamed(ctx context.Context, component string, named ...injection.NamedControllerConstructor) {
	ctx, cfg, disabled := parse(ctx)
	ctors, unknown := without(named, disabled)
	if len(unknown) > 0 {
		fmt.Fprintf(os.Stderr, "%s: disable-controllers: there is no controller %q\n", component, unknown)
	}
	MainWithConfig(ctx, component, cfg, ctors...)
}

// without are the constructors but the disabled ones, and the names that none has.
func without(named []injection.NamedControllerConstructor, disabled []string) (ctors []injection.ControllerConstructor, unknown []string) {
	unknown = slices.Clone(disabled)
	for _, n := range named {
		if !slices.Contains(disabled, n.Name) {
			ctors = append(ctors, n.ControllerConstructor)
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == n.Name })
	}
	return ctors, unknown
}

// MainWithConfig is MainWithContext with a client configuration instead of flags.
func MainWithConfig(ctx context.Context, component string, cfg *rest.Config, ctors ...injection.ControllerConstructor) {
	exitOn(component, runProcess(ctx, component, cfg, ctors))
}

// WebhookMainWithContext is MainWithContext: controllers that are webhooks are
// served wherever they are.
func WebhookMainWithContext(ctx context.Context, component string, ctors ...injection.ControllerConstructor) {
	MainWithContext(ctx, component, ctors...)
}

// WebhookMainWithConfig is MainWithConfig.
func WebhookMainWithConfig(ctx context.Context, component string, cfg *rest.Config, ctors ...injection.ControllerConstructor) {
	MainWithConfig(ctx, component, cfg, ctors...)
}

// parse reads the command line and the environment.
func parse(ctx context.Context) (context.Context, *rest.Config, []string) {
	env := &environment.ClientConfig{}
	env.InitFlags(flag.CommandLine)
	klog.InitFlags(flag.CommandLine)
	disableHA := flag.Bool("disable-ha", false, "Run without leader election.")
	disabled := flag.String("disable-controllers", "", "Comma-separated names of controllers to leave out.")
	flag.Parse()

	if *disableHA {
		ctx = WithHADisabled(ctx)
	}
	if s := os.Getenv(threadsEnvKey); s != "" {
		threads, err := strconv.Atoi(s)
		if err != nil || threads < 1 {
			exitOn(threadsEnvKey, fmt.Errorf("want a positive number, got %q", s))
		}
		ctx = controller.WithThreads(ctx, threads)
	}
	cfg, err := env.GetRESTConfig()
	exitOn("client configuration", err)
	return ctx, cfg, strings.FieldsFunc(*disabled, func(r rune) bool { return r == ',' || r == ' ' })
}

func exitOn(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}
