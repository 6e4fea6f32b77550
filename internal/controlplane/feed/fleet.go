// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"weir.dev/internal/feed/feedpb"
)

// fleet knows the gateways that report, and what each of them serves.
type fleet struct {
	mu       sync.Mutex
	gateways map[string]*gateway
	watchers []func(types.NamespacedName)
}

type gateway struct {
	stream any // the newest report stream; a late end of an older one changes nothing
	ready  bool
	served map[ref]version
}

type version struct {
	uid        string
	generation int64
}

func newFleet() *fleet { return &fleet{gateways: map[string]*gateway{}} }

// join makes stream the one that a gateway reports on. It starts from nothing.
func (f *fleet) join(name string, stream any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gateways[name] = &gateway{stream: stream, served: map[ref]version{}}
}

// leave ends a stream. It says whether that was the gateway's newest.
func (f *fleet) leave(name string, stream any) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.gateways[name]; g == nil || g.stream != stream {
		return false
	}
	delete(f.gateways, name)
	return true
}

// report takes in what a gateway serves. It returns the Ingresses for which that may have changed an answer, and all
// when the gateway's readiness changed, which concerns every one.
func (f *fleet) report(stream any, r *feedpb.GatewayReport) (changed []types.NamespacedName, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.gateways[r.Gateway]
	if g == nil || g.stream != stream {
		return nil, false
	}
	all = g.ready != r.Ready
	g.ready = r.Ready
	for _, s := range r.Served {
		k, v := ref{s.Namespace, s.Name}, version{s.Uid, s.Generation}
		if g.served[k] != v {
			g.served[k] = v
			changed = append(changed, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
		}
	}
	for _, u := range r.Unserved {
		delete(g.served, ref{u.Namespace, u.Name})
		changed = append(changed, types.NamespacedName{Namespace: u.Namespace, Name: u.Name})
	}
	return changed, all
}

// serves says that all ready gateways, at least one, route by that generation or a newer one.
func (f *fleet) serves(name ref, uid string, generation int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := false
	for _, g := range f.gateways {
		if !g.ready {
			continue
		}
		if v := g.served[name]; v.uid != uid || v.generation < generation {
			return false
		}
		found = true
	}
	return found
}

func (f *fleet) watch(fn func(types.NamespacedName)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, fn)
}

// tell calls the watchers, without the lock.
func (f *fleet) tell(names []types.NamespacedName) {
	f.mu.Lock()
	watchers := f.watchers
	f.mu.Unlock()
	for _, n := range names {
		for _, w := range watchers {
			w(n)
		}
	}
}
