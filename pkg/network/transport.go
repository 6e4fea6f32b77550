// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/tls"
	"net/http"
	"time"
)

// idleConnTimeout is how long a transport keeps a connection for its next request.
const idleConnTimeout = 90 * time.Second

// NewAutoTransport returns a transport that sends a request in the protocol
// that the request says: HTTP/1.1, or HTTP/2 without TLS (h2c). https URLs are
// reached in either after TLS with the defaults. It keeps at most maxIdle
// connections of HTTP/1.1, and maxIdlePerHost to one host.
func NewAutoTransport(maxIdle, maxIdlePerHost int) http.RoundTripper {
	return newAuto(config{maxIdle: maxIdle, maxIdlePerHost: maxIdlePerHost})
}

// NewProxyAutoTransport is NewAutoTransport for a proxy: bodies pass as they
// are, compressed or not.
func NewProxyAutoTransport(maxIdle, maxIdlePerHost int) http.RoundTripper {
	return newAuto(config{maxIdle: maxIdle, maxIdlePerHost: maxIdlePerHost, asIs: true})
}

// NewProxyAutoTLSTransport is NewProxyAutoTransport for peers of https URLs
// that the configuration trusts.
func NewProxyAutoTLSTransport(maxIdle, maxIdlePerHost int, tlsConfig *tls.Config) http.RoundTripper {
	return newAuto(config{maxIdle: maxIdle, maxIdlePerHost: maxIdlePerHost, asIs: true, tls: tlsConfig})
}

// NewProberTransport returns a transport that opens a connection for each
// request, in the protocol that the request says: a probe asks whether a peer
// takes connections, and what a kept one leads to may be out of date.
func NewProberTransport() http.RoundTripper {
	return newAuto(config{asIs: true, fresh: true})
}

// config tells transports apart.
type config struct {
	maxIdle, maxIdlePerHost int
	asIs                    bool // whether bodies pass as they are
	fresh                   bool // whether each request has a connection of its own
	tls                     *tls.Config
}

// autoTransport has a transport a protocol: one net/http.Transport keeps to
// the protocol that it likes best.
type autoTransport struct {
	http1, http2 *http.Transport
}

func newAuto(c config) *autoTransport {
	http1, http2 := new(http.Protocols), new(http.Protocols)
	http1.SetHTTP1(true)
	http2.SetHTTP2(true)
	http2.SetUnencryptedHTTP2(true)
	t := &autoTransport{http1: c.transport(http1), http2: c.transport(http2)}
	t.http1.Proxy = http.ProxyFromEnvironment // proxies speak HTTP/1.1
	return t
}

func (c config) transport(protocols *http.Protocols) *http.Transport {
	return &http.Transport{
		DialContext:           DialWithBackOff,
		Protocols:             protocols,
		TLSClientConfig:       c.tls.Clone(),
		TLSHandshakeTimeout:   10 * time.Second,
		DisableKeepAlives:     c.fresh,
		DisableCompression:    c.asIs,
		MaxIdleConns:          c.maxIdle,
		MaxIdleConnsPerHost:   c.maxIdlePerHost,
		IdleConnTimeout:       idleConnTimeout,
		ExpectContinueTimeout: time.Second,
		// All requests to a peer share a connection; the peer may vanish from it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// RoundTrip implements http.RoundTripper.
func (t *autoTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ProtoMajor == 2 {
		return t.http2.RoundTrip(r)
	}
	return t.http1.RoundTrip(r)
}

// CloseIdleConnections has http.Client's method of that name work.
func (t *autoTransport) CloseIdleConnections() {
	t.http1.CloseIdleConnections()
	t.http2.CloseIdleConnections()
}
