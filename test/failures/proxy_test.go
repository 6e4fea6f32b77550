// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// expiry is how a watch that has expired is told so.
type expiry string

const (
	byStatus expiry = "status" // the request for it is answered 410
	byEvent  expiry = "event"  // its first event is an error of 410
)

// proxy stands between a component and the API server. It can cut all watches
// and let nobody follow one on, only list anew.
type proxy struct {
	*httptest.Server
	next http.Handler

	mu     sync.Mutex
	how    expiry             // "" while watches are passed on
	gate   chan struct{}      // closed while anybody may list or watch
	cut    context.Context    // done when the watches of now are cut
	cutNow context.CancelFunc //
	told   map[string]bool    // paths whose watch was told so
}

func newProxy(t *testing.T, cfg *rest.Config) *proxy {
	t.Helper()
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{gate: make(chan struct{})}
	close(p.gate)
	p.cut, p.cutNow = context.WithCancel(context.Background())
	p.next = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.cutNow()
		p.Close()
	})
	return p
}

// config is that of a component behind the proxy.
func (p *proxy) config() *rest.Config { return &rest.Config{Host: p.URL, QPS: -1} }

// blind cuts all watches; lists and watches wait until see.
func (p *proxy) blind() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
	p.cutNow()
	p.cut, p.cutNow = context.WithCancel(context.Background())
}

// see lets lists and watches through again, but for watches that would go on
// from what was seen before blind: these have expired.
func (p *proxy) see(how expiry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.how, p.told = how, map[string]bool{}
	close(p.gate)
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	watches := query.Get("watch") == "true" || query.Get("watch") == "1"
	if !watches {
		p.next.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	select {
	case <-gate:
	case <-r.Context().Done():
		return
	}
	how, cut := p.admit(r.URL.Path, query)
	if how != "" {
		expire(w, how)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(cut, cancel)()
	defer func() {
		if e := recover(); e != nil && cut.Err() == nil { // a watch that is cut ends in order, as by its time limit
			panic(e)
		}
	}()
	p.next.ServeHTTP(w, r.WithContext(ctx))
}

// admit tells how a watch has expired, if it has, else when it ends. A watch
// that begins with what there is, as a list does, cannot expire, nor one that
// was told and listed anew.
func (p *proxy) admit(path string, query url.Values) (expiry, context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	version := query.Get("resourceVersion")
	if p.how == "" || p.told[path] || query.Get("sendInitialEvents") == "true" || version == "" || version == "0" {
		return "", p.cut
	}
	p.told[path] = true
	return p.how, p.cut
}

// hasExpired tells whether a watch of that resource was told so.
func (p *proxy) hasExpired(resource string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path := range p.told {
		if strings.HasSuffix(path, "/"+resource) {
			return true
		}
	}
	return false
}

func expire(w http.ResponseWriter, how expiry) {
	status := apierrors.NewResourceExpired("too old resource version").ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	var body any = status
	if how == byStatus {
		w.WriteHeader(http.StatusGone)
	} else {
		body = map[string]any{"type": "ERROR", "object": status}
	}
	_ = json.NewEncoder(w).Encode(body)
}
