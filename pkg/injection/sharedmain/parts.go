// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sharedmain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"weir.dev/pkg/configmap/informer"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/webhook"
)

// parts are what a component runs.
type parts struct {
	cmw         *informer.InformedWatcher
	informers   []controller.Informer
	webhook     *webhook.Webhook // nil without webhooks
	controllers []*controller.Impl
}

// run runs everything in the order in which one needs the other, and stops it
// in reverse: no controller works on a cache that nobody feeds, and webhooks
// answer as long as anybody may ask.
func (p parts) run(ctx context.Context) error {
	feeding, stop := context.WithCancel(context.WithoutCancel(ctx))
	var feeds sync.WaitGroup
	defer feeds.Wait()
	defer p.cmw.Wait()
	defer stop()
	starting := context.AfterFunc(ctx, stop) // until there are controllers to stop first

	if err := p.feed(feeding, &feeds); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	admitted := p.admit(ctx, cancel)
	if !p.sync(ctx) {
		return <-admitted // ctx ended, or the webhook failed
	}
	starting()
	if p.webhook != nil {
		p.webhook.InformersHaveSynced()
	}
	logging.FromContext(ctx).Infow("Starting the controllers", "count", len(p.controllers), "informers", len(injection.Watches(ctx)))
	injection.Started(ctx)
	err := controller.StartAll(ctx, p.controllers...)
	cancel()
	return errors.Join(err, <-admitted)
}

// feed starts what fills caches and configuration.
func (p parts) feed(ctx context.Context, feeds *sync.WaitGroup) error {
	logger := logging.FromContext(ctx)
	logger.Debug("Starting the ConfigMap watcher")
	if err := p.cmw.Start(ctx.Done()); err != nil {
		return fmt.Errorf("starting the ConfigMap watcher: %w", err)
	}
	logger.Debug("Starting the informers")
	for _, i := range p.informers {
		feeds.Go(func() { i.Run(ctx.Done()) })
	}
	return nil
}

// slowSync is after what time it is said what a start waits for.
const slowSync = 10 * time.Second

// sync waits until all caches are filled; false when ctx ended before.
func (p parts) sync(ctx context.Context) bool {
	slow := time.AfterFunc(slowSync, func() {
		logging.FromContext(ctx).Warnw("Still waiting for informers to list what they watch; is there such a kind, and the right to list it?",
			"accessors", injection.Unsynced(ctx))
	})
	defer slow.Stop()
	for _, i := range p.informers {
		if !controller.WaitForCacheSyncQuick(ctx.Done(), i.HasSynced) {
			return false
		}
	}
	return true
}

// admit serves the webhooks, if there are any, until ctx ends. What it returns
// gets the reason why they are no longer served; should that be an error, the
// rest is told to stop.
func (p parts) admit(ctx context.Context, cancel context.CancelFunc) <-chan error {
	ended := make(chan error, 1)
	if p.webhook == nil {
		ended <- nil
		return ended
	}
	go func() {
		err := p.webhook.Run(ctx.Done())
		if err != nil {
			cancel()
		}
		ended <- err
	}()
	return ended
}

// newWebhook makes the server of those controllers whose reconcilers are
// webhooks; nil when none is.
func newWebhook(ctx context.Context, controllers []*controller.Impl) (*webhook.Webhook, error) {
	hooks := webhooksOf(controllers)
	if len(hooks) == 0 {
		return nil, nil
	}
	return webhook.New(ctx, hooks)
}

func webhooksOf(controllers []*controller.Impl) []any {
	var hooks []any
	for _, c := range controllers {
		switch c.Reconciler.(type) {
		case webhook.AdmissionController, webhook.ConversionController:
			hooks = append(hooks, c.Reconciler)
		}
	}
	return hooks
}
