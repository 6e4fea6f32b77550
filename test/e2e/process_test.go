// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/test/harness"
)

// processLimit is a hang detector for tests that start processes of their own.
const processLimit = 5 * time.Minute

// newOwn starts a Weir for one test; the machine must be afterwards what it was before.
func newOwn(t *testing.T) (context.Context, *harness.Weir, *harness.System) {
	t.Helper()
	if suite.Own == nil {
		t.Skip("the system under test is not a process of ours")
	}
	if testing.Short() {
		t.Skip("short: the long run has been through it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), processLimit)
	t.Cleanup(cancel)
	dir := filepath.Join(t.TempDir(), "data")
	before, err := harness.TakeFootprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkLeftovers(t, dir, before) })
	w, err := suite.Start(ctx, dir, output(t), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ctx, w, connect(t, w)
}

func connect(t *testing.T, w *harness.Weir) *harness.System {
	t.Helper()
	s, err := harness.Connect(w.Kubeconfig(), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// output is a file whose content is logged if the test fails.
func output(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			harness.Dump(f.Name())
		}
		f.Close()
	})
	return f
}

func checkLeftovers(t *testing.T, dir string, before harness.Footprint) {
	t.Helper()
	after, err := harness.TakeFootprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range after.Beyond(before) {
		t.Errorf("left behind: %s", left)
	}
}

func TestContainersSurviveACrashOfWeir(t *testing.T) {
	ctx, weir, s := newOwn(t)
	w := newWorldIn(ctx, t, s)
	svc := w.deploy(probeService("app", annotate("autoscaling.knative.dev/min-scale", "1")))
	before := podStarts(w)

	weir.Kill()
	again, err := harness.Start(suite.Binary, weir.DataDir, output(t), "--listen", listenOf(svc.Status.URL.Host))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	w.System = connect(t, again)
	w.eventually("the service answers again", func() (bool, error) {
		a, err := w.Get(ctx, svc.Status.URL.String())
		return err == nil && a.Status == 200, err
	})
	if after := podStarts(w); after != before {
		t.Errorf("containers before the crash: %s; after: %s", before, after)
	}
	w.t.Cleanup(func() {
		if err := stop(again); err != nil {
			t.Error(err)
		}
	})
}

// listenOf gives the loopback address for the port of a URL's host.
func listenOf(host string) string {
	return "127.0.0.1" + host[bytes.LastIndexByte([]byte(host), ':'):]
}

// podStarts names each container and when it started: another name or time means another process.
func podStarts(w *world) string {
	w.t.Helper()
	out := ""
	for _, p := range w.pods() {
		for _, c := range p.Status.ContainerStatuses {
			if c.State.Running != nil {
				out += p.Name + " " + c.ContainerID + " " + c.State.Running.StartedAt.String() + "\n"
			}
		}
	}
	return out
}

func TestPurgeCleansAfterACrash(t *testing.T) {
	ctx, weir, s := newOwn(t)
	w := newWorldIn(ctx, t, s)
	w.deploy(probeService("app", annotate("autoscaling.knative.dev/min-scale", "1")))
	weir.Kill()
	if err := harness.Purge(ctx, suite.Binary, weir.DataDir, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(weir.DataDir); !os.IsNotExist(err) {
		t.Errorf("the data directory is still there: %v", err)
	}
	// What else is left, newOwn's clean-up finds.
}

func TestTwoWeirsSideBySide(t *testing.T) {
	mine := newWorld(t)
	mineSvc := mine.deploy(probeService("app", env("VERSION", "mine"), annotate("autoscaling.knative.dev/min-scale", "1")))

	ctx, other, s := newOwn(t)
	w := newWorldIn(ctx, t, s)
	svc := w.deploy(probeService("app", env("VERSION", "other")))
	w.getOK(svc.Status.URL.String())
	mine.getOK(mineSvc.Status.URL.String())
	if _, err := suite.System.Kube.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{}); err == nil {
		t.Error("two Weirs share a cluster")
	}
	if err := stop(other); err != nil {
		t.Fatal(err)
	}
	mine.getOK(mineSvc.Status.URL.String())
}

// TestStateSurvivesRestarts stops and starts Weir as often as a program may crash before its callers are told: these ends are
// no fault of the program.
func TestStateSurvivesRestarts(t *testing.T) {
	ctx, weir, s := newOwn(t)
	w := newWorldIn(ctx, t, s)
	svc := w.deploy(probeService("app", env("VERSION", "kept"), annotate("autoscaling.knative.dev/min-scale", "1")))
	url := svc.Status.URL.String()
	for i := range 3 {
		watchSomething(ctx, t, w.System)
		if err := stop(weir); err != nil {
			t.Fatal(err)
		}
		again, err := harness.Start(suite.Binary, weir.DataDir, output(t), "--listen", listenOf(svc.Status.URL.Host))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		weir, w.System = again, connect(t, again)
		if a, err := w.Get(ctx, url); err != nil || a.Status != 200 {
			t.Errorf("restart %d: the first request is answered %d %q, %v", i+1, a.Status, a.Body, err)
		}
	}
	w.ready("app")
	if err := stop(weir); err != nil {
		t.Error(err)
	}
}

// watchSomething leaves a watch open, as controllers and kubectl get --watch do. No stop is to wait for its end.
func watchSomething(ctx context.Context, t *testing.T, s *harness.System) {
	t.Helper()
	watching, err := s.Kube.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watching.Stop)
}

// TestRequestsInHandOutliveTheStop interrupts Weir in the middle of an answer.
func TestRequestsInHandOutliveTheStop(t *testing.T) {
	ctx, weir, s := newOwn(t)
	w := newWorldIn(ctx, t, s)
	svc := w.deploy(probeService("app"))
	const chunks = 150 // three seconds
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, svc.Status.URL.String()+"/stream?n="+strconv.Itoa(chunks), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Scan() // the answer has begun
	stopped := make(chan error, 1)
	go func() { stopped <- stop(weir) }()
	n := 1
	for lines.Scan() {
		n++
	}
	if err := lines.Err(); err != nil || n != chunks {
		t.Errorf("got %d of %d lines of the answer: %v", n, chunks, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestDomainFollowsTheFlag starts anew with another domain, one that a person has added before: the one set by the flag
// before goes, what persons wrote stays.
func TestDomainFollowsTheFlag(t *testing.T) {
	ctx, weir, s := newOwn(t)
	if err := s.SetConfig(ctx, "config-domain", map[string]string{"mine.example": "", "other.example": "selector:\n  app: other"}); err != nil {
		t.Fatal(err)
	}
	if err := stop(weir); err != nil {
		t.Fatal(err)
	}
	again, err := suite.Start(ctx, weir.DataDir, output(t), "--listen", "127.0.0.1:0", "--domain", "mine.example")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(again); err != nil {
			t.Error(err)
		}
	})
	s = connect(t, again)
	m, err := s.Kube.CoreV1().ConfigMaps("knative-serving").Get(ctx, "config-domain", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	delete(m.Data, "_example")
	if got := slices.Sorted(maps.Keys(m.Data)); !slices.Equal(got, []string{"mine.example", "other.example"}) {
		t.Errorf("config-domain has the keys %q", got)
	}
	svc := newWorldIn(ctx, t, s).deploy(probeService("app"))
	if host := svc.Status.URL.Host; !strings.Contains(host, ".mine.example") {
		t.Errorf("the Service's host is %q", host)
	}
}

func stop(w *harness.Weir) error {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second) // less than an API server gives open connections
	defer cancel()
	return w.Stop(ctx)
}
