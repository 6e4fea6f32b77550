// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalisation is how long one takes.
const finalisation = 20 * time.Millisecond

// witness hears what replicas do, and what of it must not be.
type witness struct {
	*httptest.Server
	things thingClient

	mu         sync.Mutex
	leader     string            // who was promoted last
	terms      int               // how often somebody was
	dead       map[string]bool   // who was killed
	open       map[string]string // UID → the living replica that finalises it
	finished   map[string]string // UID → who came to the end of finalising it
	begun, cut int               // finalisations so far, and those of them that a kill ended
	wrong      []string
}

func newWitness(t *testing.T, things thingClient) *witness {
	w := &witness{
		things: things, dead: map[string]bool{}, open: map[string]string{}, finished: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/lead", w.lead)
	mux.HandleFunc("/begin", w.begin)
	mux.HandleFunc("/end", w.end)
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

func (w *witness) lead(_ http.ResponseWriter, r *http.Request) {
	w.mark(func() {
		w.leader = r.FormValue("replica")
		w.terms++
	})
}

// begin looks whether the thing may be finalised now, and takes a moment, in
// which a kill can come.
func (w *witness) begin(_ http.ResponseWriter, r *http.Request) {
	uid, replica, name := r.FormValue("uid"), r.FormValue("replica"), r.FormValue("name")
	free := w.isFree(r.Context(), name, uid)
	w.mark(func() {
		if w.dead[replica] {
			return // it was killed while we asked
		}
		w.begun++
		if free {
			w.fault("%s finalises %s (%s), whose finalizer is gone", replica, name, uid)
		}
		if other, ok := w.open[uid]; ok {
			w.fault("%s finalises %s (%s), as %s does at this time", replica, name, uid, other)
		}
		if by, ok := w.finished[uid]; ok && !w.dead[by] {
			w.fault("%s finalises %s (%s) again, which %s had done and lives", replica, name, uid, by)
		}
		w.open[uid] = replica
	})
	select {
	case <-time.After(finalisation):
	case <-r.Context().Done():
	}
}

func (w *witness) mark(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *witness) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// isFree asks past all caches whether the thing has no finalizer any more.
func (w *witness) isFree(ctx context.Context, name, uid string) bool {
	o, err := w.things.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	return string(o.GetUID()) != uid || !slices.Contains(o.GetFinalizers(), "things.failures.weir.dev")
}

func (w *witness) end(_ http.ResponseWriter, r *http.Request) {
	w.mark(func() {
		uid, replica := r.FormValue("uid"), r.FormValue("replica")
		if !w.dead[replica] {
			delete(w.open, uid)
			w.finished[uid] = replica
		}
	})
}

// killed says that a replica does not live any more, nor finish anything.
func (w *witness) killed(replica string) {
	w.mark(func() {
		w.dead[replica] = true
		for uid, by := range w.open {
			if by == replica {
				delete(w.open, uid)
				w.cut++
			}
		}
	})
}

// leads returns who leads, and the number of its term.
func (w *witness) leads() (leader string, terms int) {
	w.mark(func() { leader, terms = w.leader, w.terms })
	return leader, terms
}

// check fails the test for what was wrong, and for what did not happen to the
// things of these UIDs.
func (w *witness) check(t *testing.T, uids []string) {
	t.Helper()
	w.mark(func() {
		for _, s := range w.wrong {
			t.Error(s)
		}
		for _, uid := range uids {
			if w.finished[uid] == "" {
				t.Errorf("%s was not finalised", uid)
			}
		}
		t.Logf("%d terms; %d finalisations of %d things, %d cut by a kill", w.terms, w.begun, len(uids), w.cut)
	})
}
