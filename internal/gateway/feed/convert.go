// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"net/textproto"
	"time"

	"golang.org/x/net/http/httpguts"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/deck"
	"weir.dev/internal/gateway/probe"
	"weir.dev/internal/gateway/route"
)

type (
	ingress = route.Ingress[*backend.Backend]
	path    = route.Path[*backend.Backend]
	split   = route.Split[*backend.Backend]
)

// build converts an Ingress. hold returns the backend of a name; decks of branches that deal as before are kept.
func build(in *feedpb.Ingress, old *ingress, hold func(route.Ref) *backend.Backend) *ingress {
	out := &ingress{
		Ref:           route.Ref{Namespace: in.GetNamespace(), Name: in.GetName()},
		Claimed:       in.GetClaimed(),
		RedirectHTTPS: in.GetRedirectHttps(),
		Rules:         make([]route.Rule[*backend.Backend], len(in.GetRules())),
	}
	for i, r := range in.GetRules() {
		rule := &out.Rules[i]
		rule.ClusterLocal = r.GetClusterLocal()
		for _, h := range r.GetHosts() {
			rule.Hosts = append(rule.Hosts, route.CleanHost(h))
		}
		rule.Paths = make([]path, len(r.GetPaths()))
		for j, p := range r.GetPaths() {
			rule.Paths[j] = buildPath(p, hold)
			rule.Paths[j].Deck = deckFor(&rule.Paths[j], old, i, j)
		}
	}
	return out
}

func buildPath(p *feedpb.Path, hold func(route.Ref) *backend.Backend) path {
	out := path{
		Prefix:      p.GetPrefix(),
		Headers:     headers(p.GetHeaders()),
		RewriteHost: p.GetRewriteHost(),
		Append:      headers(p.GetAppendHeaders()),
	}
	for _, s := range p.GetSplits() {
		out.Splits = append(out.Splits, split{
			Target:  hold(ref(s.GetBackend())),
			Percent: int(s.GetPercent()),
			Append:  headers(s.GetAppendHeaders()),
		})
	}
	return out
}

// deckFor returns the deck that the same branch had before, if it had the same splits.
func deckFor(p *path, old *ingress, rule, branch int) route.Deck {
	if len(p.Splits) < 2 {
		return nil
	}
	if old == nil || rule >= len(old.Rules) || branch >= len(old.Rules[rule].Paths) {
		return deck.New()
	}
	before := &old.Rules[rule].Paths[branch]
	if len(before.Splits) != len(p.Splits) || before.Deck == nil {
		return deck.New()
	}
	for i := range p.Splits {
		if p.Splits[i].Target != before.Splits[i].Target || p.Splits[i].Percent != before.Splits[i].Percent {
			return deck.New()
		}
	}
	return before.Deck
}

// headers leaves out what cannot be sent; admission refuses it too.
func headers(m map[string]string) []route.Header {
	var list []route.Header
	for name, value := range m {
		if httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value) {
			list = append(list, route.Header{Name: textproto.CanonicalMIMEHeaderKey(name), Values: []string{value}})
		}
	}
	return list
}

func spec(b *feedpb.Backend) *backend.Spec {
	s := &backend.Spec{
		UID:            b.GetUid(),
		Kind:           backend.Revision,
		H2C:            b.GetProtocol() == feedpb.Backend_H2C,
		Concurrency:    int(b.GetContainerConcurrency()),
		Timeout:        millis(b.GetTimeoutMs()),
		ResponseStart:  millis(b.GetResponseStartTimeoutMs()),
		Idle:           millis(b.GetIdleTimeoutMs()),
		FailureReason:  b.GetFailureReason(),
		FailureMessage: b.GetFailureMessage(),
	}
	if b.GetKind() == feedpb.Backend_SERVICE {
		s.Kind = backend.Service
	}
	if p := b.GetProbe(); p != nil {
		s.Probe = probe.Spec{
			Kind:    probe.Kind(p.GetKind()), // the same numbers
			Port:    int(p.GetPort()),
			Path:    p.GetPath(),
			HTTPS:   p.GetScheme() == "HTTPS",
			Headers: p.GetHeaders(),
			Service: p.GetGrpcService(),
			Timeout: millis(p.GetTimeoutMs()),
		}
	}
	return s
}

func endpoints(list []*feedpb.Instance) []backend.Endpoint {
	out := make([]backend.Endpoint, 0, len(list))
	for _, i := range list {
		out = append(out, backend.Endpoint{
			UID: i.GetUid(), Name: i.GetName(), Address: i.GetAddress(),
			State: backend.State(i.GetState()), // the same numbers
		})
	}
	return out
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
