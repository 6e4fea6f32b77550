// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// newProgram2 serves HTTP/2 in cleartext.
func newProgram2(t *testing.T, f http.HandlerFunc) *Peer {
	s := httptest.NewUnstartedServer(f)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	p := New(Config{Address: s.Listener.Addr().String(), H2C: true})
	t.Cleanup(p.Close)
	return p
}

func hints(w http.ResponseWriter, n int) {
	for range n {
		w.WriteHeader(http.StatusEarlyHints)
	}
}

// A client that does not take an interim response keeps its own request waiting and no other, and whoever sent the
// request is not called any more when it is over.
func TestSlowInterim2(t *testing.T) {
	p := newProgram2(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			return
		}
		hints(w, 5)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	q := newRequest("DELETE", "")
	q.Interim = func(int, http.Header) { entered <- struct{}{}; <-leave }
	over := make(chan error, 1)
	go func() {
		_, err := p.RoundTrip(ctx, q)
		over <- err
	}()
	<-entered
	if _, err := do(t, p, newRequest("GET", "")); err != nil {
		t.Error("another request on the connection:", err)
	}
	why := errors.New("enough")
	cancel(why)
	select {
	case <-over:
		close(leave)
		t.Fatal("RoundTrip returned before Interim did")
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	if err := <-over; !errors.Is(err, why) {
		t.Error(err)
	}
	if n := len(entered); n != 0 {
		t.Errorf("%d interim responses after the end", n)
	}
}

func TestManyInterim2(t *testing.T) {
	tests := map[string]struct {
		program http.HandlerFunc
		passed  int
		fails   bool
	}{
		"AsManyAsMayBe": {func(w http.ResponseWriter, _ *http.Request) { hints(w, maxInterim) }, maxInterim, false},
		"TooMany":       {func(w http.ResponseWriter, _ *http.Request) { hints(w, maxInterim+1) }, maxInterim, true},
		"TooLarge": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", strings.Repeat("x", maxHead/2))
			hints(w, 2)
		}, 1, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q, n := newRequest("GET", ""), 0
			q.Interim = func(int, http.Header) { n++ }
			_, err := do(t, newProgram2(t, test.program), q)
			if test.fails != (err != nil) || n > test.passed || !test.fails && n != test.passed {
				t.Errorf("%d interim responses, %v", n, err)
			}
		})
	}
}
