// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bufio"
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// maxHead bounds the head of a response.
const maxHead = 1 << 20

var errHeadTooLong = errors.New("head of the response is too long")

// conn is a connection that carries one request at a time.
type conn struct {
	peer *Peer
	nc   net.Conn
	br   *bufio.Reader
	bw   *bufio.Writer

	written int64 // bytes that the kernel took, ever
	mark    int64 // written when the present request began
	head    int   // bytes that may still be read as part of a head; negative is without limit
	reset   bool  // a write learnt that the program reset the connection
	reused  bool
	// lifetime is how long it may be kept idle; since is when it became so.
	lifetime time.Duration
	since    time.Time
	abort    func()        // ends all blocked reads and writes, for good
	cancel   func()        // aborts at the end of a context
	canceled chan struct{} // closed when cancel ran
	probe    *idleProbe    // nil if the connection has no file descriptor
}

func newConn(p *Peer, nc net.Conn) *conn {
	c := &conn{peer: p, nc: nc, lifetime: idleLifetime, head: -1}
	c.br = bufio.NewReaderSize((*connReader)(c), 4<<10)
	c.bw = bufio.NewWriterSize((*connWriter)(c), 4<<10)
	c.abort = func() { _ = nc.SetDeadline(time.Unix(1, 0)) }
	c.canceled = make(chan struct{})
	c.cancel = func() {
		defer close(c.canceled) // once: a connection on which it ran is not used again
		c.abort()
	}
	if sc, ok := nc.(syscall.Conn); ok {
		c.probe = newIdleProbe(sc)
	}
	return c
}

// guard aborts the connection when ctx ends. The function that it returns takes that back; false says that it came too late,
// and then the abort is over, so that whoever gets the connection next can set deadlines of his own.
func (c *conn) guard(ctx context.Context) (release func() bool) {
	stop := context.AfterFunc(ctx, c.cancel)
	return func() bool {
		if stop() {
			return true
		}
		<-c.canceled
		return false
	}
}

// alive has a look whether the program closed the connection (or sent something unasked) while it was idle.
func (c *conn) alive() bool { return c.br.Buffered() == 0 && (c.probe == nil || c.probe.quiet()) }

// untouched says that no byte of the present request reached the program: the kernel took none, or the program closed
// its side before its kernel acknowledged any. failed is the error of the attempt. A reset proves nothing, since it may
// overtake the acknowledgement of what the program read; and it looks like a close to a read that comes after the write
// that was told.
func (c *conn) untouched(failed error) bool {
	if c.written == c.mark {
		return true
	}
	return isEOF(failed) && !c.reset && c.probe != nil && c.probe.acked() <= c.mark
}

type connReader conn

func (r *connReader) Read(p []byte) (int, error) {
	if r.head == 0 {
		return 0, errHeadTooLong
	}
	if r.head > 0 && len(p) > r.head {
		p = p[:r.head]
	}
	n, err := r.nc.Read(p)
	if r.head > 0 {
		r.head -= n
	}
	return n, err
}

type connWriter conn

func (w *connWriter) Write(p []byte) (int, error) {
	n, err := w.nc.Write(p)
	w.written += int64(n)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		w.reset = true
	}
	return n, err
}
