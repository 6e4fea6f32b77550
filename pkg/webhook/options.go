// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
)

const (
	defaultServerKey  = "server-key.pem"
	defaultServerCert = "server-cert.pem"

	// defaultGracePeriod is how long a service's endpoints and the connections
	// of API servers may take to follow a pod that is no longer ready.
	defaultGracePeriod = 45 * time.Second
)

// Options say how a process serves webhooks. Its controllers read them from
// their context, too.
type Options struct {
	// ServiceName is the k8s Service, in the system namespace, by which the API
	// server reaches the webhook. Certificates are made for it.
	ServiceName string
	// SecretName is the Secret, in the system namespace, with the certificate.
	SecretName string
	// Port to serve on.
	Port int

	// TLSMinVersion is tls.VersionTLS12 or tls.VersionTLS13. Zero is what
	// WEBHOOK_TLS_MIN_VERSION says, else 1.3.
	TLSMinVersion uint16
	// TLSMaxVersion is like TLSMinVersion; zero is what WEBHOOK_TLS_MAX_VERSION
	// says, else the newest.
	TLSMaxVersion uint16
	// TLSCipherSuites are those of TLS 1.2. Nil is what WEBHOOK_TLS_CIPHER_SUITES
	// says, else Go's choice.
	TLSCipherSuites []uint16
	// TLSCurvePreferences are for the key exchange. Nil is what
	// WEBHOOK_TLS_CURVE_PREFERENCES says, else Go's choice.
	TLSCurvePreferences []tls.CurveID

	// ServerPrivateKeyName is the Secret's key of the private key; empty means
	// server-key.pem.
	ServerPrivateKeyName string
	// ServerCertificateName is the Secret's key of the certificate; empty means
	// server-cert.pem.
	ServerCertificateName string

	// GracePeriod is how long requests are still answered after the process,
	// about to stop, has failed its readiness probe. Zero means 45 s.
	GracePeriod time.Duration
	// DisableNamespaceOwnership keeps the system namespace from owning the
	// webhook configurations. WEBHOOK_DISABLE_NAMESPACE_OWNERSHIP does so, too.
	DisableNamespaceOwnership bool
	// ControllerOptions are those of admission controllers; nil is the usual.
	ControllerOptions *controller.ControllerOptions
	// EnableHTTP2 offers HTTP/2, which brings nothing for one client and has
	// had its share of attacks.
	EnableHTTP2 bool

	// MeterProvider, TracerProvider and TextMapPropagator are for telemetry;
	// nil providers mean those of the context (package observability), a nil
	// propagator that of W3C's trace context and baggage.
	MeterProvider     metric.MeterProvider
	TracerProvider    trace.TracerProvider
	TextMapPropagator propagation.TextMapPropagator
}

type optionsKey struct{}

// WithOptions returns a context with those options.
func WithOptions(ctx context.Context, opts Options) context.Context {
	return context.WithValue(ctx, optionsKey{}, &opts)
}

// GetOptions returns a copy of the options of the context, or nil.
func GetOptions(ctx context.Context) *Options {
	opts, ok := ctx.Value(optionsKey{}).(*Options)
	if !ok {
		return nil
	}
	out := *opts
	return &out
}

// RequireOptions is GetOptions with every default filled in, for the
// constructors of the webhooks' controllers. Without options it panics with an
// injection.DependencyError.
func RequireOptions(ctx context.Context) Options {
	opts := GetOptions(ctx)
	if opts == nil {
		panic(&injection.DependencyError{
			Accessor: "weir.dev/pkg/webhook", Caller: "the constructor of a webhook",
			Err: errors.New("the context has no webhook.Options; put them there with webhook.WithOptions"),
		})
	}
	return opts.withDefaults()
}

func (o Options) withDefaults() Options {
	if o.ServerPrivateKeyName == "" {
		o.ServerPrivateKeyName = defaultServerKey
	}
	if o.ServerCertificateName == "" {
		o.ServerCertificateName = defaultServerCert
	}
	if o.GracePeriod == 0 {
		o.GracePeriod = defaultGracePeriod
	}
	o.DisableNamespaceOwnership = o.DisableNamespaceOwnership || ownershipDisabledByEnv()
	return o
}
