// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// body is the body of a response; at its end the connection is free for the next request.
type body struct {
	conn *conn
	ctx  context.Context
	stop func() bool
	q    *Request
	res  *http.Response
	done bool
}

// Read reads on; errors after the end of the context are its cause.
func (b *body) Read(p []byte) (int, error) {
	if b.done {
		return 0, io.EOF
	}
	n, err := b.res.Body.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	b.finish(errors.Is(err, io.EOF))
	return n, err
}

// Close gives up what was not read.
func (b *body) Close() error {
	b.finish(false)
	return nil
}

func (b *body) finish(whole bool) {
	if b.done {
		return
	}
	b.done = true
	c := b.conn
	sent := b.q.detach(c)
	untouched := b.stop()
	if whole && sent && untouched && !b.res.Close && c.br.Buffered() == 0 && c.lifetime > 0 {
		c.peer.put(c)
		return
	}
	if whole {
		c.nc.Close()
	} else {
		c.discard(b.q)
	}
}

// keepAliveTimeout reads "timeout=5" out of a Keep-Alive header.
func keepAliveTimeout(values []string) (time.Duration, bool) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			name, seconds, _ := strings.Cut(strings.TrimSpace(part), "=")
			if !strings.EqualFold(name, "timeout") {
				continue
			}
			if n, err := strconv.Atoi(seconds); err == nil && n >= 0 && n < 1<<31 {
				return time.Duration(n) * time.Second, true
			}
		}
	}
	return 0, false
}
