// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"go.uber.org/zap"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"weir.dev/api/config"
	servingclient "weir.dev/client/clientset/versioned/typed/serving/v1"
	settings "weir.dev/internal/controlplane/config"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/certificates"
	"weir.dev/pkg/webhook/configmaps"
	"weir.dev/pkg/webhook/resourcesemantics/defaulting"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

// Config is what an Admission needs.
type Config struct {
	// Client registers the webhooks.
	Client kubernetes.Interface
	// Serving is asked who uses what is to be deleted; nil lets everything go.
	Serving servingclient.ServingV1Interface
	// Listener accepts the API server's connections; Admission owns it.
	Listener net.Listener
	// CertDir keeps the certification authority over restarts.
	CertDir string
	// URL is where the API server reaches the listener, without a path. Empty
	// is https:// and the listener's address. Ignored with Service.
	URL string
	// Service is the k8s Service in front of the listener, in a cluster.
	Service *admissionregistrationv1.ServiceReference
	// Settings returns the settings to default and validate by, at each
	// request; nil is the defaults. See Settings.
	Settings func() *config.Config
	// Deployment returns the settings that pods are made by, for dry runs; nil
	// is the defaults.
	Deployment func() *settings.Deployment
	// Log; nil discards.
	Log *zap.SugaredLogger
}

// Admission answers the API server's admission requests.
type Admission struct {
	cfg    Config
	server *webhook.Server
	target target
	ready  chan struct{}
}

// New prepares admission; nothing is registered before Run.
func New(cfg Config) (*Admission, error) {
	if cfg.Client == nil || cfg.Listener == nil || cfg.CertDir == "" {
		return nil, errors.New("admission: a client, a listener and a directory for certificates are needed")
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop().Sugar()
	}
	if cfg.Settings == nil {
		cfg.Settings = func() *config.Config { return &config.Config{} }
	}
	if cfg.Deployment == nil {
		cfg.Deployment = func() *settings.Deployment { return settings.Default().Deployment }
	}
	target, hosts, err := targetOf(cfg)
	if err != nil {
		return nil, err
	}
	certs, err := certificates.Open(cfg.CertDir, hosts...)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	target.caBundle = certs.CABundle()
	controllers, err := controllersOf(cfg)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	server, err := webhook.NewServer(webhook.ServerConfig{
		TLS:         &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: certs.GetCertificate},
		Controllers: controllers, Log: cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	return &Admission{cfg: cfg, server: server, target: target, ready: make(chan struct{})}, nil
}

// Ready is closed once the webhooks are served and registered.
func (a *Admission) Ready() <-chan struct{} { return a.ready }

// Run serves the webhooks, then registers them, and serves until the context
// ends. They stay registered: no object is to slip by while nobody looks.
func (a *Admission) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- a.server.Run(ctx, a.cfg.Listener) }()

	if err := a.register(ctx); err != nil {
		cancel()
		return errors.Join(fmt.Errorf("register webhooks: %w", err), <-served)
	}
	close(a.ready)
	return <-served
}

func controllersOf(cfg Config) ([]any, error) {
	withSettings := func(ctx context.Context) context.Context { return config.ToContext(ctx, cfg.Settings()) }
	configMaps, err := configmaps.New(configPath, settings.Constructors())
	if err != nil {
		return nil, err
	}
	rehearsals := rehearsal{pods: cfg.Client.CoreV1(), settings: cfg.Deployment}.callbacks()
	return []any{
		defaulting.New(defaulting.Config{Path: defaultingPath, Kinds: kinds(), Context: withSettings}),
		guard{
			Controller: validation.New(validation.Config{
				Path: validationPath, Kinds: kinds(), Context: withSettings, Callbacks: []map[schema.GroupVersionKind]validation.Callback{rehearsals},
			}),
			client: cfg.Serving,
		},
		configMaps.WithWarnings(settings.Warnings),
	}, nil
}
