// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// use counts one more split that leads to a Service's port. The lock is held.
func (d *desired) use(s servicePort) {
	d.users[s]++
	if d.users[s] > 1 {
		return
	}
	if d.ports[s.ref] == nil {
		d.ports[s.ref] = map[servicePort]struct{}{}
	}
	d.ports[s.ref][s] = struct{}{}
	d.publishService(s.ref)
}

// disuse counts one split less. The lock is held.
func (d *desired) disuse(s servicePort) {
	d.users[s]--
	if d.users[s] > 0 {
		return
	}
	delete(d.users, s)
	delete(d.ports[s.ref], s)
	if len(d.ports[s.ref]) == 0 {
		delete(d.ports, s.ref)
	}
	d.store.remove(key{kindInstances, s.backend()})
	d.store.remove(key{kindBackend, s.backend()})
}

// publishService brings the backends of a Service's used ports up to date. The lock is held.
func (d *desired) publishService(r ref) {
	for s := range d.ports[r] {
		endpoints := slices.Collect(maps.Values(d.slices[r]))
		backend, instances := translateService(s, d.services[r], endpoints)
		d.store.set(key{kindBackend, s.backend()}, backend)
		d.store.set(key{kindInstances, s.backend()}, instances)
	}
}

func (d *desired) setService(in *corev1.Service) {
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, in.Name}
	d.services[me] = in
	d.publishService(me)
}

func (d *desired) removeService(in *corev1.Service) {
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, in.Name}
	delete(d.services, me)
	d.publishService(me)
}

func (d *desired) setSlice(in *discoveryv1.EndpointSlice) {
	service := in.Labels[discoveryv1.LabelServiceName]
	if service == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, service}
	if d.slices[me] == nil {
		d.slices[me] = map[string]*discoveryv1.EndpointSlice{}
	}
	d.slices[me][in.Name] = in
	d.publishService(me)
}

func (d *desired) removeSlice(in *discoveryv1.EndpointSlice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, in.Labels[discoveryv1.LabelServiceName]}
	delete(d.slices[me], in.Name)
	if len(d.slices[me]) == 0 {
		delete(d.slices, me)
	}
	d.publishService(me)
}
