// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	logtesting "weir.dev/pkg/logging/testing"
)

// BenchmarkLoad is what each reconcile and each admission begins with.
func BenchmarkLoad(b *testing.B) {
	store := NewStore(logtesting.TestLogger(b), []string{NetworkName, DeploymentName})
	b.ReportAllocs()
	for b.Loop() {
		if store.Load().Network == nil {
			b.Fatal("no settings")
		}
	}
}

// Loading makes no settings: they are made when a ConfigMap changes.
func TestLoadMakesNothing(t *testing.T) {
	store := NewStore(logtesting.TestLogger(t), []string{NetworkName, DeploymentName})
	if n := testing.AllocsPerRun(100, func() { store.Load() }); n > 2 {
		t.Errorf("%v allocations, want those of the result", n)
	}
}
