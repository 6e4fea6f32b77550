// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// script is a dialer whose attempts end as it says, in turn; "silence" means
// that nobody answers.
type script struct {
	ends  []error
	tries []time.Duration // since the beginning
	start time.Time
}

var (
	errSilence = errors.New("silence")
	errRefused = &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	errNoRoute = &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}
)

func (s *script) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.tries = append(s.tries, time.Since(s.start))
	end := s.ends[min(len(s.tries), len(s.ends))-1]
	if errors.Is(end, errSilence) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if end != nil {
		return nil, end
	}
	conn, _ := net.Pipe()
	return conn, nil
}

func TestBackoffDialer(t *testing.T) {
	const s = time.Second
	tests := map[string]struct {
		reason  string
		ends    []error
		timeout time.Duration // of the caller
		want    []time.Duration
		wantErr error
	}{
		"AtOnce":   {"no wait before the first", []error{nil}, time.Hour, []time.Duration{0}, nil},
		"Retried":  {"each attempt has longer", []error{errSilence, errSilence, nil}, time.Hour, []time.Duration{0, 1 * s, 3 * s}, nil},
		"Steps":    {"the steps are all", []error{errSilence}, time.Hour, []time.Duration{0, 1 * s, 3 * s}, context.DeadlineExceeded},
		"Caller":   {"the caller has less time", []error{errSilence}, 2 * s, []time.Duration{0, 1 * s}, context.DeadlineExceeded},
		"Refused":  {"a refusal is an answer", []error{errRefused}, time.Hour, []time.Duration{0}, syscall.ECONNREFUSED},
		"NoRoute":  {"an early time-out does not make it spin", []error{errNoRoute}, time.Hour, []time.Duration{0, 1 * s, 3 * s}, syscall.ETIMEDOUT},
		"Recovers": {"what is refused later is refused", []error{errSilence, errRefused}, time.Hour, []time.Duration{0, 1 * s}, syscall.ECONNREFUSED},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				played := &script{ends: tc.ends, start: time.Now()}
				d := backoffDialer{backoff: wait.Backoff{Duration: s, Factor: 2, Steps: 3}, dial: played.dial}
				for range 2 { // the back-off is not used up
					played.tries, played.start = nil, time.Now()
					_, err := d.Dial(ctx, "tcp", "10.0.0.1:80")
					if !errors.Is(err, tc.wantErr) {
						t.Errorf("%s: error is %v, want %v", tc.reason, err, tc.wantErr)
					}
					if len(played.tries) != len(tc.want) || played.tries[len(tc.want)-1] != tc.want[len(tc.want)-1] {
						t.Errorf("%s: tried after %v, want %v", tc.reason, played.tries, tc.want)
					}
					if tc.timeout < time.Hour {
						return
					}
				}
			})
		})
	}
}

func TestDialTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	address := server.Listener.Addr().String()

	conn, err := DialTLSWithBackOff(t.Context(), "tcp", address, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatalf("DialTLSWithBackOff: %v", err)
	}
	if state := conn.(*tls.Conn).ConnectionState(); !state.HandshakeComplete {
		t.Error("no handshake took place")
	}
	conn.Close()

	if _, err := DialTLSWithBackOff(t.Context(), "tcp", address, nil); !errors.As(err, new(*tls.CertificateVerificationError)) {
		t.Errorf("a peer that nobody vouches for: %v", err)
	}
	if _, err := DialTLSWithBackOff(t.Context(), "tcp", "no port", nil); err == nil {
		t.Error("an address has a port")
	}
}

func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	conn, err := DialWithBackOff(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("DialWithBackOff: %v", err)
	}
	conn.Close()
	l.Close()
	if _, err := DialWithBackOff(t.Context(), "tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
}
