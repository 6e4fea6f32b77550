// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Dial is how transports get connections.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// defaultBackoff gives a peer about 19 s, beginning with attempts that are much
// shorter than the second after which a kernel repeats an unanswered SYN: the
// network of a new pod may swallow the first.
func defaultBackoff() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.4, Jitter: 0.1, Steps: 15}
}

// NewBackoffDialer returns a dialer that tries again when nobody answers: each
// step of the back-off is the time of one attempt. A refusal is an answer, and
// returned at once.
func NewBackoffDialer(backoff wait.Backoff) Dial {
	return backoffDialer{backoff: backoff, dial: (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext}.Dial
}

// DialWithBackOff dials with the back-off that this package's transports have.
func DialWithBackOff(ctx context.Context, network, address string) (net.Conn, error) {
	return NewBackoffDialer(defaultBackoff())(ctx, network, address)
}

// DialTLSWithBackOff is DialWithBackOff with a TLS handshake. Without a server
// name in the configuration it verifies the address's host.
func DialTLSWithBackOff(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	raw, err := DialWithBackOff(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config = config.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", address, err)
	}
	return conn, nil
}

type backoffDialer struct {
	backoff wait.Backoff
	dial    Dial
}

// Dial is one attempt a step of the back-off, of which there is at least one.
func (d backoffDialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	backoff := d.backoff // Step changes it
	start := time.Now()
	for {
		conn, err := d.attempt(ctx, backoff.Step(), network, address)
		switch {
		case err == nil:
			return conn, nil
		case ctx.Err() != nil, !isTimeout(err), backoff.Steps <= 0:
			return nil, fmt.Errorf("dialling %s for %v: %w", address, time.Since(start).Round(time.Millisecond), err)
		}
	}
}

// attempt uses up its time even if the system says earlier that nobody answers.
func (d backoffDialer) attempt(ctx context.Context, timeout time.Duration, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := d.dial(ctx, network, address)
	if err != nil && isTimeout(err) {
		<-ctx.Done()
	}
	return conn, err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
