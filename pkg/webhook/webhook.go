// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/util/wait"

	"weir.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/observability"
	"weir.dev/pkg/system"
)

// Webhook is the webhook server of a controller process.
type Webhook struct {
	// Options are those it was made with.
	Options Options

	server *Server
	synced chan struct{}
	once   sync.Once
}

// New returns a server of controllers, which are AdmissionControllers and
// ConversionControllers, as the options of the context say. Its certificate is
// read through the informer of the system namespace's Secrets, so that a
// renewed one is presented at once.
func New(ctx context.Context, controllers []any) (*Webhook, error) {
	given := GetOptions(ctx)
	if given == nil {
		return nil, errors.New("webhook: the context has no options; put them there with WithOptions")
	}
	opts := given.withDefaults()
	if opts.SecretName == "" {
		return nil, errors.New("webhook: the options name no Secret with a certificate")
	}
	cfg, err := opts.tls()
	if err != nil {
		return nil, err
	}
	log := logging.FromContext(ctx)
	cfg.GetCertificate = (&secretCertificate{
		secrets: secret.Get(ctx).Lister().Secrets(system.NamespaceOf(ctx)), opts: opts, log: log,
	}).get
	wh := &Webhook{Options: opts, synced: make(chan struct{})}
	wh.server, err = NewServer(ServerConfig{
		TLS: cfg, Controllers: controllers, Synced: wh.synced,
		GracePeriod: opts.GracePeriod, EnableHTTP2: opts.EnableHTTP2,
		Telemetry: opts.telemetry(ctx),
		Log:       log,
	})
	return wh, err
}

func (o Options) telemetry(ctx context.Context) Telemetry {
	if o.MeterProvider == nil {
		o.MeterProvider = observability.GetMeterProvider(ctx)
	}
	if o.TracerProvider == nil {
		o.TracerProvider = observability.GetTracerProvider(ctx)
	}
	return Telemetry{o.MeterProvider, o.TracerProvider, o.TextMapPropagator}
}

// InformersHaveSynced lets those controllers answer that are not stateless.
func (wh *Webhook) InformersHaveSynced() { wh.once.Do(func() { close(wh.synced) }) }

// Run serves on the port of the options until stop is closed. It is then no
// longer ready, answers for the grace period as before, and returns once the
// requests in hand are answered.
func (wh *Webhook) Run(stop <-chan struct{}) error {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(wh.Options.Port))
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w", err)
	}
	return wh.Serve(wait.ContextForChannel(stop), listener)
}

// Serve is Run on a listener, which it owns, until ctx ends.
func (wh *Webhook) Serve(ctx context.Context, listener net.Listener) error {
	return wh.server.Run(ctx, listener)
}
