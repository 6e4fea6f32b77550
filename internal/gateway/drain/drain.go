// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package drain answers the platform's own questions to a gateway, on a listener that clients do not reach: whether the
// terminating instances of a revision are done (asked by their preStop hooks), and whether the gateway serves. Asking changes
// nothing.
package drain

import (
	"context"
	"net/http"
)

// Waiter returns when no terminating instance of a revision has a request in hand; *backend.Set does.
type Waiter interface {
	Drained(ctx context.Context, namespace, revisionUID string) error
}

// New returns the handler of GET /drain/<namespace>/<revision UID> and GET /healthz.
func New(w Waiter, ready func() bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /drain/{namespace}/{uid}", func(rw http.ResponseWriter, r *http.Request) {
		if err := w.Drained(r.Context(), r.PathValue("namespace"), r.PathValue("uid")); err != nil {
			panic(http.ErrAbortHandler) // the asker left, or the gateway ends: no answer is no permission
		}
		rw.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(rw, "no complete snapshot yet", http.StatusServiceUnavailable)
		}
	})
	return mux
}
