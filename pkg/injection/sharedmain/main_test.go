// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"slices"
	"testing"

	"weir.dev/pkg/injection"
)

func TestWithout(t *testing.T) {
	idle := newController(func(context.Context, string) error { return nil })
	named := []injection.NamedControllerConstructor{{Name: "one", ControllerConstructor: idle}, {Name: "two", ControllerConstructor: idle}}
	ctors, unknown := without(named, []string{"two", "three"})
	if len(ctors) != 1 || !slices.Equal(unknown, []string{"three"}) {
		t.Errorf("%d constructors are left and %q is unknown, want one and three", len(ctors), unknown)
	}
}
