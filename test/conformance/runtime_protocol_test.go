// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// "HTTP/1.1 MUST be delivered", on a default port where none is given; "h2c means HTTP/2 with prior knowledge, a named port
// disables negotiation."
func TestRuntimeProtocols(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ports  []corev1.ContainerPort
		want   string
	}{
		"no port": {"8080, HTTP/1.1", nil, "HTTP/1.1"},
		"unnamed": {"a number alone says nothing of the protocol", []corev1.ContainerPort{{ContainerPort: 8801}}, "HTTP/1.1"},
		"http1":   {"asked for", []corev1.ContainerPort{{Name: "http1", ContainerPort: 8801}}, "HTTP/1.1"},
		"h2c":     {"asked for, and not negotiated", []corev1.ContainerPort{{Name: "h2c", ContainerPort: 8801}}, "HTTP/2.0"},
		"h2c alone": {"a name without a number is that of the default port",
			[]corev1.ContainerPort{{Name: "h2c"}}, "HTTP/2.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			app := s.run(container(func(c *corev1.Container) { c.Ports = tc.ports }))
			if got := s.info(app).Proto; got != tc.want {
				t.Errorf("the container sees %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// Host and Forwarded "MUST" be there, X-Forwarded-For, X-Forwarded-Proto and the context of traces "SHOULD"; all else arrives as it
// was sent.
func TestRuntimeHeaders(t *testing.T) {
	s := parallelSpace(t)
	app := s.run()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-"
	got := s.infoWith(app, http.Header{
		"Traceparent": {trace + "b7ad6b7169203331-01"}, "Tracestate": {"vendor=value"},
		"X-Mine": {"one", "two"}, "Accept-Language": {"de"}, "Knative-Serving-Revision": {"spoofed"},
	})
	if want := hostOf(t, app); got.Host != want {
		t.Errorf("Host is %q, want %q as it was sent", got.Host, want)
	}
	for name, pattern := range map[string]string{
		"Forwarded":         "^for=.+;.*proto=http",
		"X-Forwarded-For":   "[0-9.:]+",
		"X-Forwarded-Proto": "^http$",
		"Traceparent":       "^" + trace + "[0-9a-f]{16}-01$",
		"Tracestate":        "vendor=value",
		"X-Mine":            "^one, ?two$",
		"Accept-Language":   "^de$",
	} {
		if value := strings.Join(got.Headers.Values(name), ", "); !regexp.MustCompile(pattern).MatchString(value) {
			t.Errorf("%s is %q, want %s", name, value, pattern)
		}
	}
	for name := range got.Headers {
		if strings.HasPrefix(name, "K-") || strings.HasPrefix(name, "Knative-") {
			t.Errorf("the platform's own %s reaches the container: %q", name, got.Headers[name])
		}
	}
}

// infoWith asks the program with headers of one's own.
func (s *space) infoWith(app string, headers http.Header) seen {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, app+"/info", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = headers
	resp, err := s.HTTP.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var i seen
	if err := json.NewDecoder(resp.Body).Decode(&i); err != nil {
		s.t.Fatal(err)
	}
	return i
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
