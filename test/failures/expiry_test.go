// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWatchExpires cuts all watches of a component, and lets none be taken up
// again: the API server does not know any more what came after the last event.
// What was missed meanwhile is made up for from a new list, deletions included.
func TestWatchExpires(t *testing.T) {
	t.Parallel()
	for _, how := range []expiry{byStatus, byEvent} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			testExpiry(t, how)
		})
	}
}

func testExpiry(t *testing.T, how expiry) {
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	cfg := suite.System.Config
	namespace := newNamespace(ctx, t, cfg)
	things := newThingClient(t, cfg, namespace)
	proxy, seen, settings := newProxy(t, cfg), newCopier(), newSettings()
	c := start(scoped(ctx, namespace), t, proxy.config(), settings.wrap(newThingController(seen)))
	const count = 10
	each(t, count, func(name string) error { return things.create(ctx, name, "before") })
	things.allDone(ctx, t, count)

	proxy.blind()
	if err := things.Delete(ctx, "thing-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"thing-1", "thing-2"} {
		if err := things.set(ctx, name, "missed"); err != nil {
			t.Fatal(err)
		}
	}
	if err := things.create(ctx, "thing-new", "missed"); err != nil {
		t.Fatal(err)
	}
	settings.set(ctx, t, cfg, namespace, "missed")
	proxy.see(how)

	things.allDone(ctx, t, count)
	await(ctx, t, "the deletion is observed", func(context.Context) (bool, error) { return seen.isGone("thing-0"), nil })
	settings.await(ctx, t, "missed")
	if !proxy.hasExpired("things") { // that of ConfigMaps is listed anew anyway: it had no event
		t.Error("no watch of things has expired: the test proves nothing")
	}
	c.mustRun(t)
	for _, e := range c.errors() {
		t.Errorf("logged as an error: %s %v", e.Message, e.ContextMap())
	}
}
