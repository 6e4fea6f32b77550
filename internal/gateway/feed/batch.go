// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"weir.dev/internal/feed/feedpb"
	"weir.dev/internal/gateway/route"
)

// batch is what is to become visible at once: the last word on each object, nil if it is to be removed.
type batch struct {
	ingresses map[route.Ref]*feedpb.Ingress
	backends  map[route.Ref]*feedpb.Backend
	instances map[route.Ref][]*feedpb.Instance
}

func newBatch() *batch {
	return &batch{map[route.Ref]*feedpb.Ingress{}, map[route.Ref]*feedpb.Backend{}, map[route.Ref][]*feedpb.Instance{}}
}

func (b *batch) add(events []*feedpb.Event) {
	for _, e := range events {
		switch k := e.GetKind().(type) {
		case *feedpb.Event_Ingress:
			b.ingresses[route.Ref{Namespace: k.Ingress.GetNamespace(), Name: k.Ingress.GetName()}] = k.Ingress
		case *feedpb.Event_IngressRemoved:
			b.ingresses[ref(k.IngressRemoved)] = nil
		case *feedpb.Event_Backend:
			b.backends[route.Ref{Namespace: k.Backend.GetNamespace(), Name: k.Backend.GetName()}] = k.Backend
		case *feedpb.Event_BackendRemoved:
			b.backends[ref(k.BackendRemoved)] = nil
			delete(b.instances, ref(k.BackendRemoved))
		case *feedpb.Event_Instances:
			b.instances[ref(k.Instances.GetBackend())] = k.Instances.GetInstances()
		}
	}
}

func ref(r *feedpb.Ref) route.Ref { return route.Ref{Namespace: r.GetNamespace(), Name: r.GetName()} }
