// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
)

// DefaultNamespace is the system namespace unless Config names one.
const DefaultNamespace = "knative-serving"

// Config is what a control plane needs.
type Config struct {
	// RESTConfig leads to the API server; required. Without limits of its own it is not throttled: the server knows best.
	RESTConfig *rest.Config
	// Namespace is the system namespace; "" is DefaultNamespace. The operator's ConfigMaps must be there.
	Namespace string
	// FeedListener is where gateways connect; required. Run closes it.
	FeedListener net.Listener
	// FeedTLS secures the feed; nil is plaintext, for in-process listeners and tests.
	FeedTLS *tls.Config
	// Drain is where instances that go away wait for their requests to end, on the gateways' address; the zero value leaves
	// them without a hook.
	Drain netip.AddrPort
	// Admission defaults and validates our kinds; nil leaves that to another process.
	Admission *Admission
	// LocalImage names by digest an image that exists on this machine only, "" where it is none or not there; nil is no
	// such images. It is called from several goroutines.
	LocalImage func(image string) string
	// Prepare is called when admission is in force and before any reconciler starts, to write what admission guards and
	// reconcilers need, such as the ConfigMaps; nil is nothing to do.
	Prepare func(context.Context) error
	// Alone says that no other replica runs on this API server: leadership is not elected, so that a restart waits for no
	// lease.
	Alone bool
	// Log; nil is as the ConfigMap config-logging says.
	Log *zap.SugaredLogger
	// LogLevel is called with the level that config-logging names for Log, at the start and after every change; with nil where
	// it names none. nil leaves Log as it is.
	LogLevel func(*zapcore.Level)
}

// Admission is how the API server reaches our webhooks.
type Admission struct {
	// Listener accepts the API server's connections; required. Run closes it.
	Listener net.Listener
	// CertDir keeps the certification authority over restarts; required.
	CertDir string
	// URL is how the API server reaches the listener, without a path; "" is https:// and its address.
	URL string
	// Service is the k8s Service before the listener, instead of a URL.
	Service *admissionregistrationv1.ServiceReference
}

func (c *Config) complete() error {
	switch {
	case c.RESTConfig == nil:
		return errors.New("controlplane: no REST configuration")
	case c.FeedListener == nil:
		return errors.New("controlplane: no listener for the feed")
	case c.Admission != nil && (c.Admission.Listener == nil || c.Admission.CertDir == ""):
		return errors.New("controlplane: admission needs a listener and a directory for certificates")
	}
	c.RESTConfig = rest.CopyConfig(c.RESTConfig)
	if c.RESTConfig.QPS == 0 {
		c.RESTConfig.QPS = -1
	}
	if c.Namespace == "" {
		c.Namespace = DefaultNamespace
	}
	if c.LocalImage == nil {
		c.LocalImage = func(string) string { return "" }
	}
	return nil
}
