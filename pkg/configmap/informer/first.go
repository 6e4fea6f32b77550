// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

// firstDeliveries tells which ConfigMaps were not delivered yet, and which were
// in vain.
type firstDeliveries struct {
	mu   sync.Mutex
	left sets.Set[string]
	errs []error
}

func newFirstDeliveries(names []string) *firstDeliveries {
	return &firstDeliveries{left: sets.New(names...)}
}

func (f *firstDeliveries) done(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left.Delete(name)
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

func (f *firstDeliveries) errors() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.errs)
}

func (f *firstDeliveries) missing() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := f.left.UnsortedList()
	slices.Sort(names)
	return names
}
