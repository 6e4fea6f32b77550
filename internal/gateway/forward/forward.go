// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/route"
)

// Table is the routing table with backends as targets.
type Table = route.Table[*backend.Backend]

// Config of a Forwarder.
type Config struct {
	// Table returns the table to route by. While there is none it may wait for one as long as ctx lasts; nil is none.
	Table func(ctx context.Context) *Table
	// Trusted are the addresses whose X-Forwarded-Proto and X-Forwarded-Host are believed.
	Trusted []netip.Prefix
	// Log receives failures of instances at level Debug; nil is no log.
	Log *slog.Logger
}

// Forwarder makes the handlers of the listeners. Safe for use by many goroutines.
type Forwarder struct {
	config  Config
	buffers sync.Pool // of *[]byte
	headers sync.Pool // of http.Header
	winding struct {
		sync.WaitGroup
		ctx    context.Context
		cancel context.CancelFunc
	}
}

const bufferSize = 32 << 10

// New returns a Forwarder.
func New(c Config) *Forwarder {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	f := &Forwarder{config: c}
	f.buffers.New = func() any {
		b := make([]byte, bufferSize)
		return &b
	}
	f.winding.ctx, f.winding.cancel = context.WithCancel(context.Background())
	f.headers.New = func() any { return make(http.Header, 24) }
	return f
}

// Close cuts the connections that only wait for programs to be done. No request may be in hand any more.
func (f *Forwarder) Close() {
	f.winding.cancel()
	f.winding.Wait()
}

// External serves the hosts that are not cluster-local.
func (f *Forwarder) External() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, false) })
}

// Internal serves all hosts.
func (f *Forwarder) Internal() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, true) })
}

func (f *Forwarder) serve(w http.ResponseWriter, r *http.Request, internal bool) {
	target, ok := requestTarget(r)
	if !ok {
		answer(w, http.StatusBadRequest, "", "weir: this cannot be requested of a program behind a gateway\n")
		return
	}
	x := newExchange(f, w, r, target)
	defer x.end()
	x.run(internal)
	x.ran = true
}

// ReasonHeader names the cause of an answer that the gateway gave itself.
const ReasonHeader = "Weir-Reason"

// answer writes a response of the gateway's own.
func answer(w http.ResponseWriter, code int, reason, text string) {
	h := w.Header()
	if reason != "" {
		h.Set(ReasonHeader, reason)
	}
	if text != "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
	}
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text))
}
