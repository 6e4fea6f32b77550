// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// halves deploys a Service whose requests go to two Revisions, half to each, told apart by VERSION.
func (w *world) halves() *servingv1.Service {
	w.t.Helper()
	first := w.deploy(probeService("app", env("VERSION", "one"))).Status.LatestReadyRevisionName
	return w.update("app", func(s *servingv1.Service) {
		s.Spec.Template.Spec.Containers[0].Env[0].Value = "two"
		s.Spec.Traffic = []servingv1.TrafficTarget{
			{RevisionName: first, Percent: ptr.Int64(50), LatestRevision: ptr.Bool(false)},
			{Percent: ptr.Int64(50), LatestRevision: ptr.Bool(true)},
		}
	})
}

// TestStreamsOfOneConnectionAreSplit: requests of one client on one connection go by the weights, too. Were they sent where the
// first went, one version would answer all.
func TestStreamsOfOneConnectionAreSplit(t *testing.T) {
	protocols := map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	}
	w := newWorld(t)
	url := w.halves().Status.URL.String() + "/info"
	for name, speak := range protocols {
		transport := w.HTTP.Transport.(*http.Transport).Clone()
		transport.Protocols, transport.MaxConnsPerHost = new(http.Protocols), 1
		speak(transport.Protocols)
		seen := map[string]int{}
		const total = 400
		for range total {
			seen[w.info(request(t, url), &http.Client{Transport: transport}).Env["VERSION"]]++
		}
		transport.CloseIdleConnections()
		if seen["one"]+seen["two"] != total || seen["one"] < total*4/10 || seen["one"] > total*6/10 {
			t.Errorf("%s: %v of %d requests on one connection, want half each", name, seen, total)
		}
	}
}

// TestColdStartKeepsTheWeights: requests that wait for a start are answered by the Revision that they were given to, and not by
// the one that is there first.
func TestColdStartKeepsTheWeights(t *testing.T) {
	w := newWorld(t)
	url := w.halves().Status.URL.String()
	w.waitZero()
	const total = 200
	versions := make(chan string, total)
	var wg sync.WaitGroup
	for range total {
		wg.Go(func() {
			a, err := w.Get(w.ctx, url)
			if err != nil || a.Status != http.StatusOK {
				t.Errorf("status %d, body %q, error %v", a.Status, a.Body, err)
			}
			version, _, _ := strings.Cut(a.Body, " ")
			versions <- version
		})
	}
	wg.Wait()
	close(versions)
	seen := map[string]int{}
	for version := range versions {
		seen[version]++
	}
	if seen["one"]+seen["two"] != total || seen["one"] < total*4/10 || seen["one"] > total*6/10 {
		t.Errorf("%v of %d requests that were held, want half each", seen, total)
	}
}
