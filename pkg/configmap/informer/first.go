// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

// firstDeliveries counts which ConfigMaps were not delivered yet.
type firstDeliveries struct {
	mu   sync.Mutex
	left sets.Set[string]
}

func newFirstDeliveries(names []string) *firstDeliveries {
	return &firstDeliveries{left: sets.New(names...)}
}

func (f *firstDeliveries) done(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left.Delete(name)
}

func (f *firstDeliveries) missing() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := f.left.UnsortedList()
	slices.Sort(names)
	return names
}
