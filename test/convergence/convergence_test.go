// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/test/harness"
)

func TestEverythingConverges(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), *work+4*time.Minute)
	defer cancel()
	s := suite.System
	ns, err := s.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "convergence-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{System: s, namespace: ns.Name}
	busy(ctx, t, w)

	if err := harness.Eventually(ctx, "everything is as the specs say", func(ctx context.Context) (bool, error) {
		err := w.atRest(ctx)
		return err == nil, err
	}); err != nil {
		t.Fatalf("seed %d: %v", *seed, err)
	}
	if err := w.quiet(ctx); err != nil {
		t.Errorf("seed %d: %v", *seed, err)
	}
}

// busy is the time in which everybody works.
func busy(ctx context.Context, t *testing.T, w *witness) {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, *work)
	defer stop()
	clients := []*client{newClient(w.Serving.ServingV1(), w.namespace, 1), newClient(w.Serving.ServingV1(), w.namespace, 2)}
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { c.work(ctx) })
	}
	all.Go(func() {
		if err := w.watch(ctx); err != nil {
			t.Errorf("seed %d: %v", *seed, err)
		}
	})
	killed := kill(ctx, t)
	all.Wait()
	for i, c := range clients {
		t.Logf("client %d: %d accepted, refused %v", i, c.accepted, c.refused)
		if c.accepted == 0 {
			t.Error("nothing was accepted")
		}
	}
	t.Logf("%d times Ready was held against answers, the controller was killed %d times", w.judged, killed)
	if w.judged == 0 {
		t.Error("Ready was never held against anything")
	}
}

// kill kills the controller now and then, until ctx is done, and leaves it running. It returns how often.
func kill(ctx context.Context, t *testing.T) (times int) {
	t.Helper()
	random := rand.New(rand.NewPCG(*seed, 0))
	for {
		select {
		case <-ctx.Done():
			return times
		case <-time.After(time.Duration(3000+random.IntN(4000)) * time.Millisecond):
		}
		if suite.Split == nil {
			continue // one process, or somebody else's
		}
		suite.Split.Controller.Kill()
		times++
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond) // down for a while
		if err := suite.Split.Controller.Start(); err != nil {
			t.Error(err)
			return times
		}
	}
}
