// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/logging/logkey"
)

// NewImpl makes the controller of a typed reconciler. It takes at most one
// options function and panics on more: a mistake in the program.
func NewImpl[T Object[T]](ctx context.Context, kind Kind[T], r Interface[T], classValue string, optionsFns []controller.OptionsFn) *controller.Impl {
	if len(optionsFns) > 1 {
		panic(fmt.Sprintf("reconciler of %s: want at most one options function, got %d", kind.GVK.Kind, len(optionsFns)))
	}
	queue := queueName(r)
	logger := logging.FromContext(ctx).With(logkey.ControllerType, queue, logkey.Kind, kind.GVK.GroupKind().String())
	rec := New(Config[T]{Kind: kind, Reconciler: r, ClassValue: classValue, Recorder: &record.FakeRecorder{}})
	impl := controller.NewContext(ctx, rec, controller.ControllerOptions{WorkQueueName: queue, Logger: logger})

	options := controller.Options{}
	for _, fn := range optionsFns {
		options = fn(impl)
	}
	if options.Concurrency > 0 {
		impl.Concurrency = options.Concurrency
	}
	rec.configure(options)
	rec.recorder = kindRecorder{EventRecorder: newRecorder(ctx, impl, agentName(kind, options)), gvk: kind.GVK}
	return impl
}

func agentName[T Object[T]](kind Kind[T], o controller.Options) string {
	if o.AgentName != "" {
		return o.AgentName
	}
	return strings.ToLower(kind.GVK.Kind) + "-controller"
}

// queueName is the package path of the reconciler with dots, and its type.
func queueName(r any) string {
	t := reflect.TypeOf(r)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.ReplaceAll(t.PkgPath(), "/", ".") + "." + t.Name()
}

// NewReconciler makes a reconciler without a queue. It takes at most one
// Options and panics on more: a mistake in the program.
func NewReconciler[T Object[T]](cfg Config[T], options []controller.Options) *Reconciler[T] {
	if len(options) > 1 {
		panic(fmt.Sprintf("reconciler of %s: want at most one Options, got %d", cfg.Kind.GVK.Kind, len(options)))
	}
	for _, o := range options {
		cfg.Options = o
	}
	return New(cfg)
}
