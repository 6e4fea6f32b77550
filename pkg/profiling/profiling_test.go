// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package profiling_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/profiling"
)

var logger = zap.NewNop().Sugar()

func get(ctx context.Context, h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx))
	return w
}

func TestProfiles(t *testing.T) {
	const gzip = "\x1f\x8b" // the form of go tool pprof
	tests := map[string]struct {
		reason string
		path   string
		code   int
		prefix string
	}{
		"Index":     {"what there is", "/debug/pprof/", 200, "/debug/pprof/allocs\t"},
		"Command":   {"what runs", "/debug/pprof/cmdline", 200, os.Args[0]},
		"Heap":      {"a profile for the tool", "/debug/pprof/heap?gc=1", 200, gzip},
		"Text":      {"a profile for a person", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile: total"},
		"CPU":       {"a profile of a time", "/debug/pprof/profile?seconds=0", 200, gzip},
		"Trace":     {"what go tool trace reads", "/debug/pprof/trace?seconds=0", 200, "go 1."},
		"Unknown":   {"there is no such profile", "/debug/pprof/nothing", 404, ""},
		"Elsewhere": {"nothing else is served", "/", 404, ""},
		"Delta":     {"silence about a parameter would mislead", "/debug/pprof/heap?seconds=5", 400, "this profile has no duration"},
		"NotANumber": {
			"the parameter is named", "/debug/pprof/profile?seconds=-1", 400, "seconds: ",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := get(t.Context(), profiling.NewHandler(logger, true), tc.path)
			if w.Code != tc.code || !strings.HasPrefix(w.Body.String(), tc.prefix) {
				t.Errorf("%s: got %d %.40q, want %d %q", tc.reason, w.Code, w.Body, tc.code, tc.prefix)
			}
			if w := get(t.Context(), profiling.NewHandler(logger, false), tc.path); w.Code != http.StatusNotFound {
				t.Errorf("%s: it answers %d though it is not enabled", tc.path, w.Code)
			}
		})
	}
}

// TestOneAtATime: there is one CPU profile at a time, and it ends with its client.
func TestOneAtATime(t *testing.T) {
	h := profiling.NewHandler(logger, true)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for get(ctx, h, "/debug/pprof/profile").Code == http.StatusConflict { // one of the requests below was first
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		w := get(t.Context(), h, "/debug/pprof/profile?seconds=0")
		if w.Code == http.StatusConflict {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("two at a time: %d", w.Code)
		}
	}
	leave()
	<-ended
	if w := get(t.Context(), h, "/debug/pprof/profile?seconds=0"); w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte("in use")) {
		t.Errorf("after the end: %d %.40q", w.Code, w.Body)
	}
}

func TestUpdateFromConfigMap(t *testing.T) {
	tests := map[string]struct {
		reason string
		before bool
		value  string
		want   int
	}{
		"Enabled":  {"an operator looks", false, "enabled", 200},
		"Disabled": {"an operator has seen", true, "disabled", 404},
		"Absent":   {"off is the default", true, "", 404},
		"On":       {"a mistake does not switch it off", true, "yes", 200},
		"Off":      {"nor on", false, "yes", 404},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := profiling.NewHandler(logger, tc.before)
			cm := &corev1.ConfigMap{}
			if tc.value != "" {
				cm.Data = map[string]string{"runtime-profiling": tc.value}
			}
			h.UpdateFromConfigMap(cm)
			if got := get(t.Context(), h, "/debug/pprof/").Code; got != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestServer(t *testing.T) {
	t.Setenv(profiling.PortEnvKey, "")
	if got := profiling.NewServer(nil).Addr; got != ":8008" {
		t.Errorf("the default address is %s", got)
	}
	t.Setenv(profiling.PortEnvKey, "9999")
	if got := profiling.NewServer(nil).Addr; got != ":9999" {
		t.Errorf("the address is %s", got)
	}
}

// TestNowhereElse: who serves http.DefaultServeMux serves no profiles for
// having linked this package.
func TestNowhereElse(t *testing.T) {
	if _, pattern := http.DefaultServeMux.Handler(httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil)); pattern != "" {
		t.Errorf("http.DefaultServeMux has %q", pattern)
	}
}
