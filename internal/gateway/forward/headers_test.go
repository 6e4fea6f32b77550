// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir.dev/internal/gateway/route"
)

// filled returns the request that a program gets for one of a client.
func filled(f *Forwarder, r *http.Request, h2c bool, sets ...route.Header) *exchange {
	x := newExchange(f, httptest.NewRecorder(), r, "/")
	x.fill("/", h2c)
	x.set(sets)
	x.setHost("")
	return x
}

func TestHeaders(t *testing.T) {
	trusting := New(Config{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	strict := New(Config{})
	base := http.Header{"X-Forwarded-For": {"10.1.2.3"}, "X-Forwarded-Proto": {"http"}, "X-Forwarded-Host": {"a.test"}, "Forwarded": {"for=10.1.2.3;host=a.test;proto=http"}}
	with := func(pairs ...string) http.Header {
		h := base.Clone()
		for i := 0; i < len(pairs); i += 2 {
			if h[pairs[i]] = []string{pairs[i+1]}; pairs[i+1] == "" {
				delete(h, pairs[i])
			}
		}
		return h
	}
	tests := map[string]struct {
		reason  string
		f       *Forwarder
		remote  string
		headers http.Header
		set     []route.Header
		want    http.Header
	}{
		"Plain": {"", strict, "10.1.2.3:4", http.Header{"Accept": {"a", "b"}}, nil, func() http.Header { h := base.Clone(); h["Accept"] = []string{"a", "b"}; return h }()},
		"Platform": {"nothing with a meaning inside comes from outside", strict, "10.1.2.3:4", http.Header{
			"K-Network-Probe": {"queue"}, "K-Kubelet-Probe": {"x"}, "K-Proxy-Request": {"activator"}, "K-Original-Host": {"evil.test"},
			"K-Network-Hash": {"override"}, "K-Passthrough-Lb": {"true"}, "Knative-Serving-Revision": {"other"},
			"Knative-Serving-Namespace": {"kube-system"}, "Knative-Serving-Default-Route": {"true"},
			"Knative-Serving-Tag": {"blue"}, "K-Mine": {"kept"},
		}, nil, with("Knative-Serving-Tag", "blue", "K-Mine", "kept")},
		"Hops": {"what belongs to this connection ends here", strict, "10.1.2.3:4", http.Header{
			"Connection": {"keep-alive, X-Mine", "close"}, "X-Mine": {"1"}, "Keep-Alive": {"5"}, "Te": {"gzip, trailers"}, "Trailer": {"X"},
			"Transfer-Encoding": {"chunked"}, "Proxy-Authorization": {"x"}, "Upgrade": {"h2c"}, "Content-Length": {"0"}, "Expect": {"100-continue"},
		}, nil, with("Te", "trailers")},
		"Appended": {"headers of the route replace, those of gateways stay with them", strict, "10.1.2.3:4", http.Header{"X-A": {"client"}},
			[]route.Header{{Name: "X-A", Values: []string{"route"}}, {Name: "Knative-Serving-Revision", Values: []string{"rev"}}}, with("X-A", "route")},
		"NotTrusted": {"a client cannot say how it came", strict, "10.1.2.3:4",
			http.Header{"X-Forwarded-For": {"1.1.1.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"evil.test"}}, nil,
			with("X-Forwarded-For", "1.1.1.1, 10.1.2.3", "Forwarded", "for=1.1.1.1, for=10.1.2.3;host=a.test;proto=http")},
		"Trusted": {"a proxy in front can", trusting, "10.1.2.3:4",
			http.Header{"X-Forwarded-For": {"1.1.1.1", "2.2.2.2"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"b.test"}}, nil,
			with("X-Forwarded-For", "1.1.1.1, 2.2.2.2, 10.1.2.3", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "b.test",
				"Forwarded", "for=1.1.1.1, for=2.2.2.2, for=10.1.2.3;host=a.test;proto=https")},
		"Forwarded": {"this hop is added", strict, "10.1.2.3:4", http.Header{"Forwarded": {"for=unknown"}}, nil,
			with("Forwarded", "for=unknown, for=10.1.2.3;host=a.test;proto=http")},
		"IPv6": {"quoted and in brackets", strict, "[2001:db8::1]:4", nil, nil,
			with("X-Forwarded-For", "2001:db8::1", "Forwarded", `for="[2001:db8::1]";host=a.test;proto=http`)},
		"Injection": {"what a client made up stays one value", strict, "10.1.2.3:4", http.Header{"X-Forwarded-For": {`a";host=evil`}}, nil,
			with("X-Forwarded-For", `a";host=evil, 10.1.2.3`, "Forwarded", `for="a\";host=evil", for=10.1.2.3;host=a.test;proto=http`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://a.test/", nil)
			r.RemoteAddr = test.remote
			for k, v := range test.headers {
				r.Header[k] = v
			}
			sent := r.Header.Clone()
			x := filled(test.f, r, false, test.set...)
			if d := cmp.Diff(test.want, x.request.Header); d != "" {
				t.Errorf("%s\n%s", test.reason, d)
			}
			if d := cmp.Diff(sent, r.Header); d != "" {
				t.Errorf("the request of the client was changed\n%s", d)
			}
			x.end()
		})
	}
}

func TestHostOfTheProgram(t *testing.T) {
	tests := map[string]struct{ rewrite, original, want string }{
		"Kept":     {"", "", "a.test"},
		"Rewrite":  {"inner.local", "", "inner.local"},
		"Original": {"inner.local", "mapped.test", "mapped.test"},
	}
	for name, test := range tests {
		x := newExchange(New(Config{}), httptest.NewRecorder(), httptest.NewRequest("GET", "http://a.test/", nil), "/")
		x.fill("/", false)
		if test.original != "" {
			x.set([]route.Header{{Name: "K-Original-Host", Values: []string{test.original}}})
		}
		if x.setHost(test.rewrite); x.request.Host != test.want || x.request.Header.Get("K-Original-Host") != "" {
			t.Errorf("%s: %q, want %q", name, x.request.Host, test.want)
		}
		x.end()
	}
}

func TestRequestTarget(t *testing.T) {
	tests := map[string]struct {
		reason string
		r      http.Request
		want   string
		ok     bool
	}{
		"AsWritten":     {"escapes are the program's business", req("GET", "/a%2Fb//c?x=%20&y"), "/a%2Fb//c?x=%20&y", true},
		"Absolute":      {"as to a proxy", req("GET", "http://a.test/x?y"), "/x?y", true},
		"AbsoluteBare":  {"", req("GET", "http://a.test"), "/", true},
		"Star":          {"", req("OPTIONS", "*"), "*", true},
		"StarOfGet":     {"only OPTIONS has it", req("GET", "*"), "", false},
		"Connect":       {"no program is a proxy", req("CONNECT", "a.test:443"), "", false},
		"SpaceInPath":   {"HTTP/2 lets it through; it is escaped", req("GET", "/a b"), "/a%20b", true},
		"SpaceInQuery":  {"it would end the target", req("GET", "/a?b c"), "", false},
		"Unicode":       {"", req("GET", "/ü"), "/%C3%BC", true},
		"StrangeMethod": {"", req("GE T", "/"), "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := requestTarget(&test.r)
			if ok != test.ok || ok && got != test.want {
				t.Errorf("%q %t, want %q %t: %s", got, ok, test.want, test.ok, test.reason)
			}
		})
	}
}

func req(method, target string) http.Request {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		u = &url.URL{Opaque: target}
	}
	return http.Request{Method: method, RequestURI: target, URL: u, Host: "a.test"}
}

// Whatever a client sends that net/http accepts, the request line for the program is one that says the same.
func FuzzRequestTarget(f *testing.F) {
	for _, s := range []string{"/", "*", "http://a/b", "//a/b", "/a b", "/%zz", "/?a b", "/a\tb", "/\x7f", "?x", "a:b"} {
		f.Add("GET", s, "a.test")
	}
	f.Fuzz(func(t *testing.T, method, target, host string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		got, ok := requestTarget(&http.Request{Method: method, RequestURI: target, URL: u, Host: host})
		if !ok {
			return
		}
		again, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + got + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")))
		if err != nil {
			if strings.Contains(err.Error(), "malformed Host") {
				return // the server that receives a request refuses these itself
			}
			t.Fatalf("%q %q from %q: %v", method, got, target, err)
		}
		if again.Method != method || again.Host != host || again.URL.Path != u.Path && (u.Path != "" || again.URL.Path != "/") || again.URL.RawQuery != u.RawQuery {
			t.Errorf("%q became %q: %v", target, got, again)
		}
	})
}

func BenchmarkFill(b *testing.B) {
	f := New(Config{})
	r := httptest.NewRequest("GET", "http://a.test/", nil)
	r.RemoteAddr = "10.1.2.3:4"
	r.Header = http.Header{"Accept": {"*/*"}, "User-Agent": {"curl/8"}, "Cookie": {"a=b"}, "Accept-Encoding": {"gzip"}}
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		x := newExchange(f, w, r, "/")
		x.fill("/", false)
		x.end()
	}
}
