// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"
)

// shutdownTimeout bounds how long requests in hand may take at the end; the
// API server itself waits for a webhook 10 s at most.
const shutdownTimeout = 10 * time.Second

// Config is what a Server needs.
type Config struct {
	// Listener accepts plain connections; the server owns it and speaks TLS
	// on them.
	Listener net.Listener
	// Certificate returns the certificate to present, at each handshake, so
	// that a new one counts at once.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Controllers are served at their paths. Each path may occur once.
	Controllers []AdmissionController
	// Log; nil discards.
	Log *zap.SugaredLogger
}

// Server serves admission controllers.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// New returns a server, which serves once it runs.
func New(cfg Config) (*Server, error) {
	if cfg.Listener == nil || cfg.Certificate == nil {
		return nil, errors.New("webhook: a listener and a certificate are needed")
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop().Sugar()
	}
	handlers := map[string]http.Handler{}
	for _, c := range cfg.Controllers {
		if !strings.HasPrefix(c.Path(), "/") || handlers[c.Path()] != nil {
			return nil, fmt.Errorf("webhook: path %q is invalid or used twice", c.Path())
		}
		handlers[c.Path()] = handler{controller: c, log: cfg.Log}
	}
	return &Server{
		listener: cfg.Listener,
		http: &http.Server{
			Handler:           router(handlers),
			ReadHeaderTimeout: time.Minute,
			ErrorLog:          log.New(logWriter{cfg.Log}, "", 0),
			TLSConfig: &tls.Config{
				MinVersion:     tls.VersionTLS13,
				GetCertificate: cfg.Certificate,
				// HTTP/2 brings nothing for one client and has had its share
				// of attacks.
				NextProtos: []string{"http/1.1"},
			},
		},
	}, nil
}

// router serves the paths and answers all others with 400.
func router(handlers map[string]http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h, ok := handlers[r.URL.Path]; ok {
			h.ServeHTTP(w, r)
			return
		}
		http.Error(w, "no controller registered for "+r.URL.Path, http.StatusBadRequest)
	}
}

// Run serves until the context ends and the requests in hand are answered.
func (s *Server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(tls.NewListener(s.listener, s.http.TLSConfig)) }()

	select {
	case err := <-served:
		return fmt.Errorf("serve webhooks: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := s.http.Shutdown(grace)
	if ended := <-served; err == nil && !errors.Is(ended, http.ErrServerClosed) {
		err = ended
	}
	if err != nil {
		return fmt.Errorf("stop webhooks: %w", err)
	}
	return nil
}

// logWriter takes what net/http logs, mostly handshakes that fail.
type logWriter struct{ log *zap.SugaredLogger }

// Write logs a line at debug level.
func (w logWriter) Write(line []byte) (int, error) {
	w.log.Debug(strings.TrimSpace(string(line)))
	return len(line), nil
}
