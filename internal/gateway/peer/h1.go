// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// roundTrip1 tries a kept connection first. If that one turns out to have been dead before the program saw anything, the
// request goes over a new one.
func (p *Peer) roundTrip1(ctx context.Context, q *Request) (*Response, error) {
	c, err := p.get(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.exchange(ctx, q)
	if err == nil || !c.reused || ctx.Err() != nil || !c.untouched(err) || !q.again() {
		c.closeOn(err, q)
		return res, err
	}
	c.nc.Close()
	if c, err = p.open(ctx); err != nil {
		return nil, err
	}
	res, err = c.exchange(ctx, q)
	c.closeOn(err, q)
	return res, err
}

func (c *conn) closeOn(err error, q *Request) {
	if err != nil {
		c.discard(q)
	}
}

// discard ends the use of a connection whose request was not answered to the end.
func (c *conn) discard(q *Request) {
	if q.Abandon != nil && c.written > c.mark {
		q.Abandon(c.nc)
		return
	}
	c.nc.Close()
}

// exchange sends the request and reads the head of the response.
func (c *conn) exchange(ctx context.Context, q *Request) (*Response, error) {
	stop := c.guard(ctx)
	c.mark = c.written
	res, err := c.send(q)
	if err != nil {
		stop()
		q.detach(c)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return c.handOver(res, q, stop)
	}
	b := &body{conn: c, ctx: ctx, stop: stop, q: q, res: res}
	out := &Response{Code: res.StatusCode, Header: res.Header, Length: res.ContentLength, Body: b, res: res}
	c.learn(res.Header)
	if res.Body == http.NoBody {
		b.finish(true)
		out.Body = http.NoBody
	}
	return out, nil
}

func (c *conn) send(q *Request) (*http.Response, error) {
	c.writeHead(q)
	if err := c.bw.Flush(); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	if q.Body != nil && !q.attach(c) {
		return nil, errors.New("the body of the request cannot be sent twice")
	}
	return c.readHead(q)
}

// asHead tells the parser of responses that there is no body, whatever the head says.
var asHead = &http.Request{Method: http.MethodHead}

func (c *conn) readHead(q *Request) (*http.Response, error) {
	var parseAs *http.Request
	if q.Method == http.MethodHead {
		parseAs = asHead
	}
	for range maxInterim + 1 {
		c.head = maxHead
		_, err := c.br.Peek(1)
		if err != nil {
			return nil, q.blame(fmt.Errorf("the program closed the connection without an answer: %w", err))
		}
		res, err := http.ReadResponse(c.br, parseAs)
		c.head = -1
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading the response: %w", err)
		case res.StatusCode < 100:
			return nil, fmt.Errorf("status %d is none", res.StatusCode)
		case res.StatusCode == http.StatusSwitchingProtocols && q.Upgrade == "":
			return nil, errUnasked
		case res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols:
			return res, nil
		case res.StatusCode == http.StatusContinue:
			q.proceed()
		default:
			q.Interim(res.StatusCode, res.Header)
		}
	}
	return nil, errManyInterim
}

// handOver gives the connection to the caller.
func (c *conn) handOver(res *http.Response, q *Request, stop func() bool) (*Response, error) {
	if !stop() {
		return nil, errors.New("the request ended while the protocol was changed")
	}
	return &Response{Code: res.StatusCode, Header: res.Header, Body: http.NoBody, Conn: c.nc, Reader: c.br, res: res}, nil
}

// learn keeps the connection shorter if the program says when it will close it.
func (c *conn) learn(h http.Header) {
	if d, ok := keepAliveTimeout(h["Keep-Alive"]); ok {
		c.lifetime = max(0, min(idleLifetime, d-time.Second))
	}
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
