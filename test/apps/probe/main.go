// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command probe is the application that tests deploy: it tells what it sees and misbehaves on request.
//
//	/           VERSION, then the revision
//	/info       JSON: environment, headers, protocol, host
//	/sleep?d=   answers after the duration d
//	/load?d=    after the duration d, JSON: how many requests it has now, and had at most
//	/stream?n=  n lines, flushed one by one, 20 ms apart
//	/call?url=  GETs the URL from inside the pod and passes the answer on
//	/ws         WebSocket echo
//	/exit?code= ends the process
//	/log?text=  prints a line to stdout and one to stderr
//	/inspect    JSON: identity, arguments, stdin, and of files: ?stat= ?read= ?list= ?open= (for writing), each any number of times
//	/write?path=&text=          makes a file; with mb= instead of text one of that size
//	/device?path=&major=&minor= makes a character device and opens it
//	/allocate?mb=               takes memory
//	/health/{name}              200, or 503 while it is sick; gRPC's health service says the same of "grpc"
//	/fall/{name}?d=             makes it sick for the duration
//
// Environment: VERSION, START_DELAY (before listening), READY_AFTER (sick so long), CRASH (exit code at start), CRASH_MESSAGE (its
// termination message), ALLOCATE (so many MiB at start), ON_TERM (how long it stays after SIGTERM), LISTEN_PORT (instead of PORT).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

func main() {
	if done, err := command(os.Args[1:]); done {
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if code, err := strconv.Atoi(os.Getenv("CRASH")); err == nil {
		crash(code)
	}
	if mb, err := strconv.Atoi(os.Getenv("ALLOCATE")); err == nil {
		take(mb)
	}
	onTerm()
	if d, err := time.ParseDuration(os.Getenv("START_DELAY")); err == nil {
		time.Sleep(d)
	}
	p := probe{health: health{start: time.Now()}}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Addr:      ":" + cmp.Or(os.Getenv("LISTEN_PORT"), os.Getenv("PORT"), "8080"),
		Handler:   p.handler(),
		Protocols: protocols,
	}
	log.Fatal(server.ListenAndServe())
}

// probe counts the requests in hand.
type probe struct {
	now, most atomic.Int64
	health    health
}

func (p *probe) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", greet)
	mux.HandleFunc("/info", info)
	mux.HandleFunc("/sleep", sleep)
	mux.HandleFunc("/load", p.load)
	mux.HandleFunc("/stream", stream)
	mux.HandleFunc("/call", call)
	mux.HandleFunc("/ws", echo)
	mux.HandleFunc("/exit", exit)
	mux.HandleFunc("/log", printLines)
	mux.HandleFunc("/inspect", inspect)
	mux.HandleFunc("/write", write)
	mux.HandleFunc("/device", device)
	mux.HandleFunc("/allocate", allocate)
	mux.HandleFunc("/health/{name}", p.health.ask)
	mux.HandleFunc("/fall/{name}", p.health.fall)
	mux.HandleFunc("/grpc.health.v1.Health/Check", grpcHealth(&p.health))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := p.now.Add(1)
		defer p.now.Add(-1)
		for m := p.most.Load(); n > m && !p.most.CompareAndSwap(m, n); m = p.most.Load() {
		}
		mux.ServeHTTP(w, r)
	})
}

func greet(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, "%s %s\n", cmp.Or(os.Getenv("VERSION"), "unnamed"), os.Getenv("K_REVISION"))
}

func info(w http.ResponseWriter, r *http.Request) {
	env := map[string]string{}
	for _, e := range os.Environ() {
		k, v, _ := strings.Cut(e, "=")
		env[k] = v
	}
	writeJSON(w, map[string]any{"env": env, "headers": r.Header, "proto": r.Proto, "host": r.Host, "pid": os.Getpid()})
}

func sleep(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.FormValue("d"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(d)
	greet(w, r)
}

func (p *probe) load(w http.ResponseWriter, r *http.Request) {
	if d, err := time.ParseDuration(r.FormValue("d")); err == nil {
		time.Sleep(d)
	}
	host, _ := os.Hostname()
	writeJSON(w, map[string]any{"now": p.now.Load(), "most": p.most.Load(), "instance": host})
}

func stream(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	for i := range n {
		fmt.Fprintf(w, "line %d\n", i)
		if http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func call(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.FormValue("url"), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func echo(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	for {
		kind, msg, err := c.Read(r.Context())
		if err != nil {
			return
		}
		if c.Write(r.Context(), kind, msg) != nil {
			return
		}
	}
}

func exit(_ http.ResponseWriter, r *http.Request) {
	code, _ := strconv.Atoi(r.FormValue("code"))
	os.Exit(code)
}

func printLines(_ http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(os.Stdout, "stdout", r.FormValue("text"))
	fmt.Fprintln(os.Stderr, "stderr", r.FormValue("text"))
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
