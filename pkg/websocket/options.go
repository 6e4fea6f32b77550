// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package websocket

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// Option changes how a connection is made.
type Option func(*websocket.DialOptions, *http.Transport)

// WithTLSConfig sets whom to trust behind a target of the scheme wss.
func WithTLSConfig(config *tls.Config) Option {
	return func(_ *websocket.DialOptions, t *http.Transport) { t.TLSClientConfig = config.Clone() }
}

// WithHeader adds headers to the request that opens the connection.
func WithHeader(header http.Header) Option {
	return func(o *websocket.DialOptions, _ *http.Transport) { o.HTTPHeader = header.Clone() }
}

// WithDialer sets how the peer is dialled, as in network.DialWithBackOff.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(_ *websocket.DialOptions, t *http.Transport) { t.DialContext = dial }
}

func newDialOptions(opts []Option) *websocket.DialOptions {
	transport := newTransport()
	dial := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
	for _, opt := range opts {
		opt(dial, transport)
	}
	return dial
}

func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // a connection is taken over from HTTP/1.1
	return &http.Transport{Proxy: http.ProxyFromEnvironment, Protocols: protocols}
}
