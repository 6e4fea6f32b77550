// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package probe finds out whether an instance can serve, once, the way its revision wants it asked. When to ask and how
// often is not its business.
package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Kind is how an instance is asked.
type Kind int

// The kinds, as in the feed.
const (
	TCP      Kind = iota // a connection is enough
	HTTP                 // a GET answered with 200 to 399
	GRPC                 // the gRPC health service says SERVING
	PodReady             // not asked by the gateway: the pod's own condition counts
)

// Spec is the readiness probe of a revision.
type Spec struct {
	Kind    Kind
	Port    int // 0 is the port of the instance
	Path    string
	HTTPS   bool
	Headers map[string]string
	Service string        // gRPC
	Timeout time.Duration // 0 is one second
}

// agent is what kubelet calls itself, so that programs that tell probes by it go on to do so.
const agent = "kube-probe/1.37"

// Dialer opens connections; *net.Dialer does.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Prober asks instances. Safe for use by many goroutines.
type Prober struct {
	dialer Dialer
	http   *http.Client
}

// connectTimeout is shorter than the second after which a kernel repeats a lost SYN: the network of a pod may be a moment
// younger than its address, and the next attempt is then the faster repetition.
const connectTimeout = 250 * time.Millisecond

// New returns a Prober; dialer may be nil.
func New(dialer Dialer) *Prober {
	if dialer == nil {
		dialer = &net.Dialer{Timeout: connectTimeout}
	}
	return &Prober{dialer: dialer, http: &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			TLSClientConfig:        &tls.Config{InsecureSkipVerify: true}, // as kubelet does: a probe proves life, not identity
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Probe asks the instance at ip:port once. nil means that it can serve.
func (p *Prober) Probe(ctx context.Context, address string, s Spec) error {
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.Port != 0 {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("address of the instance: %w", err)
		}
		address = net.JoinHostPort(host, strconv.Itoa(s.Port))
	}
	switch s.Kind {
	case HTTP:
		return p.get(ctx, address, s)
	case GRPC:
		return p.health(ctx, address, s.Service)
	default: // of an instance that only its pod's condition proves, a connection is all that can be asked
		return p.dial(ctx, address)
	}
}

func (p *Prober) dial(ctx context.Context, address string) error {
	c, err := p.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return c.Close()
}

func (p *Prober) get(ctx context.Context, address string, s Spec) error {
	scheme := "http"
	if s.HTTPS {
		scheme = "https"
	}
	path := s.Path
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+path, nil)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "*/*")
	for name, value := range s.Headers {
		req.Header.Set(name, value)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := p.http.Do(req)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 10<<10) // lets the program finish its answer
	if res.StatusCode < 200 || res.StatusCode > 399 {
		return fmt.Errorf("probe: GET %s answered %d", path, res.StatusCode)
	}
	return nil
}
