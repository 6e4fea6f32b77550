// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"
)

const (
	root = "/debug/pprof/"

	// defaultCPU and defaultTrace are the durations of who asks for none.
	defaultCPU   = 30 * time.Second
	defaultTrace = time.Second
)

// newMux has the paths and parameters that go tool pprof and go tool trace
// know. Two profiles are compared with -base, instead of by the parameter
// seconds.
func newMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"{$}", serveIndex)
	mux.HandleFunc("GET "+root+"cmdline", serveCommand)
	mux.HandleFunc("GET "+root+"profile", serveFor(defaultCPU, pprof.StartCPUProfile, pprof.StopCPUProfile))
	mux.HandleFunc("GET "+root+"trace", serveFor(defaultTrace, trace.Start, trace.Stop))
	mux.HandleFunc("GET "+root+"{profile}", serveProfile)
	return mux
}

// serveIndex lists the profiles, with the number of their entries.
func serveIndex(w http.ResponseWriter, _ *http.Request) {
	setHeader(w, "text/plain; charset=utf-8", "")
	for _, p := range pprof.Profiles() {
		_, _ = fmt.Fprintf(w, "%s%s\t%d\n", root, p.Name(), p.Count())
	}
	_, _ = fmt.Fprintf(w, "%[1]scmdline\n%[1]sprofile?seconds=30\n%[1]strace?seconds=1\n", root)
}

// serveCommand is the command line; go tool pprof names the program by it.
func serveCommand(w http.ResponseWriter, _ *http.Request) {
	setHeader(w, "text/plain; charset=utf-8", "")
	_, _ = io.WriteString(w, strings.Join(os.Args, "\x00"))
}

// serveProfile is a profile of what is now, in text with debug.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("profile")
	profile := pprof.Lookup(name)
	if profile == nil {
		http.NotFound(w, r)
		return
	}
	debug, err := number(r, "debug", 0)
	if err == nil && r.FormValue("seconds") != "" {
		err = errors.New("this profile has no duration: take two, and compare them with -base")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if collect, _ := number(r, "gc", 0); collect > 0 && name == "heap" {
		runtime.GC()
	}
	if debug > 0 {
		setHeader(w, "text/plain; charset=utf-8", "")
	} else {
		setHeader(w, "application/octet-stream", name)
	}
	_ = profile.WriteTo(w, debug) // a client that went away
}

// serveFor is what is recorded between start and stop, of which there is one
// at a time.
func serveFor(byDefault time.Duration, start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seconds, err := number(r, "seconds", int(byDefault/time.Second))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		setHeader(w, "application/octet-stream", "profile")
		if err := start(w); err != nil {
			w.Header().Del("Content-Disposition")
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		defer stop()
		wait(r.Context(), time.Duration(seconds)*time.Second)
	}
}

// number is a parameter of the request that is not negative.
func number(r *http.Request, name string, byDefault int) (int, error) {
	value := r.FormValue(name)
	if value == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return int(n), nil
}

func setHeader(w http.ResponseWriter, contentType, file string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if file != "" {
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", file))
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
