// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/client-go/rest"

	"weir.dev/pkg/logging"
)

var _ rest.WarningHandlerWithContext = (*warnings)(nil)

// TestWarnings: each warning is logged once, with the logger of who caused it.
func TestWarnings(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	w := &warnings{}
	for range 3 {
		w.HandleWarningHeaderWithContext(ctx, 299, "-", "v1beta1 is old")
	}
	w.HandleWarningHeaderWithContext(ctx, 299, "-", "so is that")
	w.HandleWarningHeaderWithContext(ctx, 199, "-", "not the API server's")
	if logs.Len() != 2 || logs.All()[0].ContextMap()["warning"] != "v1beta1 is old" {
		t.Errorf("logged %v, want each of the two once", logs.All())
	}
}
