// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/api/networking"
	"weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/feed/feedpb"
)

// desired keeps the store true to the API objects, event by event. Each event costs what the changed object costs, never
// the number of all. It keeps pointers into the informers' caches and never changes what they point to.
type desired struct {
	mu    sync.Mutex
	store *store

	revisions map[string]*v1.Revision        // by UID
	pods      map[string]map[string]instance // by UID of the revision, then of the pod

	services map[ref]*corev1.Service
	slices   map[ref]map[string]*discoveryv1.EndpointSlice // by Service, then by the slice's name
	needs    map[ref][]servicePort                         // of each Ingress
	users    map[servicePort]int                           // how many Ingress splits lead to a Service's port
	ports    map[ref]map[servicePort]struct{}              // used ports of a Service
}

func newDesired() *desired {
	return &desired{
		store:     newStore(),
		revisions: map[string]*v1.Revision{},
		pods:      map[string]map[string]instance{},
		services:  map[ref]*corev1.Service{},
		slices:    map[ref]map[string]*discoveryv1.EndpointSlice{},
		needs:     map[ref][]servicePort{},
		users:     map[servicePort]int{},
		ports:     map[ref]map[servicePort]struct{}{},
	}
}

// setIngress takes in an Ingress, or drops it if it is not of our class.
func (d *desired) setIngress(in *v1alpha1.Ingress) {
	if class := in.Annotations[networking.IngressClassAnnotationKey]; class != networking.WeirIngressClassName {
		d.removeIngress(in)
		return
	}
	out, services := translateIngress(in)
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, in.Name}
	before := d.needs[me]
	for _, s := range services {
		d.use(s)
	}
	d.needs[me] = services
	d.store.set(key{kindIngress, me}, out)
	for _, s := range before {
		d.disuse(s)
	}
}

func (d *desired) removeIngress(in *v1alpha1.Ingress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	me := ref{in.Namespace, in.Name}
	d.store.remove(key{kindIngress, me})
	for _, s := range d.needs[me] {
		d.disuse(s)
	}
	delete(d.needs, me)
}

func (d *desired) setRevision(in *v1.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.revisions[string(in.UID)] = in
	d.publishRevision(string(in.UID))
}

func (d *desired) removeRevision(in *v1.Revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.revisions, string(in.UID))
	me := ref{in.Namespace, in.Name}
	// A successor of the same name may be known already.
	if b, ok := d.store.values[key{kindBackend, me}].(*feedpb.Backend); ok && b.Uid == string(in.UID) {
		d.store.remove(key{kindInstances, me})
		d.store.remove(key{kindBackend, me})
	}
}

func (d *desired) setPod(pod *corev1.Pod) {
	revision := pod.Labels[serving.RevisionUID]
	if revision == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.pods[revision]
	if known == nil {
		known = map[string]instance{}
		d.pods[revision] = known
	}
	known[string(pod.UID)] = translatePod(pod, known[string(pod.UID)].been)
	d.publishRevision(revision)
}

func (d *desired) removePod(pod *corev1.Pod) {
	revision := pod.Labels[serving.RevisionUID]
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.pods[revision]
	delete(known, string(pod.UID))
	if len(known) == 0 {
		delete(d.pods, revision)
	}
	d.publishRevision(revision)
}

// publishRevision brings the backend and the instances of a revision up to date.
func (d *desired) publishRevision(uid string) {
	rev := d.revisions[uid]
	if rev == nil {
		return
	}
	me := ref{rev.Namespace, rev.Name}
	pods := d.pods[uid]
	backend := translateRevision(rev)
	f := revisionFailure(rev, pods)
	backend.FailureReason, backend.FailureMessage = f.reason, f.message
	d.store.set(key{kindBackend, me}, backend)
	d.store.set(key{kindInstances, me}, &feedpb.Instances{Backend: me.pb(), Instances: list(pods)})
}

// list gives the instances with an address, in an order that depends on nothing else.
func list(pods map[string]instance) []*feedpb.Instance {
	out := make([]*feedpb.Instance, 0, len(pods))
	for _, p := range pods {
		if p.pb != nil {
			out = append(out, p.pb)
		}
	}
	slices.SortFunc(out, func(a, b *feedpb.Instance) int { return strings.Compare(a.Uid, b.Uid) })
	return out
}

// served lists all Ingresses.
func (d *desired) served() []types.NamespacedName {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]types.NamespacedName, 0, len(d.needs))
	for r := range maps.Keys(d.needs) {
		out = append(out, types.NamespacedName{Namespace: r.namespace, Name: r.name})
	}
	return out
}
