// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package system

import "testing"

func TestNamespace(t *testing.T) {
	t.Setenv(NamespaceEnvKey, "")
	ctx := WithNamespace(t.Context(), "mine")
	if got := NamespaceOf(ctx); got != "mine" {
		t.Errorf("namespace of the context is %q", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Namespace guessed one")
			}
		}()
		Namespace()
	}()
	t.Setenv(NamespaceEnvKey, "theirs")
	if got := NamespaceOf(t.Context()); got != "theirs" {
		t.Errorf("namespace of the environment is %q", got)
	}
}

func TestPodName(t *testing.T) {
	t.Setenv("POD_NAME", "")
	t.Setenv("HOSTNAME", "host")
	if got := PodName(); got != "host" {
		t.Errorf("name is %q", got)
	}
	t.Setenv("POD_NAME", "pod")
	if got := PodName(); got != "pod" {
		t.Errorf("name is %q", got)
	}
}
