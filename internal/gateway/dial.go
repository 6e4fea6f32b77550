// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Dial returns connections to controllers, made when they are first used. The returned function closes them.
func Dial(addresses []string, t *tls.Config) ([]grpc.ClientConnInterface, func(), error) {
	creds := insecure.NewCredentials()
	if t != nil {
		creds = credentials.NewTLS(t)
	}
	var conns []grpc.ClientConnInterface
	var closers []func() error
	closeAll := func() {
		for _, c := range closers {
			_ = c()
		}
	}
	for _, a := range addresses {
		c, err := grpc.NewClient(a, grpc.WithTransportCredentials(creds),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second,
			}}))
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("controller %s: %w", a, err)
		}
		conns, closers = append(conns, c), append(closers, c.Close)
	}
	return conns, closeAll, nil
}

// Listen returns a listener for each address, or none.
func Listen(addresses ...string) ([]net.Listener, error) {
	var list []net.Listener
	for _, a := range addresses {
		l, err := net.Listen("tcp", a)
		if err != nil {
			for _, open := range list {
				_ = open.Close()
			}
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// MutualTLS reads a certificate, its key, and the authority that controllers must be signed by. It returns nil without
// error if no file is named.
func MutualTLS(cert, key, ca string) (*tls.Config, error) {
	if cert == "" && key == "" && ca == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the gateway: %w", err)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("authority of the controllers: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("authority of the controllers: no certificate in " + ca)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}
