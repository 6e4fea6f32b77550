// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"

	"weir.dev/pkg/logging"
)

// warnings logs the API server's warnings with the logger of the request's
// context, so that the reconcile that caused one can be told.
type warnings struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. 299
// is the only code that the API server uses.
func (warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code == 299 && text != "" {
		logging.FromContext(ctx).Warnw("The API server warns", "warning", text)
	}
}
