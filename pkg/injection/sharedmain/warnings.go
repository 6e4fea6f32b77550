// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"sync"

	"weir.dev/pkg/logging"
)

// warnings logs the API server's warnings with the logger of the request's
// context, so that the reconcile that caused one can be told. The same text is
// worth one line.
type warnings struct{ logged sync.Map }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. 299
// is the only code that the API server uses.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	if _, again := w.logged.LoadOrStore(text, true); !again {
		logging.FromContext(ctx).Warnw("The API server warns", "warning", text)
	}
}
