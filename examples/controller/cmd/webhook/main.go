// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command webhook serves the example's webhooks.
package main

import (
	"weir.dev/examples/controller/pkg/webhooks"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/signals"
	"weir.dev/pkg/webhook"
)

func main() {
	ctx := webhook.WithOptions(signals.NewContext(), webhook.Options{
		ServiceName: webhook.NameFromEnv(),
		Port:        webhook.PortFromEnv(8443),
		SecretName:  webhook.SecretNameFromEnv("webhook-certs"),
	})
	sharedmain.WebhookMainWithContext(ctx, "webhook", webhooks.Constructors()...)
}
