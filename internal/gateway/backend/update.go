// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "weir.dev/internal/gateway/probe"

const podReady = probe.PodReady

// update takes a new description. A new UID is a namesake of the backend that was here: the instances of the old one
// finish what they have in hand.
func (b *Backend) update(s *Spec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.spec.Swap(s)
	if old == nil {
		b.meter.Take(b.set.config.Now())
	} else if old.UID != s.UID {
		b.setEndpoints(nil)
	} else if old.H2C != s.H2C {
		b.reconnect()
	}
	b.settle()
}

// settle sees to those who wait after the description or the instances changed: they are refused if requests that come
// now would be.
func (b *Backend) settle() {
	if err := b.hopeless(b.spec.Load()); err != nil {
		b.refuse(err)
	}
	b.dispatch()
	b.somebodyWaits()
}

// forget is called when the feed no longer has the backend.
func (b *Backend) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spec.Store(nil)
	b.setEndpoints(nil)
	b.refuse(b.hopeless(nil))
}

// replace takes the whole list of instances.
func (b *Backend) replace(list []Endpoint) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spec.Load() == nil {
		return // a feed names a backend before its instances
	}
	b.setEndpoints(list)
	b.settle()
}

func (b *Backend) setEndpoints(list []Endpoint) {
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		seen[e.UID] = true
		i := b.instances[e.UID]
		if i != nil && i.address != e.Address {
			b.supersede(i)
			i = nil
		}
		if i == nil {
			i = b.add(e)
		}
		if i.gone { // it was missing for a while, but its requests are still there
			i.gone = false
			i.peer.Open()
		}
		b.setState(i, e.State)
	}
	for uid, i := range b.instances {
		if !seen[uid] {
			b.remove(i)
		}
	}
}

func (b *Backend) add(e Endpoint) *Instance {
	s := b.spec.Load()
	i := &Instance{uid: e.UID, name: e.Name, address: e.Address, owner: s.UID, state: e.State}
	i.peer = b.set.config.NewPeer(e.Address, s.H2C)
	i.drained = b.set.drainAsked(e.UID)
	if b.instances == nil {
		b.instances = map[string]*Instance{}
	}
	b.instances[e.UID] = i
	if i.terminating() {
		b.set.changed()
	}
	return i
}

func (b *Backend) setState(i *Instance, s State) {
	if s == Ready && i.state != Ready {
		i.suspect = false
	}
	became := s == Terminating && i.state != Terminating
	i.state = s
	b.updatePool(i)
	if became {
		i.peer.Close()
		b.set.changed()
	}
}

// remove takes an instance out that the feed no longer has; requests in hand keep it until they are done.
func (b *Backend) remove(i *Instance) {
	i.gone = true
	b.updatePool(i)
	if i.inFlight == 0 {
		b.drop(i)
	} else {
		i.peer.Close()
	}
	b.set.changed()
}

// reconnect makes all instances anew: they speak another protocol now.
func (b *Backend) reconnect() {
	var list []Endpoint
	for _, i := range b.instances {
		if !i.gone {
			list = append(list, Endpoint{UID: i.uid, Name: i.name, Address: i.address, State: i.state})
		}
	}
	for _, i := range b.instances {
		b.supersede(i)
	}
	b.setEndpoints(list)
}

// supersede makes room for another instance with the same UID.
func (b *Backend) supersede(i *Instance) {
	b.remove(i)
	delete(b.instances, i.uid)
}
