// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"errors"
	"io"
	"net/http"
	"time"

	"weir.dev/internal/gateway/peer"
)

// interim passes on a response before the response. It runs while the round trip does, not always in the same goroutine.
func (x *exchange) interim(code int, h http.Header) {
	if x.torn || !x.r.ProtoAtLeast(1, 1) {
		return
	}
	copyHeader(x.w.Header(), h)
	x.w.WriteHeader(code)
	if x.torn = x.r.ProtoMajor > 1 && x.r.Context().Err() != nil; !x.torn {
		clear(x.w.Header())
	}
}

// respond passes on the response. Each part goes out as soon as it comes in.
func (x *exchange) respond(res *peer.Response) {
	h := x.w.Header()
	copyHeader(h, res.Header)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // else the server guesses one
	}
	announced := len(res.Trailer())
	for name := range res.Trailer() {
		h.Add("Trailer", name)
	}
	if announced > 0 && x.r.ProtoMajor == 1 {
		delete(h, "Content-Length") // only a chunked body has trailers
	}
	x.watch.respond()
	x.closeIfUnread()
	x.w.WriteHeader(res.Code)
	if announced > 0 || res.Body != http.NoBody && !res.Prompt() {
		_ = x.control.Flush()
	}
	if res.Body != http.NoBody {
		x.copyBody(res)
	}
	x.copyTrailers(res, announced)
}

func (x *exchange) copyBody(res *peer.Response) {
	buf := x.f.buffers.Get().(*[]byte)
	defer x.f.buffers.Put(buf)
	for {
		n, err := res.Body.Read(*buf)
		if n > 0 {
			x.watch.touch()
			if _, err := x.w.Write((*buf)[:n]); err != nil {
				x.abandon() // the client is gone, or was told another length
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			x.cut(res, err)
			return
		}
		_ = x.control.Flush()
		x.watch.touch()
	}
}

// cut ends a response that began and cannot be finished. It must not look whole, with one exception that clients know: when
// the time of a request is over, a response without announced length ends with that text in HTTP/1.1 (facts 6.3).
func (x *exchange) cut(res *peer.Response, err error) {
	if late := (*timeoutError)(nil); errors.As(err, &late) && x.r.ProtoMajor == 1 && res.Length < 0 {
		_, _ = io.WriteString(x.w, timeoutText)
		return
	}
	x.abandon()
}

func (x *exchange) copyTrailers(res *peer.Response, announced int) {
	trailer := res.Trailer()
	if len(trailer) == 0 {
		return
	}
	h := x.w.Header()
	for name, values := range trailer {
		if isHop(name) || isFraming(name) {
			continue
		}
		if len(trailer) != announced {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}

func copyHeader(to, from http.Header) {
	named := connectionTokens(from)
	for name, values := range from {
		if !isHop(name) && !named.has(name) {
			to[name] = values
		}
	}
}

// closeIfUnread is called before the head of the answer is written. After a body that may have no proper end nothing on the
// connection can be taken for the next request; net/http leaves that to handlers that read while they write.
func (x *exchange) closeIfUnread() {
	if x.r.ProtoMajor == 1 && x.request.Unread() {
		x.w.Header().Set("Connection", "close")
	}
}

// linger is how long a client may go on sending after it was answered.
const linger = 2 * time.Second

// stopReading bounds the reading of a body that nobody wants. HTTP/2 can tell the client; in HTTP/1.1 closing while it
// still sends could destroy the answer on its way. It is called from any goroutine.
func (x *exchange) stopReading() {
	until := time.Now()
	if x.r.ProtoMajor == 1 && !x.given.Load() {
		until = until.Add(linger)
	}
	_ = x.control.SetReadDeadline(until)
}
