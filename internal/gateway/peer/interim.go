// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"errors"
	"net/http"
	"net/textproto"
	"sync"
)

// maxInterim is how many interim responses a program may send before its final one.
const maxInterim = 32

var (
	errManyInterim = errors.New("too many interim responses")
	errUnasked     = errors.New("the program changed the protocol unasked")
	errOver        = errors.New("nobody waits for the response any more")
)

// interims passes on the interim responses of one request over HTTP/2. They come from the goroutine that reads the
// connection, on behalf of all its streams and perhaps after the round trip ended: so it only leaves them here, and another
// goroutine, which ends before the round trip does, waits for the client.
type interims struct {
	deliver func(code int, h http.Header)

	mu      sync.Mutex
	queue   []interim
	count   int
	size    int // bytes of all heads, as maxHead bounds them
	running bool
	ended   bool
	relay   sync.WaitGroup
}

type interim struct {
	code   int
	header http.Header
}

// got is a hook of net/http/httptrace. After an error the stream is reset.
func (i *interims) got(code int, h textproto.MIMEHeader) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	i.size += headSize(h)
	switch {
	case i.ended:
		return errOver
	case code == http.StatusSwitchingProtocols:
		return errUnasked // HTTP/2 has no such thing (RFC 9113, 8.6)
	case i.count > maxInterim || i.size > maxHead:
		return errManyInterim
	case code == http.StatusContinue:
		return nil
	}
	i.queue = append(i.queue, interim{code, http.Header(h).Clone()})
	if !i.running {
		i.running = true
		i.relay.Go(i.run)
	}
	return nil
}

func headSize(h textproto.MIMEHeader) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + 32 // as RFC 9113, 6.5.2 counts
		}
	}
	return n
}

func (i *interims) run() {
	for {
		next, ok := i.next()
		if !ok {
			return
		}
		i.deliver(next.code, next.header)
	}
}

func (i *interims) next() (interim, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.queue) == 0 {
		i.running = false
		return interim{}, false
	}
	first := i.queue[0]
	i.queue = i.queue[1:]
	return first, true
}

// end returns when deliver is not running and will not be called any more. What is still here is passed on only if a
// response comes after it.
func (i *interims) end(answered bool) {
	i.mu.Lock()
	i.ended = true
	if !answered {
		i.queue = nil
	}
	i.mu.Unlock()
	i.relay.Wait()
}
