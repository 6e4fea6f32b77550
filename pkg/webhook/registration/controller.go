// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/webhook"
)

// NewImpl makes the controller of a reconciler by the webhook.Options of the
// context. What the options leave out of its queue's name is the given one.
func NewImpl(ctx context.Context, r controller.Reconciler, queue string) *controller.Impl {
	var options controller.ControllerOptions
	if given := webhook.RequireOptions(ctx).ControllerOptions; given != nil {
		options = *given
	}
	if options.WorkQueueName == "" {
		options.WorkQueueName = queue
	}
	return controller.NewContext(ctx, r, options)
}
