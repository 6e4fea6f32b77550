// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"time"
)

const (
	// idleLifetime is how long a connection is kept without use if the program does not name a shorter time.
	idleLifetime = 60 * time.Second
	// maxIdle is how many connections are kept without use.
	maxIdle = 512
)

// get returns the connection that was used last, or a new one.
func (p *Peer) get(ctx context.Context) (*conn, error) {
	for {
		c := p.pop()
		if c == nil {
			return p.open(ctx)
		}
		if time.Since(c.since) < c.lifetime && c.alive() {
			c.reused = true
			return c, nil
		}
		c.nc.Close()
	}
}

func (p *Peer) open(ctx context.Context) (*conn, error) {
	nc, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(p, nc), nil
}

func (p *Peer) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	return c
}

func (p *Peer) put(c *conn) {
	c.since = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxIdle {
		c.nc.Close()
		return
	}
	p.idle = append(p.idle, c)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(idleLifetime/2, p.reap)
	} else if len(p.idle) == 1 {
		p.reaper.Reset(idleLifetime / 2)
	}
}

// reap closes what was not used for long; it goes on as long as there is something to look after.
func (p *Peer) reap() {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.idle[:0]
	for _, c := range p.idle {
		if now.Sub(c.since) < c.lifetime {
			kept = append(kept, c)
		} else {
			c.nc.Close()
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	if len(kept) > 0 && !p.closed {
		p.reaper.Reset(idleLifetime / 2)
	}
}
