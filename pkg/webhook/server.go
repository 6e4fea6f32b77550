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
// API server itself waits for a webhook 30 s at most.
const shutdownTimeout = 30 * time.Second

// ServerConfig is what a Server needs.
type ServerConfig struct {
	// TLS presents the certificate that its GetCertificate returns at each
	// handshake, so that a new one counts at once.
	TLS *tls.Config
	// Controllers are AdmissionControllers and ConversionControllers, served at
	// their paths. Each path may occur once.
	Controllers []any
	// Synced is closed once informers have synced: AdmissionControllers that are
	// not stateless answer then. Nil holds nothing up.
	Synced <-chan struct{}
	// GracePeriod is how long requests are still answered after readiness
	// probes began to fail.
	GracePeriod time.Duration
	// EnableHTTP2 offers HTTP/2.
	EnableHTTP2 bool
	// Telemetry is where metrics and traces go.
	Telemetry Telemetry
	// Log; nil discards.
	Log *zap.SugaredLogger
}

// Server serves webhooks.
type Server struct {
	http    *http.Server
	leaving chan struct{} // closed once the server is about to stop
	grace   time.Duration
}

// NewServer returns a server, which serves once it runs.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.TLS == nil || cfg.TLS.GetCertificate == nil {
		return nil, errors.New("webhook: a certificate is needed")
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop().Sugar()
	}
	leaving := make(chan struct{})
	paths, err := pathsOf(cfg, leaving)
	if err != nil {
		return nil, err
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(cfg.EnableHTTP2)
	return &Server{
		leaving: leaving,
		grace:   cfg.GracePeriod,
		http: &http.Server{
			Handler:           probed{next: paths, leaving: leaving},
			ReadHeaderTimeout: time.Minute,
			ErrorLog:          log.New(logWriter{cfg.Log}, "", 0),
			TLSConfig:         cfg.TLS.Clone(),
			Protocols:         protocols,
		},
	}, nil
}

// router serves paths and answers all others with 400.
type router map[string]http.Handler

func (paths router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h, ok := paths[r.URL.Path]; ok {
		h.ServeHTTP(w, r)
		return
	}
	http.Error(w, "no controller registered for "+r.URL.Path, http.StatusBadRequest)
}

func pathsOf(cfg ServerConfig, leaving <-chan struct{}) (router, error) {
	instruments, err := newTelemetry(cfg.Telemetry)
	if err != nil {
		return nil, err
	}
	paths := router{}
	for _, c := range cfg.Controllers {
		path, handler, stateless := handlerOf(c, cfg.Log, instruments)
		if handler == nil {
			return nil, fmt.Errorf("webhook: a %T is no webhook's controller", c)
		}
		if !strings.HasPrefix(path, "/") || paths[path] != nil {
			return nil, fmt.Errorf("webhook: path %q is invalid or used twice", path)
		}
		if !stateless && cfg.Synced != nil {
			handler = waiting{next: handler, synced: cfg.Synced, leaving: leaving}
		}
		paths[path] = instruments.traced(path, handler)
	}
	return paths, nil
}

// handlerOf also tells whether the controller does without informers.
func handlerOf(controller any, log *zap.SugaredLogger, t *telemetry) (path string, h http.Handler, stateless bool) {
	switch c := controller.(type) {
	case AdmissionController:
		_, stateless = c.(StatelessAdmissionController)
		return c.Path(), admission{controller: c, telemetry: t, log: log}, stateless
	case ConversionController:
		return c.Path(), conversion{controller: c, telemetry: t, log: log}, true
	default:
		return "", nil, false
	}
}

// Run serves on the listener, which is of plain connections and the server's
// from now on, until the context ends; it runs once. The server is then no longer ready,
// answers for the grace period as before, and returns once the requests in hand
// are answered.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.http.ServeTLS(listener, "", "") }()

	select {
	case err := <-served:
		return fmt.Errorf("serve webhooks: %w", err)
	case <-ctx.Done():
	}
	close(s.leaving)
	s.http.SetKeepAlivesEnabled(false) // callers look for another server next time
	select {
	case err := <-served:
		return fmt.Errorf("serve webhooks: %w", err)
	case <-time.After(s.grace):
	}
	return s.shutdown(context.WithoutCancel(ctx), served)
}

func (s *Server) shutdown(ctx context.Context, served <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if ended := <-served; err == nil && !errors.Is(ended, http.ErrServerClosed) {
		err = ended
	}
	if err != nil {
		return fmt.Errorf("stop webhooks: %w", err)
	}
	return nil
}

// logWriter takes what net/http logs: mostly handshakes that fail, and panics.
type logWriter struct{ log *zap.SugaredLogger }

// Write logs a line, panics as errors and all else at debug level.
func (w logWriter) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.Contains(text, "panic serving") {
		w.log.Error(text)
	} else {
		w.log.Debug(text)
	}
	return len(line), nil
}
