// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"weir.dev/internal/feed/feedpb"
)

func TestGetAndPost(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		r.serve("hello.test", func(w http.ResponseWriter, req *http.Request) {
			body, _ := io.ReadAll(req.Body)
			w.Header().Set("X-Seen-Proto", req.Proto)
			fmt.Fprintf(w, "%s %s %s [%s]", req.Method, req.RequestURI, req.Host, body)
		}, speak)
		if code, body, _ := get(t, c, "http://hello.test/a%2Fb?q=1"); code != 200 || body != "GET /a%2Fb?q=1 hello.test []" {
			t.Errorf("GET: %d %q", code, body)
		}
		if code, body := post(t, c, "http://hello.test:8080/x", "payload"); code != 200 || body != "POST /x hello.test:8080 [payload]" {
			t.Errorf("POST: %d %q", code, body)
		}
		large := strings.Repeat("0123456789", 100_000)
		if code, body := post(t, c, "http://hello.test/", large); code != 200 || len(body) != len(large)+len("POST / hello.test []") {
			t.Errorf("large POST: %d, %d bytes", code, len(body))
		}
		for range 50 { // over kept connections
			if code, _ := post(t, c, "http://hello.test/", "again"); code != 200 {
				t.Fatalf("POST over a kept connection: %d", code)
			}
		}
	})
}

func TestStreamingBothWays(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		r.serve("echo.test", func(w http.ResponseWriter, req *http.Request) {
			rc := http.NewResponseController(w)
			_ = rc.EnableFullDuplex()
			_ = rc.Flush()
			lines := bufio.NewScanner(req.Body)
			for lines.Scan() {
				fmt.Fprintf(w, "echo %s\n", lines.Text())
				_ = rc.Flush()
			}
		}, speak)
		in, out := io.Pipe()
		req, _ := http.NewRequest("POST", "http://echo.test/", in)
		res, err := c.Do(req) // returns before anything was sent: the head is flushed at once
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answers := bufio.NewReader(res.Body)
		for i := range 5 {
			fmt.Fprintf(out, "line %d\n", i)
			got, err := answers.ReadString('\n')
			if want := fmt.Sprintf("echo line %d\n", i); got != want {
				t.Fatalf("got %q, %v; want %q", got, err, want)
			}
		}
		out.Close()
		if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

func TestTrailersAndInterimResponses(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		r.serve("trailers.test", func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Link", "</style.css>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			w.Header().Set("Trailer", "Announced")
			_, _ = io.WriteString(w, "body")
			_, _ = io.Copy(io.Discard, req.Body)
			w.Header().Set("Announced", "a"+req.Trailer.Get("From-Client"))
			w.Header().Set(http.TrailerPrefix+"Unannounced", "b"+req.Trailer.Get("Knative-Serving-Revision"))
		}, speak)
		req, _ := http.NewRequest("POST", "http://trailers.test/", io.NopCloser(strings.NewReader("x")))
		req.Trailer = http.Header{"From-Client": {"1"}, "Knative-Serving-Revision": {"spoofed"}}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); string(body) != "body" || err != nil {
			t.Fatalf("%q, %v", body, err)
		}
		if res.Trailer.Get("Announced") != "a1" || res.Trailer.Get("Unannounced") != "b" {
			t.Errorf("trailers: %v", res.Trailer)
		}
		if res.Header.Get("Link") != "" {
			t.Error("the head of the interim response is in the final one")
		}
	})
}

// A program that floods its client with interim responses gets no further, and one that goes on while the client leaves or
// its time is over does no harm.
func TestInterimFlood(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		hint := func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }
		r.serve("flood.test", func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Link", "</style.css>")
			switch req.URL.Path {
			case "/endless":
				for range 1000 {
					hint(w)
				}
			case "/leave":
				for range 20 {
					hint(w)
				}
				<-req.Context().Done()
			}
		}, func(b *feedpb.Backend) {
			speak(b)
			b.TimeoutMs = 1000
		})
		if code, _, _ := get(t, c, "http://flood.test/endless"); code != http.StatusBadGateway {
			t.Errorf("status %d after endless interim responses", code)
		}
		if code, _, _ := get(t, c, "http://flood.test/leave"); code != http.StatusGatewayTimeout {
			t.Errorf("status %d after a time-out", code)
		}
		for n := range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*200*time.Microsecond)
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://flood.test/leave", nil)
			if res, err := c.Do(req); err == nil {
				res.Body.Close()
			}
			cancel()
		}
		if code, _, _ := get(t, c, "http://flood.test/"); code != http.StatusOK {
			t.Errorf("status %d in the end", code)
		}
	})
}

