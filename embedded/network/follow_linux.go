// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"weir.dev/embedded/network/dns"
	"weir.dev/embedded/network/endpoints"
	"weir.dev/embedded/network/nat"
)

const (
	// lookAfter is how often the rules are looked for: reloading a firewall deletes
	// everybody's.
	lookAfter = 10 * time.Second
	// tryAgain is how soon after a failure.
	tryAgain = time.Second
)

// follower keeps rules and zone as Services and EndpointSlices say.
type follower struct {
	network *Network
	server  *dns.Server
	fixed   []nat.Mapping
	// services and parts read the informers' stores.
	services func() ([]*corev1.Service, error)
	parts    func() ([]*discoveryv1.EndpointSlice, error)
	// applied is what the rules translate.
	applied []nat.Mapping
}

// follow watches until ctx ends.
func (n *Network) follow(ctx context.Context, client kubernetes.Interface, server *dns.Server, fixed []nat.Mapping) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	services, parts := factory.Core().V1().Services(), factory.Discovery().V1().EndpointSlices()
	changed := make(chan struct{}, 1)
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), parts.Informer()} {
		if _, err := informer.AddEventHandler(notify(changed)); err != nil {
			return fmt.Errorf("watch Services: %w", err)
		}
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok && ctx.Err() == nil {
			return fmt.Errorf("read %v: not possible", kind)
		}
	}
	f := &follower{
		network: n, server: server, fixed: fixed,
		services: func() ([]*corev1.Service, error) { return services.Lister().List(labels.Everything()) },
		parts: func() ([]*discoveryv1.EndpointSlice, error) {
			return parts.Lister().List(labels.Everything())
		},
	}
	f.loop(ctx, changed)
	return nil
}

// notify tells that something changed; what does not matter.
func notify(changed chan<- struct{}) cache.ResourceEventHandler {
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { tell() },
		UpdateFunc: func(any, any) { tell() },
		DeleteFunc: func(any) { tell() },
	}
}

// loop applies changes at once, those that come meanwhile together.
func (f *follower) loop(ctx context.Context, changed <-chan struct{}) {
	for ctx.Err() == nil {
		wait := lookAfter
		if err := f.apply(); err != nil {
			f.network.log.Error("Services are not translated as they should be", "error", err)
			wait = tryAgain
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(wait):
		}
	}
}

// apply makes zone and rules what the stores say.
func (f *follower) apply() error {
	services, err := f.services()
	if err != nil {
		return err
	}
	parts, err := f.parts()
	if err != nil {
		return err
	}
	n := f.network
	resolved := endpoints.Resolve(services, parts)
	f.server.Serve(dns.NewZone(n.domain, resolved, n.PodCIDR(), n.ServiceCIDR()))
	mappings := slices.DeleteFunc(endpoints.Mappings(resolved), f.isFixed)
	mappings = append(mappings, f.fixed...)
	if err := n.rules.Ensure(); err != nil {
		return err
	}
	if err := n.rules.Sync(mappings); err != nil {
		return err
	}
	err = forget(nat.Gone(f.applied, mappings))
	f.applied = mappings
	return err
}

// isFixed finds ports that this process serves itself.
func (f *follower) isFixed(m nat.Mapping) bool {
	return slices.ContainsFunc(f.fixed, func(o nat.Mapping) bool {
		return o.IP == m.IP && o.Protocol == m.Protocol && o.Port == m.Port
	})
}
