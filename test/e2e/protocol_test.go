// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"

	servingv1 "weir.dev/api/serving/v1"
)

// seen is what the test application tells of a request.
type seen struct {
	Env     map[string]string
	Headers http.Header
	Proto   string
	Host    string
}

func (w *world) info(req *http.Request, client *http.Client) seen {
	w.t.Helper()
	resp, err := client.Do(req.WithContext(w.ctx))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var s seen
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestContainerSeesItsRequest(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	req := request(t, svc.Status.URL.String()+"/info")
	req.Header.Set("X-Mine", "kept")
	req.Header.Set("Knative-Serving-Revision", "spoofed")
	s := w.info(req, w.HTTP)
	if want := svc.Status.URL.Host; s.Host != want {
		t.Errorf("Host %q, want %q as the client sent it", s.Host, want)
	}
	if got := s.Headers.Get("X-Mine"); got != "kept" {
		t.Errorf("a client's header arrived as %q", got)
	}
	if got := s.Headers.Get("Knative-Serving-Revision"); got != "" {
		t.Errorf("the platform's header reaches the container: %q", got)
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded"} {
		if s.Headers.Get(name) == "" {
			t.Errorf("header %s is missing", name)
		}
	}
	want := map[string]string{
		"PORT": "8080", "K_SERVICE": "app", "K_CONFIGURATION": "app", "K_REVISION": svc.Status.LatestReadyRevisionName,
	}
	for name, value := range want {
		if s.Env[name] != value {
			t.Errorf("environment %s=%q, want %q", name, s.Env[name], value)
		}
	}
}

func TestPortNameChoosesTheProtocol(t *testing.T) {
	cases := map[string]struct{ reason, port, want string }{
		"unnamed": {"HTTP/1.1 is the default", "", "HTTP/1.1"},
		"http1":   {"asked for", "http1", "HTTP/1.1"},
		"h2c":     {"prior knowledge, without upgrade", "h2c", "HTTP/2.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			svc := w.deploy(probeService("app", func(s *servingv1.Service) {
				s.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: tc.port, ContainerPort: 8081}}
			}))
			s := w.info(request(t, svc.Status.URL.String()+"/info"), w.HTTP)
			if s.Proto != tc.want {
				t.Errorf("the container sees %s, want %s: %s", s.Proto, tc.want, tc.reason)
			}
		})
	}
}

func TestHTTP2Client(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := w.HTTP.Transport.(*http.Transport).Clone()
	transport.Protocols = protocols
	defer transport.CloseIdleConnections()
	s := w.info(request(t, svc.Status.URL.String()+"/info"), &http.Client{Transport: transport})
	if s.Env["K_SERVICE"] != "app" {
		t.Errorf("answered by %q", s.Env["K_SERVICE"])
	}
}

func TestStreamArrivesLineByLine(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	resp, err := w.HTTP.Do(request(t, svc.Status.URL.String()+"/stream?n=10").WithContext(w.ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var first, last time.Time
	for n := 0; lines.Scan(); n++ {
		if last = time.Now(); n == 0 {
			first = last
		}
	}
	// The application pauses between lines; a buffer on the way would deliver all at once.
	if last.Sub(first) < 50*time.Millisecond {
		t.Errorf("all lines came within %v: somebody gathers them", last.Sub(first))
	}
}

func TestWebSocketFromZero(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	w.waitZero()
	u := svc.Status.URL.String()
	c, _, err := websocket.Dial(w.ctx, u+"/ws", &websocket.DialOptions{HTTPClient: w.HTTP})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, msg := range []string{"first", "second"} {
		if err := c.Write(w.ctx, websocket.MessageText, []byte(msg)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(w.ctx); err != nil || string(got) != msg {
			t.Fatalf("echo %q, error %v", got, err)
		}
	}
}

func TestUnknownHostIs404(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	u, err := url.Parse(svc.Status.URL.String())
	if err != nil {
		t.Fatal(err)
	}
	for name, host := range map[string]string{
		"unknown":       "nobody." + u.Hostname(),
		"cluster-local": "app." + w.ns + ".svc.cluster.local",
		"odd":           "..",
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, svc.Status.URL.String())
			req.Host = host
			resp, err := w.HTTP.Do(req.WithContext(w.ctx))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusBadRequest {
				t.Errorf("host %q answers %d", host, resp.StatusCode)
			}
		})
	}
}

func TestGarbageDoesNotHurt(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	u := svc.Status.URL.Host
	port := "80"
	if _, p, err := net.SplitHostPort(u); err == nil {
		port = p
	}
	addr := net.JoinHostPort("127.0.0.1", port)
	if suite.Gateway() != "" {
		addr = suite.Gateway()
	}
	for name, bytes := range map[string]string{
		"binary":         "\x00\x01\x02\xff\r\n\r\n",
		"no host":        "GET / HTTP/1.1\r\n\r\n",
		"two hosts":      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"smuggling":      "POST / HTTP/1.1\r\nHost: " + u + "\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"endless header": "GET / HTTP/1.1\r\nHost: " + u + "\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write([]byte(bytes))
			_, _ = conn.Read(make([]byte, 512))
		})
	}
	w.getOK(svc.Status.URL.String())
}
