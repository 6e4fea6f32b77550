// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir.dev/pkg/network"
	"weir.dev/pkg/network/handlers"
)

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// ask sends a request with a header and returns the status and body.
func ask(h http.Handler, header, value string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if header != "" {
		r.Header.Set(header, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		reason        string
		header, value string
		noHealthCheck bool
		want          string
		wantDraining  string
		drainingCode  int
	}{
		"Request":       {"requests are answered to the end", "", "", false, "inner", "inner", 200},
		"Kubelet":       {"readiness ends first", "User-Agent", "kube-probe/1.34", false, "healthy", "shutting down", 503},
		"BehindMesh":    {"a mesh hides the kubelet's user agent", network.KubeletProbeHeaderName, "1", false, "healthy", "shutting down", 503},
		"AnotherProber": {"others probe too", "User-Agent", "Prober/2", false, "healthy", "shutting down", 503},
		"NoHealthCheck": {"who serves is healthy", "User-Agent", "kube-probe/1.34", true, "", "shutting down", 503},
		"Ingress":       {"the inner handler knows its hash", network.ProbeHeaderName, "probe", false, "inner", "shutting down", 503},
		"AnotherProbe":  {"what is not the ingress's is a request", network.ProbeHeaderName, "queue", false, "inner", "inner", 200},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &handlers.Drainer{Inner: answer("inner"), HealthCheck: answer("healthy"), HealthCheckUAPrefixes: []string{"Prober/"}}
				if tc.noHealthCheck {
					d.HealthCheck = nil
				}
				if code, body := ask(d, tc.header, tc.value); code != 200 || body != tc.want {
					t.Errorf("%s: got %d %q, want %q", tc.reason, code, body, tc.want)
				}
				go d.Drain()
				defer d.Reset()
				synctest.Wait()
				if code, body := ask(d, tc.header, tc.value); code != tc.drainingCode || body != tc.wantDraining {
					t.Errorf("%s: while draining got %d %q, want %d %q", tc.reason, code, body, tc.drainingCode, tc.wantDraining)
				}
			})
		})
	}
}

// TestQuiet: requests make a drain last longer, probes do not, and it ends one
// quiet period after the last request, for all who wait for it.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &handlers.Drainer{Inner: answer("inner"), QuietPeriod: 10 * time.Second}
		start := time.Now()
		ended := make(chan time.Duration, 2)
		for range 2 {
			go func() { d.Drain(); ended <- time.Since(start) }()
		}
		time.Sleep(7 * time.Second)
		ask(d, "", "")
		time.Sleep(7 * time.Second)
		ask(d, "User-Agent", network.KubeProbeUAPrefix+"1.34")
		for range 2 {
			if got := <-ended; got != 17*time.Second {
				t.Errorf("the drain ended after %v, want 10s after the request at 7s", got)
			}
		}
		d.Drain()
		if got := time.Since(start); got != 17*time.Second {
			t.Errorf("a drain after the end took until %v", got)
		}
	})
}

func TestDefaultQuietPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		(&handlers.Drainer{Inner: answer("")}).Drain()
		if got := time.Since(start); got != 45*time.Second {
			t.Errorf("the drain took %v", got)
		}
	})
}

// TestReset: a drain that is taken back leaves a server that can drain again.
func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &handlers.Drainer{Inner: answer("inner"), HealthCheck: answer("healthy"), QuietPeriod: time.Second}
		d.Reset()
		for range 2 {
			go func() {
				synctest.Wait()
				d.Reset()
			}()
			start := time.Now()
			d.Drain()
			if took := time.Since(start); took != 0 {
				t.Errorf("the drain took %v though it was taken back", took)
			}
			if code, _ := ask(d, "User-Agent", "kube-probe/1.34"); code != http.StatusOK {
				t.Errorf("the server is not healthy again: %d", code)
			}
		}
	})
}
