// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"weir.dev/embedded/cluster/pki"
	"weir.dev/internal/controlplane"
	"weir.dev/internal/gateway"
)

// requestGrace is how long requests in hand may go on when Weir stops.
const requestGrace = 15 * time.Second

// controllerUser is the account whose rights config/rbac has.
const controllerUser = "system:serviceaccount:" + systemNamespace + ":controller"

const (
	feedServerName = "weir-controller"
	gatewayName    = "weir-gateway"
)

// startController runs the reconcilers, the autoscaler, admission and the feed, and waits until all of them work. Without this
// part another process runs them, so what they need is written here.
func (w *Weir) startController(ctx context.Context) error {
	tlsConfig, err := w.feedServerTLS() // also for the other process, which reads the certificate from <data>/pki
	if err != nil {
		return err
	}
	if !w.cfg.has(PartController) {
		return w.applyConfig(ctx)
	}
	cfg, err := w.cluster.ConfigFor(controllerUser, "system:serviceaccounts", "system:serviceaccounts:"+systemNamespace)
	if err != nil {
		return err
	}
	log, setLevel := sugared(w.cfg.Log.With("part", PartController))
	cp, err := controlplane.New(controlplane.Config{
		RESTConfig:   cfg,
		Namespace:    systemNamespace,
		FeedListener: w.listeners.feed,
		FeedTLS:      tlsConfig,
		Drain:        w.addresses.Drain,
		Admission: &controlplane.Admission{
			Listener: w.listeners.webhook,
			CertDir:  filepath.Join(w.cfg.DataDir, "webhook"),
		},
		LocalImage: w.images.PinLocal,
		Prepare:    w.applyConfig,
		Alone:      true,
		Log:        log,
		LogLevel:   setLevel,
	})
	if err != nil {
		return err
	}
	w.stack.Run(PartController, cp.Run)
	return w.stack.Until(ctx, "the controller", cp.Ready())
}

// startGateway connects a gateway to the feed and waits until it can route.
func (w *Weir) startGateway(ctx context.Context) error {
	tlsConfig, err := w.feedClientTLS() // as for the controller, also for another process
	if err != nil {
		return err
	}
	if !w.cfg.has(PartGateway) {
		return nil
	}
	conn, err := grpc.NewClient("passthrough:///"+w.addresses.Feed.String(),
		grpc.WithTransportCredentials(credentials.NewTLS(tlsConfig)))
	if err != nil {
		return fmt.Errorf("connect to the feed: %w", err)
	}
	w.stack.OnStop("feed connection", conn.Close)
	gw, err := gateway.New(gateway.Config{
		ID:       gatewayName,
		Feeds:    []grpc.ClientConnInterface{conn},
		External: []net.Listener{w.listeners.external},
		Internal: []net.Listener{w.listeners.internal},
		Drain:    w.listeners.drain,
		Grace:    requestGrace,
		Log:      w.cfg.Log.With("part", PartGateway),
	})
	if err != nil {
		return err
	}
	w.stack.Run(PartGateway, gw.Run)
	return w.stack.Until(ctx, "the gateway", whenTrue(ctx, gw.Ready))
}

// feedServerTLS admits gateways only: they show a certificate of the cluster's authority with the gateways' name.
func (w *Weir) feedServerTLS() (*tls.Config, error) {
	cert, roots, err := w.issue("feed", pki.Leaf{CommonName: feedServerName, Names: []string{feedServerName, "127.0.0.1"}, Server: true})
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    roots,
		VerifyConnection: func(s tls.ConnectionState) error {
			if name := s.PeerCertificates[0].Subject.CommonName; name != gatewayName {
				return fmt.Errorf("%q is no gateway", name)
			}
			return nil
		},
	}, nil
}

func (w *Weir) feedClientTLS() (*tls.Config, error) {
	cert, roots, err := w.issue("gateway", pki.Leaf{CommonName: gatewayName})
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		RootCAs:      roots,
		ServerName:   feedServerName,
	}, nil
}

// issue gives a certificate of the cluster's authority, and the authority to check others by.
func (w *Weir) issue(name string, leaf pki.Leaf) (tls.Certificate, *x509.CertPool, error) {
	authority := w.cluster.Authority()
	pair, err := authority.Issue(name, leaf)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	cert, err := pair.TLS()
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.CA.Cert)
	return cert, roots, nil
}

// whenTrue closes its channel once cond holds; it stops asking when ctx is done.
func whenTrue(ctx context.Context, cond func() bool) <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !cond() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		close(ready)
	}()
	return ready
}
