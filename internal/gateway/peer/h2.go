// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
)

// roundTrip2 leaves streams and connections to x/net. It sends a request again only if the program refused the stream
// unprocessed or never got it (RFC 9113, 8.7), and no body was read.
func (p *Peer) roundTrip2(ctx context.Context, q *Request) (*Response, error) {
	early := &interims{deliver: q.Interim}
	if q.Interim != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: early.got})
	}
	u := url.URL{Scheme: "http", Host: p.config.Address, Path: q.URL.Path, RawPath: q.URL.RawPath,
		RawQuery: q.URL.RawQuery, ForceQuery: q.URL.ForceQuery}
	hr := (&http.Request{Method: q.Method, URL: &u, Host: q.Host, Header: q.Header, Trailer: q.Trailer}).WithContext(ctx)
	if q.Body != nil {
		q.stream = &streamBody{q: q}
		hr.Body, hr.ContentLength = q.stream, q.Length
	}
	res, err := p.h2.RoundTrip(hr)
	early.end(err == nil)
	if err != nil {
		return nil, q.explain(ctx, err)
	}
	out := &Response{Code: res.StatusCode, Header: res.Header, Length: res.ContentLength, Body: &body2{res: res, ctx: ctx}, res: res}
	if res.ContentLength == 0 || q.Method == http.MethodHead {
		return out, out.skipBody()
	}
	return out, nil
}

// skipBody waits for the end of a stream that brings no more data, but perhaps trailers. What ended with its head must
// be passed on so: gRPC has answers that consist of nothing else.
func (r *Response) skipBody() error {
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	r.Body = http.NoBody
	return nil
}

func (q *Request) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d := (*DialError)(nil); errors.As(err, &d) {
		return d
	}
	return q.blame(err)
}

// streamBody is the body of a request as x/net reads it, in a goroutine that may outlive the response.
type streamBody struct {
	q       *Request
	reading sync.Mutex // held while reading

	closing sync.Mutex // guards stopped; held while StopReading is called
	stopped bool
}

var errStopped = errors.New("the body is not wanted any more")

// Read reads on until the body is stopped.
func (b *streamBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.isStopped() {
		return 0, errStopped
	}
	n, err := b.q.Body.Read(p)
	if err != nil {
		s := &b.q.sender
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.eof = err == io.EOF; s.eof {
			b.q.scrub()
		} else {
			s.failed = err
		}
	}
	return n, err
}

// Close keeps later reads out, and makes one that is going on return soon: x/net calls it when the stream is over, and in
// some cases waits for that.
func (b *streamBody) Close() error {
	b.closing.Lock()
	defer b.closing.Unlock()
	if !b.stopped && !b.q.ended() {
		b.q.StopReading()
	}
	b.stopped = true
	return nil
}

func (b *streamBody) isStopped() bool {
	b.closing.Lock()
	defer b.closing.Unlock()
	return b.stopped
}

// stop returns when no read is going on and none will be.
func (b *streamBody) stop() {
	b.closing.Lock()
	b.stopped = true
	b.closing.Unlock()
	b.reading.Lock()
	defer b.reading.Unlock()
}

// body2 is the body of a response over HTTP/2.
type body2 struct {
	res *http.Response
	ctx context.Context
}

// Read reads on; errors after the end of the context are its cause.
func (b *body2) Read(p []byte) (int, error) {
	n, err := b.res.Body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close resets the stream if it is not at its end.
func (b *body2) Close() error { return b.res.Body.Close() }
