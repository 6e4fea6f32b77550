// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// DialError says that no connection could be made: nothing was sent.
type DialError struct{ Err error }

func (e *DialError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// Request is what the instance is to see.
type Request struct {
	Method string
	// Target is the request-target of HTTP/1.1, URL the same for HTTP/2.
	Target string
	URL    *url.URL
	Host   string
	// Header is complete but for Host and the framing of the body.
	Header http.Header
	// Body is nil if there is none. It may be read until Finish returns.
	Body io.Reader
	// Length of the body, -1 if unknown.
	Length int64
	// Trailer is filled when Body is at its end.
	Trailer http.Header
	// Scrub drops trailers that are not to be sent, once all have come.
	Scrub func(http.Header)
	// Upgrade is the protocol that the client wants to change to; "" for none. Only HTTP/1.1 can.
	Upgrade string
	// Expect says that the client sends its body only after an interim response 100.
	Expect bool
	// Interim receives 1xx responses but for 100 and 101, one after the other. It is called while RoundTrip runs, perhaps by
	// another goroutine, and may wait for the client; RoundTrip waits for it.
	Interim func(code int, h http.Header)
	// StopReading makes sure that a blocked Read of Body returns soon. It must be set if Body is; it is called from any
	// goroutine, but not after Finish returned.
	StopReading func()

	// Abandon, if set, takes over the connection of a request that was given up while the program may still work on it.
	Abandon func(net.Conn)
	// Buffers holds *[]byte of a useful length. It must be set if Body is.
	Buffers *sync.Pool

	sender sender      // HTTP/1.1
	stream *streamBody // HTTP/2
}

// Response is an answer. Its body must be read to the end or closed.
type Response struct {
	Code   int
	Header http.Header
	Length int64 // -1 if unknown
	Body   io.ReadCloser
	// Conn and Reader are set after a change of protocol (101) and belong to the caller then.
	Conn   net.Conn
	Reader *bufio.Reader

	res *http.Response
}

// Trailer has the names that were announced with the head, and at the end of the body all trailers with their values.
func (r *Response) Trailer() http.Header { return r.res.Trailer }

// Config of a Peer.
type Config struct {
	Address string // ip:port
	H2C     bool
	// Dial opens a connection; nil is the network's, with a limit of two seconds.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Peer holds the connections to one instance. Safe for use by many goroutines.
type Peer struct {
	config Config
	h2     *http2.Transport // nil for HTTP/1.1

	mu     sync.Mutex
	idle   []*conn // the last used at the end
	closed bool
	reaper *time.Timer
}

// dialTimeout bounds how long a request waits for an instance that does not answer before it goes to another.
const dialTimeout = 2 * time.Second

// New returns a Peer without connections.
func New(c Config) *Peer {
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	p := &Peer{config: c}
	if c.H2C {
		p.h2 = &http2.Transport{
			AllowHTTP:          true,
			DisableCompression: true,
			DialTLSContext: func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
				return p.dial(context.WithoutCancel(ctx)) // all streams wait for this connection
			},
			ReadIdleTimeout:   30 * time.Second,
			PingTimeout:       15 * time.Second,
			MaxHeaderListSize: maxHead,
			IdleConnTimeout:   idleLifetime,
		}
	}
	return p
}

func (p *Peer) dial(ctx context.Context) (net.Conn, error) {
	c, err := p.config.Dial(ctx, "tcp", p.config.Address)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &DialError{err}
	}
	return c, nil
}

// RoundTrip sends a request and returns the head of its response. It ends early with the cause of ctx. After a [*DialError]
// nothing was sent that a program saw, and the same request can be given to another peer. In the end, whatever happened,
// [Request.Finish] must be called.
func (p *Peer) RoundTrip(ctx context.Context, q *Request) (*Response, error) {
	if p.h2 != nil {
		return p.roundTrip2(ctx, q)
	}
	return p.roundTrip1(ctx, q)
}

// Close closes idle connections now, the others when their requests are done.
func (p *Peer) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	if p.reaper != nil {
		p.reaper.Stop()
	}
	p.mu.Unlock()
	for _, c := range idle {
		c.nc.Close()
	}
	if p.h2 != nil {
		p.h2.CloseIdleConnections()
	}
}

// Open takes a Close back.
func (p *Peer) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

// Prompt says that the body, or its beginning, is here already.
func (r *Response) Prompt() bool {
	b, ok := r.Body.(*body)
	return ok && b.conn.br.Buffered() > 0
}
