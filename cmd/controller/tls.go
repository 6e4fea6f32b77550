// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// feedTLS admits gateways only: they show a certificate of an authority in the file ca, with the common name gateway. The
// files are read anew for each connection, so that certificates can be replaced at any time.
func feedTLS(cert, key, ca, gateway string) *tls.Config {
	load := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("reading the feed's certificate: %w", err)
		}
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("reading the authorities of gateways: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in %s", ca)
		}
		return &tls.Config{
			MinVersion:       tls.VersionTLS13,
			Certificates:     []tls.Certificate{pair},
			NextProtos:       []string{"h2"},
			ClientAuth:       tls.RequireAndVerifyClientCert,
			ClientCAs:        roots,
			VerifyConnection: func(s tls.ConnectionState) error { return isGateway(s, gateway) },
		}, nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, GetConfigForClient: load}
}

func isGateway(s tls.ConnectionState, name string) error {
	if got := s.PeerCertificates[0].Subject.CommonName; got != name {
		return fmt.Errorf("%q is no gateway", got)
	}
	return nil
}
