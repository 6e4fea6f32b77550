// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"io"
	"sync"
	"time"
)

// sender copies the body of a request to the connection that the request is on. It belongs to the request, not to the
// connection, and keeps what it read as long as that fits into its buffer, so that the request can move on to another
// connection if the first one was dead.
type sender struct {
	mu      sync.Mutex // held while writing
	conn    *conn      // nil: nobody wants the body
	buf     *[]byte
	kept    int  // bytes of buf that were read
	lost    bool // more was read than kept
	sent    int64
	eof     bool  // the whole body was read
	whole   bool  // the whole body was written to conn
	failed  error // of the client: the body ended early
	done    chan struct{}
	running bool
	verdict chan bool // whether to send a body that was announced with Expect; nil if it was not
}

// expectTimeout is how long a program that does not answer Expect keeps the body waiting (RFC 9110, 10.1.1).
const expectTimeout = time.Second

// attach sends the body over a connection, from its beginning; false if that is not there any more.
func (q *Request) attach(c *conn) bool {
	s := &q.sender
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost || s.failed != nil {
		return false
	}
	s.conn, s.sent, s.whole = c, 0, false
	if s.buf == nil {
		s.buf = q.Buffers.Get().(*[]byte)
		if q.Expect {
			s.verdict = make(chan bool, 1)
		}
	}
	if s.kept > 0 || s.eof {
		q.write((*s.buf)[:s.kept])
	}
	if !s.running && !s.eof {
		s.running = true
		s.done = make(chan struct{})
		go q.run(s.done)
	}
	return true
}

// lastWrite is how long a write may still take when the response is complete. Mostly it is done, and its goroutine about to
// say so; but a program that answered early need not read on.
const lastWrite = 20 * time.Millisecond

// detach ends the writing to a connection and says whether the whole body was sent.
func (q *Request) detach(c *conn) bool {
	if q.Body == nil {
		return true
	}
	s := &q.sender
	if !s.mu.TryLock() {
		_ = c.nc.SetWriteDeadline(time.Now().Add(lastWrite))
		s.mu.Lock()
		_ = c.nc.SetWriteDeadline(time.Time{})
	}
	defer s.mu.Unlock()
	if s.conn != c {
		return s.whole
	}
	s.conn = nil
	return s.whole
}

// again says whether the body can be sent once more from its beginning.
func (q *Request) again() bool {
	s := &q.sender
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.lost && s.failed == nil
}

// blame returns the error of the client if it is the reason for that of the connection.
func (q *Request) blame(err error) error {
	s := &q.sender
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return &BodyError{s.failed}
	}
	return err
}

// over says that there is nothing left to read. It is called with the lock held.
func (s *sender) over() bool { return s.eof || s.failed != nil }

// Unread says that the body was not read to its end: there is more of it, or it is malformed.
func (q *Request) Unread() bool {
	q.sender.mu.Lock()
	defer q.sender.mu.Unlock()
	return q.Body != nil && !q.sender.eof
}

func (q *Request) ended() bool {
	q.sender.mu.Lock()
	defer q.sender.mu.Unlock()
	return q.sender.over()
}

// BodyError says that the body of the request could not be read.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return "reading the request: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.Err }

func (q *Request) proceed() { q.decide(true) }

func (q *Request) decide(send bool) {
	if v := q.sender.verdict; v != nil {
		select {
		case v <- send:
		default:
		}
	}
}

// Finish is called once, when the request is done with: it returns when nobody reads the body any more. If the client is
// not done sending, what still comes is thrown away until StopReading takes effect, so that an answer that was given
// early reaches a client that reads only after it has sent all.
func (q *Request) Finish() {
	if q.Body == nil {
		return
	}
	s := &q.sender
	s.mu.Lock()
	s.conn = nil
	running, done, ended := s.running, s.done, s.over()
	s.mu.Unlock()
	if !ended {
		q.decide(false)
		q.StopReading()
	}
	if running {
		<-done
	}
	if q.stream != nil {
		q.stream.stop()
	}
	if !ended && !q.Expect {
		_, _ = io.Copy(io.Discard, q.Body)
	}
	if s.buf != nil {
		q.Buffers.Put(s.buf)
		s.buf = nil
	}
}

func (q *Request) run(done chan struct{}) {
	defer close(done)
	s := &q.sender
	if q.Expect && !s.permitted() {
		s.mu.Lock()
		s.running = false
		s.mu.Unlock()
		return
	}
	for q.step() {
	}
}

func (s *sender) permitted() bool {
	t := time.NewTimer(expectTimeout)
	defer t.Stop()
	select {
	case send := <-s.verdict:
		return send
	case <-t.C:
		return true
	}
}

// step moves one part of the body; false at the end.
func (q *Request) step() bool {
	s := &q.sender
	start := s.kept
	if start == len(*s.buf) {
		start = 0
		s.mu.Lock()
		s.lost, s.kept = true, 0
		s.mu.Unlock()
	}
	n, err := q.Body.Read((*s.buf)[start:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = start + n
	if s.eof = err == io.EOF; s.eof {
		q.scrub()
	} else if err != nil {
		s.failed = err
		if s.conn != nil {
			s.conn.abort() // half a request must not look like a whole one
		}
	}
	q.write((*s.buf)[start:s.kept])
	s.running = err == nil // without a connection it goes on, for nothing: see Finish
	return s.running
}

func (q *Request) scrub() {
	if q.Scrub != nil && len(q.Trailer) > 0 {
		q.Scrub(q.Trailer)
	}
}

// write is called with the lock held.
func (q *Request) write(p []byte) {
	s := &q.sender
	if s.conn == nil {
		return
	}
	s.sent += int64(len(p))
	chunked := q.Length < 0
	var err error
	if len(p) > 0 {
		err = s.conn.writeChunk(p, chunked)
	}
	if err == nil && s.eof && chunked {
		err = s.conn.writeEnd(q.Trailer)
	}
	if err != nil {
		s.conn = nil // the program may have answered nevertheless
		return
	}
	s.whole = s.eof || !chunked && s.sent == q.Length
}
