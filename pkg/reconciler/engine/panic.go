// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/reconciler"
)

// panicError is the error that a panic of a typed reconciler becomes.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("the reconciler panicked: %v", e.value) }

func isPanic(err error) bool { return err != nil && errors.As(err, &panicError{}) }

// contain calls a method of a typed reconciler. Its panic becomes an error:
// what breaks it with one object must not end the work on all others, and whoever
// looks at the object is told by an event. The stack is in the log.
func contain[T any](ctx context.Context, method func(context.Context, T) reconciler.Event, obj T) (event reconciler.Event) {
	defer func() {
		if r := recover(); r != nil {
			logging.FromContext(ctx).Errorw("The reconciler panicked", "panic", r, "stack", string(debug.Stack()))
			event = panicError{value: r}
		}
	}()
	event = method(ctx, obj)
	if e, ok := event.(*reconciler.ReconcilerEvent); ok && e == nil {
		return nil // a nil of a type is meant as nil
	}
	return event
}
