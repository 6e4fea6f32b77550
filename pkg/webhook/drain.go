// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"

	"weir.dev/pkg/network"
)

// probed answers the kubelet's probes and leaves other requests to next.
type probed struct {
	next http.Handler
	// leaving is closed once the server is about to stop: it is no longer
	// ready, and serves those who have not noticed yet.
	leaving <-chan struct{}
}

func (p probed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !network.IsKubeletProbe(r) {
		p.next.ServeHTTP(w, r)
		return
	}
	select {
	case <-p.leaving:
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	default:
	}
}

// waiting lets requests through once the informers have synced.
type waiting struct {
	next    http.Handler
	synced  <-chan struct{}
	leaving <-chan struct{}
}

func (h waiting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.synced:
		h.next.ServeHTTP(w, r)
		return
	case <-h.leaving:
	case <-r.Context().Done(): // the API server has given up
	}
	http.Error(w, "the informers have not synced", http.StatusServiceUnavailable)
}
