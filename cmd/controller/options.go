// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"weir.dev/internal/controlplane"
	"weir.dev/internal/image"
	"weir.dev/pkg/injection"
)

// options are the command's flags.
type options struct {
	kubeconfig, namespace, drain, images     string
	feed, feedCert, feedKey, feedCA, gateway string
	webhook, webhookDir, webhookURL          string
	alone                                    bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("controller", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "file that leads to the API server; empty is the pod's own")
	f.StringVar(&o.namespace, "namespace", os.Getenv("SYSTEM_NAMESPACE"), "system namespace; empty is "+controlplane.DefaultNamespace)
	f.StringVar(&o.drain, "drain-address", "", "ip:port of the gateways where stopping pods wait; empty is no waiting")
	f.StringVar(&o.images, "image-store", "", "directory of the image store of a node on this machine, whose local images are pinned by digest; empty is none")
	f.StringVar(&o.feed, "feed-listen", ":8443", "where gateways connect")
	f.StringVar(&o.feedCert, "feed-cert", "", "certificate file of the feed; empty is plaintext")
	f.StringVar(&o.feedKey, "feed-key", "", "key file of the feed's certificate")
	f.StringVar(&o.feedCA, "feed-client-ca", "", "file with the authorities of gateways' certificates")
	f.StringVar(&o.gateway, "feed-client-name", "weir-gateway", "common name in gateways' certificates")
	f.StringVar(&o.webhook, "webhook-listen", "", "where the API server calls webhooks; empty is no webhooks")
	f.StringVar(&o.webhookDir, "webhook-cert-dir", "", "directory that keeps the webhooks' certificates")
	f.StringVar(&o.webhookURL, "webhook-url", "", "https URL of the webhooks; empty is the address that they listen on")
	f.BoolVar(&o.alone, "alone", false, "no other replica runs: do not elect a leader")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	return o, o.check()
}

func (o *options) check() error {
	switch {
	case o.feedCert != "" && (o.feedKey == "" || o.feedCA == ""):
		return errors.New("--feed-cert needs --feed-key and --feed-client-ca")
	case o.webhook != "" && o.webhookDir == "":
		return errors.New("--webhook-listen needs --webhook-cert-dir")
	}
	return nil
}

// config opens the listeners.
func (o *options) config() (controlplane.Config, error) {
	cfg := controlplane.Config{Namespace: o.namespace, Alone: o.alone}
	var err error
	if cfg.RESTConfig, err = injection.GetRESTConfig("", o.kubeconfig); err != nil {
		return cfg, fmt.Errorf("finding the API server: %w", err)
	}
	if o.drain != "" {
		if cfg.Drain, err = netip.ParseAddrPort(o.drain); err != nil {
			return cfg, fmt.Errorf("--drain-address: %w", err)
		}
	}
	if o.images != "" {
		store, err := image.Open(o.images)
		if err != nil {
			return cfg, fmt.Errorf("--image-store: %w", err)
		}
		cfg.LocalImage = store.PinLocal
	}
	if o.feedCert != "" {
		cfg.FeedTLS = feedTLS(o.feedCert, o.feedKey, o.feedCA, o.gateway)
	}
	if cfg.FeedListener, err = net.Listen("tcp", o.feed); err != nil {
		return cfg, fmt.Errorf("--feed-listen: %w", err)
	}
	if o.webhook == "" {
		return cfg, nil
	}
	cfg.Admission = &controlplane.Admission{CertDir: o.webhookDir, URL: o.webhookURL}
	if cfg.Admission.Listener, err = net.Listen("tcp", o.webhook); err != nil {
		return cfg, errors.Join(fmt.Errorf("--webhook-listen: %w", err), cfg.FeedListener.Close())
	}
	return cfg, nil
}
