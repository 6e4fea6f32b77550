// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane assembles the controller: the reconcilers of all kinds, the autoscaler, the feed that gateways follow,
// and admission. It decides nothing itself; what a kind does is in its own package, and the packages know each other through
// the API only. cmd/controller and embedded/standalone run it.
package controlplane

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	servingclient "weir.dev/client/clientset/versioned/typed/serving/v1"
	"weir.dev/internal/admission"
	"weir.dev/internal/autoscaler"
	"weir.dev/internal/controlplane/digest"
	"weir.dev/internal/controlplane/feed"
	"weir.dev/internal/controlplane/revision"
	"weir.dev/internal/controlplane/service/follow"
	"weir.dev/pkg/client/injection/kube/informers/factory/filtered"
	"weir.dev/pkg/injection/sharedmain"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/system"
)

// component names the controller in leases, logs and events.
const component = "controller"

// ControlPlane is an assembled controller. Each is run once.
type ControlPlane struct {
	cfg        Config
	feed       *feed.Server
	autoscaler *autoscaler.Autoscaler
	digests    *digest.Resolver
	follow     *follow.Follower
	admission  *admission.Admission
	settings   *admission.Settings

	synced chan []cache.InformerSynced // what must have synced to be ready; sent once
	ready  chan struct{}
}

// New assembles a control plane. Nothing is connected before Run.
func New(cfg Config) (*ControlPlane, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(cfg.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	digests := digest.NewResolver(&digest.Remote{Client: kube})
	cp := &ControlPlane{
		cfg:        cfg,
		autoscaler: autoscaler.New(),
		digests:    digests,
		follow:     follow.New(follow.Config{Kube: kube, Digests: digests, LocalImage: cfg.LocalImage}),
		synced:     make(chan []cache.InformerSynced, 1),
		ready:      make(chan struct{}),
	}
	cp.feed, err = feed.New(feed.Config{Listener: cfg.FeedListener, TLS: cfg.FeedTLS, Receiver: cp.autoscaler})
	if err != nil {
		return nil, err
	}
	return cp, cp.assembleAdmission(kube)
}

func (cp *ControlPlane) assembleAdmission(kube kubernetes.Interface) error {
	a := cp.cfg.Admission
	if a == nil {
		return nil
	}
	log := cp.cfg.Log
	if log == nil {
		log = logging.FromContext(context.Background())
	}
	cp.settings = admission.NewSettings(log)
	serving, err := servingclient.NewForConfig(cp.cfg.RESTConfig)
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	cp.admission, err = admission.New(admission.Config{
		Client:   kube,
		Serving:  serving,
		Listener: a.Listener,
		CertDir:  a.CertDir,
		URL:      a.URL,
		Service:  a.Service,
		Settings: cp.settings.Load,
		Log:      log,

		Deployment: cp.settings.Deployment,
	})
	return err
}

// Run is New and Run of the result.
func Run(ctx context.Context, cfg Config) error {
	cp, err := New(cfg) //nolint:contextcheck // nothing is waited for before Run
	if err != nil {
		return err
	}
	return cp.Run(ctx)
}

// Ready is closed once admission is in force, all caches are filled and gateways are served.
func (cp *ControlPlane) Ready() <-chan struct{} { return cp.ready }

// Run works until ctx ends or a part fails, and returns after all parts ended: the reconcilers first, then what they use.
func (cp *ControlPlane) Run(ctx context.Context) error {
	ctx = cp.context(ctx)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	parts, background := errgroup.WithContext(background)
	for _, run := range cp.background() {
		parts.Go(func() error { return run(background) })
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(background, cancel)() // without one of its parts the rest is of no use
	err := cp.prepare(ctx)
	if err == nil && ctx.Err() == nil {
		err = sharedmain.Run(ctx, component, cp.cfg.RESTConfig, cp.constructors()...)
	}
	stop()
	return errors.Join(err, parts.Wait())
}

// context is what all parts find their surroundings in.
func (cp *ControlPlane) context(ctx context.Context) context.Context {
	ctx = system.WithNamespace(ctx, cp.cfg.Namespace)
	ctx = filtered.WithSelectors(ctx, revision.PodSelector)
	if cp.cfg.Log != nil {
		ctx = logging.WithLogger(ctx, cp.cfg.Log)
	}
	if cp.cfg.Alone {
		ctx = sharedmain.WithHADisabled(ctx)
	}
	return ctx
}

// background are the parts that reconcilers use: they start before and end after them.
func (cp *ControlPlane) background() []func(context.Context) error {
	parts := []func(context.Context) error{cp.feed.Run, cp.autoscaler.Run, cp.digests.Run, cp.announce}
	if cp.admission != nil {
		parts = append(parts, cp.admission.Run)
	}
	return parts
}

// prepare returns when reconcilers may start: admission is in force, since none is to write an object that nobody defaulted,
// and what they need is there. The end of ctx is no failure; that of a part is told by its own error.
func (cp *ControlPlane) prepare(ctx context.Context) error {
	if cp.admission != nil {
		select {
		case <-cp.admission.Ready():
		case <-ctx.Done():
			return nil
		}
	}
	if cp.cfg.Prepare == nil {
		return nil
	}
	if err := cp.cfg.Prepare(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("controlplane: prepare: %w", err)
	}
	return nil
}

// announce closes ready when everything is.
func (cp *ControlPlane) announce(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case synced := <-cp.synced:
		if cache.WaitForCacheSync(ctx.Done(), synced...) {
			close(cp.ready)
		}
	}
	return nil
}
