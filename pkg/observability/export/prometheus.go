// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"weir.dev/pkg/environment"
	networktls "weir.dev/pkg/network/tls"
)

const (
	envPrefix   = "METRICS_PROMETHEUS_"
	defaultPort = 9090
	lowestPort  = 1024
)

// server serves GET /metrics until it is shut down.
type server struct {
	http *http.Server
	addr net.Addr
	done chan struct{}
}

// serve begins to serve what the registry gathers, as the METRICS_PROMETHEUS_
// variables say: HOST (all), PORT (9090), TLS_CERT and TLS_KEY (none: plain HTTP),
// TLS_CLIENT_AUTH (none, optional or require) with TLS_CLIENT_CA_FILE.
func serve(registry *prometheus.Registry) (*server, error) {
	port, err := port()
	if err != nil {
		return nil, err
	}
	config, err := tlsConfig()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(os.Getenv(envPrefix+"HOST"), strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listening for scrapes of metrics: %w", err)
	}
	return serveOn(l, config, registry), nil
}

func serveOn(l net.Listener, config *tls.Config, registry *prometheus.Registry) *server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &server{http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, addr: l.Addr(), done: make(chan struct{})}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ends by shutdown
	}()
	return s
}

func (s *server) shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	<-s.done
	return err
}

func port() (int, error) {
	port, err := environment.Port(envPrefix+"PORT", defaultPort)
	if err == nil && port < lowestPort {
		err = fmt.Errorf("%sPORT: want a port from %d, got %d", envPrefix, lowestPort, port)
	}
	return port, err
}

// tlsConfig returns nil when metrics are served in the clear.
func tlsConfig() (*tls.Config, error) {
	cert, key := os.Getenv(envPrefix+"TLS_CERT"), os.Getenv(envPrefix+"TLS_KEY")
	if cert == "" && key == "" {
		return nil, nil
	}
	config, err := networktls.DefaultConfigFromEnv(envPrefix)
	if err != nil {
		return nil, err
	}
	// Read at each handshake, so that a renewed certificate is presented.
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := config.GetCertificate(nil); err != nil {
		return nil, fmt.Errorf("%sTLS_CERT: %w", envPrefix, err)
	}
	return config, clientAuth(config)
}

func clientAuth(config *tls.Config) error {
	switch auth := os.Getenv(envPrefix + "TLS_CLIENT_AUTH"); auth {
	case "", "none":
		return nil
	case "optional":
		config.ClientAuth = tls.VerifyClientCertIfGiven
	case "require":
		config.ClientAuth = tls.RequireAndVerifyClientCert
	default:
		return fmt.Errorf("%sTLS_CLIENT_AUTH: want none, optional or require, got %q", envPrefix, auth)
	}
	file := os.Getenv(envPrefix + "TLS_CLIENT_CA_FILE")
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%sTLS_CLIENT_CA_FILE: %w", envPrefix, err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%sTLS_CLIENT_CA_FILE: no certificate in %s", envPrefix, file)
	}
	return nil
}
