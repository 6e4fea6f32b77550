// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/reconciler"
	"weir.dev/test/harness"
)

// ownServer is an API server that a test may kill.
type ownServer struct {
	weir *harness.Weir
	out  *os.File
	cfg  *rest.Config
}

// newServer starts one that ends with the test.
func newServer(ctx context.Context, t *testing.T) *ownServer {
	t.Helper()
	if suite.Binary == "" {
		t.Skip("without -weir there is no server of our own")
	}
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	s := &ownServer{out: out}
	t.Cleanup(func() { s.close(t) })
	s.start(ctx, t, filepath.Join(dir, "data"))
	system, err := harness.Connect(s.weir.Kubeconfig(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.cfg = system.Config
	if err := installThings(ctx, s.cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *ownServer) start(ctx context.Context, t *testing.T, dataDir string) {
	t.Helper()
	var err error
	if s.weir, err = suite.Start(ctx, dataDir, s.out, "--listen", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
}

func (s *ownServer) close(t *testing.T) {
	defer s.out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if s.weir == nil {
		return
	}
	if err := s.weir.Stop(ctx); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		harness.Dump(s.out.Name())
	}
}

// leading tells when the replica begins and ceases to lead.
type leading struct{ begins, ends chan struct{} }

func newLeading() leading {
	return leading{begins: make(chan struct{}, 100), ends: make(chan struct{}, 100)}
}

func (l leading) options(*controller.Impl) controller.Options {
	return controller.Options{
		PromoteFunc: func(reconciler.Bucket) { l.begins <- struct{}{} },
		DemoteFunc:  func(reconciler.Bucket) { l.ends <- struct{}{} },
	}
}

// TestServerGone kills the API server and starts it again a while later. What
// competes for leadership pauses, what need not goes on, and both reconcile what
// changed since, without being started again.
func TestServerGone(t *testing.T) {
	t.Parallel()
	away := time.Minute
	if testing.Short() {
		away = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), away+2*hang)
	defer cancel()
	server := newServer(ctx, t)
	const count = 20

	elected, alone := newNamespace(ctx, t, server.cfg), newNamespace(ctx, t, server.cfg)
	lead, seen := newLeading(), newCopier()
	settings := newSettings()
	components := []*component{
		start(scoped(ctx, elected), t, server.cfg, newThingController(newCopier(), lead.options)),
		start(sharedmain.WithHADisabled(scoped(ctx, alone)), t, server.cfg, settings.wrap(newThingController(seen))),
	}
	clients := []thingClient{newThingClient(t, server.cfg, elected), newThingClient(t, server.cfg, alone)}
	for _, things := range clients {
		each(t, count, func(name string) error { return things.create(ctx, name, "before") })
		things.allDone(ctx, t, count)
	}
	receive(ctx, t, lead.begins, "the replica leads")

	for _, things := range clients { // nobody may forget what comes just before the end
		each(t, count/2, func(name string) error { return things.set(ctx, name, "at the last moment") })
	}
	server.weir.Kill()
	back := time.After(away)
	receive(ctx, t, lead.ends, "the replica ceases to lead")
	receive(ctx, t, back, "the server was away for long enough")
	server.start(ctx, t, server.weir.DataDir)

	for _, things := range clients {
		if err := things.Delete(ctx, "thing-0", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := things.set(ctx, "thing-1", "after"); err != nil {
			t.Fatal(err)
		}
		if err := things.create(ctx, "thing-new", "after"); err != nil {
			t.Fatal(err)
		}
	}
	settings.set(ctx, t, server.cfg, alone, "after")
	receive(ctx, t, lead.begins, "the replica leads again")
	for _, things := range clients {
		things.allDone(ctx, t, count)
	}
	await(ctx, t, "the deletion is observed", func(context.Context) (bool, error) { return seen.isGone("thing-0"), nil })
	settings.await(ctx, t, "after")
	for _, c := range components {
		c.mustRun(t)
	}
}

// receive waits for something to come.
func receive[T any](ctx context.Context, t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-ctx.Done():
		t.Fatalf("%s: it never came", what)
	}
	return *new(T)
}
