// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"fmt"
)

// Event is what a reconcile returns. Nil is quiet success; a ReconcilerEvent
// returned as it is, of whatever type, is success that is recorded on the
// object; anything else is an error, and the key is tried again.
type Event interface {
	error
}

// NewEvent returns an event of type corev1.EventTypeNormal or Warning. The
// format takes %w.
func NewEvent(eventtype, reason, messageFmt string, args ...any) Event {
	return &ReconcilerEvent{EventType: eventtype, Reason: reason, Format: messageFmt, Args: args}
}

// ReconcilerEvent is a Kubernetes event to be recorded on the object at hand.
type ReconcilerEvent struct { //nolint:revive,errname // the public name that controllers match on
	// EventType is corev1.EventTypeNormal or corev1.EventTypeWarning.
	EventType string
	// Reason is the event's reason, in CamelCase.
	Reason string
	// Format and Args are the message, as of fmt.Errorf.
	Format string
	Args   []any
}

// Error returns the message; that of a nil event is empty.
func (e *ReconcilerEvent) Error() string {
	if e == nil {
		return ""
	}
	return e.Unwrap().Error()
}

// Unwrap returns the message as an error, which wraps what Format wraps; nil of
// a nil event.
func (e *ReconcilerEvent) Unwrap() error {
	if e == nil {
		return nil
	}
	return fmt.Errorf(e.Format, e.Args...)
}

// Is matches any event of the same type and reason; what target leaves empty matches all.
func (e *ReconcilerEvent) Is(target error) bool {
	t, ok := target.(*ReconcilerEvent)
	if !ok || t == nil || e == nil {
		return ok && t == e
	}
	return (t.EventType == "" || t.EventType == e.EventType) && (t.Reason == "" || t.Reason == e.Reason)
}

// EventIs is errors.Is.
func EventIs(event Event, target error) bool { return errors.Is(event, target) }

// EventAs is errors.As.
func EventAs(event Event, target any) bool { return errors.As(event, target) }
