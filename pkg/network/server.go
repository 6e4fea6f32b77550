// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// DefaultDrainTimeout is how long a server that leaves goes on to answer: time
// for its endpoint to disappear from every load balancer.
const DefaultDrainTimeout = 45 * time.Second

const (
	// readHeaderTimeout is how long a client may take over the head of a request.
	readHeaderTimeout = time.Minute
	// idleTimeout is how long a connection is kept for the next request: longer
	// than the 90 s for which our transports keep it, so that the side that sends
	// requests is the one that closes.
	idleTimeout = 2 * time.Minute
)

// NewServer returns a server of HTTP/1.1 and, by prior knowledge, HTTP/2
// without TLS (h2c); with ServeTLS, of both after negotiation. Bodies may take
// any time: they may be streams.
func NewServer(addr string, h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
	}
}

// ErrorHandler returns what a reverse proxy does when a request fails: it logs
// the error and answers 502 with its text. A client that has gone away gets no
// answer, and is no error.
func ErrorHandler(logger *zap.SugaredLogger) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if errors.Is(r.Context().Err(), context.Canceled) {
			logger.Debugw("The client went away", "host", r.Host, "error", err)
			return
		}
		logger.Errorw("Proxying a request failed", "method", r.Method, "host", r.Host, "error", err)
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}
