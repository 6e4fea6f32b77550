// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
	"time"

	"weir.dev/internal/gateway/probe"
)

// Kind says what a backend is.
type Kind int

// The kinds, as in the feed.
const (
	Revision Kind = iota // can be woken
	Service              // a plain Kubernetes Service
)

// Spec is what the feed says about a backend. It is not changed once given.
type Spec struct {
	UID  string
	Kind Kind
	// H2C says that instances speak HTTP/2 without TLS, with prior knowledge.
	H2C bool
	// Concurrency is how many requests an instance may have at a time; 0 is any number.
	Concurrency int
	// Limits on the time of a request, 0 is none; see package forward.
	Timeout, ResponseStart, Idle time.Duration
	Probe                        probe.Spec
	// FailureReason is why no instance can start, "" while that is not known.
	FailureReason, FailureMessage string
}

// State is what the feed says about an instance.
type State int

// The states, as in the feed.
const (
	Starting    State = iota // has an address, was never Ready: the gateway may probe it
	Ready                    // the pod's condition is true
	NotReady                 // was Ready, is not now: nothing new is sent
	Terminating              // nothing new is sent, requests in hand finish
)

// Endpoint is one instance as the feed describes it.
type Endpoint struct {
	UID, Name, Address string // Address is ip:port
	State              State
}

// Error is why a request gets no instance.
type Error struct {
	// Reason is one word for machines: QueueFull, MemoryFull, UnknownBackend, NoEndpoints, or that of the failure.
	Reason string
	// Message is for people.
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// The reasons of our own.
const (
	QueueFull      = "QueueFull"
	MemoryFull     = "MemoryFull"
	UnknownBackend = "UnknownBackend"
	NoEndpoints    = "NoEndpoints"
)

var (
	errQueueFull  = &Error{QueueFull, "pending request queue full"}
	errMemoryFull = &Error{MemoryFull, "pending request queue full: the gateway holds as many requests as it may"}
)

func (b *Backend) failure(s *Spec) *Error {
	message := fmt.Sprintf("weir: revision %s cannot start: %s", b.ref, s.FailureReason)
	if s.FailureMessage != "" {
		message += ": " + s.FailureMessage
	}
	return &Error{s.FailureReason, message}
}