// An answer before the request was read reaches the client whole, also one that reads only when it is done sending.
func TestEarlyAnswer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
		r.serve("early.test", func(w http.ResponseWriter, req *http.Request) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		}, speak)
		for range 5 {
			res, err := c.Post("http://early.test/", "text/plain", io.LimitReader(zeros{}, 3<<20))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != 413 || string(body) != "too large\n" || err != nil {
				t.Errorf("%d %q %v", res.StatusCode, body, err)
			}
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestTimeouts(t *testing.T) {
	const limit = 300 // ms
	tests := map[string]struct {
		reason   string
		limits   func(*feedpb.Backend)
		app      http.HandlerFunc
		code     int
		cause    string
		cutInH2  bool
		bodyInH1 string
	}{
		"Total": {
			reason: "nothing was written in time",
			limits: func(b *feedpb.Backend) { b.TimeoutMs = limit },
			app:    func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
			code:   504, cause: "RequestTimeout", bodyInH1: "request timeout",
		},
		"ResponseStart": {
			reason: "the first byte is late",
			limits: func(b *feedpb.Backend) { b.ResponseStartTimeoutMs = limit },
			app:    func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
			code:   504, cause: "ResponseStartTimeout", bodyInH1: "request timeout",
		},
		"Idle": {
			reason: "idleness also counts when nothing was written",
			limits: func(b *feedpb.Backend) { b.IdleTimeoutMs = limit },
			app:    func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
			code:   504, cause: "IdleTimeout", bodyInH1: "request timeout",
		},
		"AfterTheFirstByte": {
			reason: "HTTP/1.1 ends with the text, HTTP/2 resets the stream",
			limits: func(b *feedpb.Backend) { b.TimeoutMs = limit },
			app: func(w http.ResponseWriter, req *http.Request) {
				_, _ = io.WriteString(w, "begun ")
				_ = http.NewResponseController(w).Flush()
				<-req.Context().Done()
			},
			code: 200, cutInH2: true, bodyInH1: "begun request timeout",
		},
		"IdleIsResetByWriting": {
			reason: "a response that goes on is not idle",
			limits: func(b *feedpb.Backend) { b.IdleTimeoutMs, b.TimeoutMs = limit, 0 },
			app: func(w http.ResponseWriter, req *http.Request) {
				for range 6 {
					_, _ = io.WriteString(w, ".")
					_ = http.NewResponseController(w).Flush()
					<-time.After(limit / 3 * time.Millisecond)
				}
			},
			code: 200, bodyInH1: "......",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, r *rig, c *http.Client, speak func(*feedpb.Backend)) {
				r.serve("slow.test", test.app, func(b *feedpb.Backend) { speak(b); test.limits(b) })
				res, err := c.Get("http://slow.test/")
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				if res.StatusCode != test.code || res.Header.Get("Weir-Reason") != test.cause {
					t.Errorf("%d %v; want %d %s: %s", res.StatusCode, res.Header, test.code, test.cause, test.reason)
				}
				if test.cutInH2 && res.ProtoMajor == 2 {
					if err == nil {
						t.Errorf("the stream ended as if it were whole: %q", body)
					}
					return
				}
				if err != nil || string(body) != test.bodyInH1 {
					t.Errorf("%q, %v; want %q", body, err, test.bodyInH1)
				}
				if code, _, _ := get(t, c, "http://unknown.test/"); code != 404 { // the connection is as good as before
					t.Errorf("%d", code)
				}
			})
		})
	}
}

func TestWhoIsServedWhere(t *testing.T) {
	r := newRig(t)
	name := func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, "ok") }
	r.push(backendEvent("rev", nil), instancesEvent("rev", instance("pod", app(t, name), feedpb.Instance_READY)))
	splits := []*feedpb.Split{to("rev", 100)}
	r.ingress("site",
		&feedpb.Rule{Hosts: []string{"site.test"}, Paths: []*feedpb.Path{{Splits: splits}}},
		&feedpb.Rule{Hosts: []string{"site.default.svc.cluster.local"}, ClusterLocal: true, Paths: []*feedpb.Path{{Splits: splits}}})
	tests := map[string]struct {
		address, host string
		want          int
	}{
		"a public host outside":               {r.external, "site.test", 200},
		"a public host inside":                {r.internal, "site.test", 200},
		"in capitals, with port, final dot":   {r.external, "SITE.test.:8080", 200},
		"a cluster-local host inside":         {r.internal, "site.default.svc.cluster.local", 200},
		"a cluster-local host forged outside": {r.external, "site.default.svc.cluster.local", 404},
		"an unknown host":                     {r.external, "other.test", 404},
		"no host":                             {r.external, "", 404},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, h2 := range []bool{false, true} {
				req, _ := http.NewRequest("GET", "http://"+test.address+"/", nil)
				if req.Host = test.host; test.host == "" {
					req.Host = "127.0.0.1"
				}
				res, err := client(t, test.address, h2).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != test.want {
					t.Errorf("HTTP/2 %t: %d, want %d", h2, res.StatusCode, test.want)
				}
			}
		})
	}
}
