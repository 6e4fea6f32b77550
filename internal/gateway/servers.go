// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// readHeader is how long a client may take over the head of a request.
	readHeader = 20 * time.Second
	// idleClient is how long a connection is kept for a client's next request.
	idleClient = 180 * time.Second
	// maxHeader bounds the head of a request.
	maxHeader = 64 << 10
	// maxStreams is how many requests one HTTP/2 connection may have at a time.
	maxStreams = 1000
)

// servers are the HTTP servers of a gateway, which start and stop together.
type servers struct {
	ctx    context.Context // of all requests
	log    *slog.Logger
	failed chan error
	list   []*http.Server
	tasks  sync.WaitGroup
	active atomic.Int64 // requests in hand, those with changed protocols too
}

func newServers(ctx context.Context, log *slog.Logger) *servers {
	return &servers{ctx: ctx, log: log, failed: make(chan error, 1)}
}

func (s *servers) serve(listeners []net.Listener, h http.Handler) {
	if len(listeners) == 0 {
		return
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:           s.count(h),
		Protocols:         protocols,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ReadHeaderTimeout: readHeader,
		IdleTimeout:       idleClient,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
			SendPingTimeout:               30 * time.Second,
			PingTimeout:                   15 * time.Second,
		},
	}
	s.list = append(s.list, server)
	for _, l := range listeners {
		s.tasks.Go(func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				select {
				case s.failed <- err:
				default:
				}
			}
		})
	}
}

// count keeps the number of requests in hand: net/http forgets those whose protocol was changed.
func (s *servers) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.active.Add(1)
		defer s.active.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// stop lets requests finish within grace, then cuts them by cancelling their context, and returns when all are over.
func (s *servers) stop(ctx context.Context, grace time.Duration, cut context.CancelFunc) {
	defer cut()
	ctx = context.WithoutCancel(ctx)
	within, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, server := range s.list {
		s.tasks.Go(func() {
			if server.Shutdown(within) != nil {
				cut()
				server.Close()
			}
		})
	}
	s.tasks.Wait()
	s.await(within)
	cut()
	s.await(ctx)
}

// await waits until no request is in hand. There is no event for it in net/http, which polls in the same way.
func (s *servers) await(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.active.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
