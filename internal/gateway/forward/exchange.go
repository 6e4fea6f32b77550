// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"weir.dev/internal/gateway/backend"
	"weir.dev/internal/gateway/peer"
	"weir.dev/internal/gateway/route"
)

// exchange is one request on its way and back.
type exchange struct {
	f       *Forwarder
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	target  string // path and query for the program

	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  watchdog

	lease   backend.Lease
	leased  bool
	request peer.Request
	// abandoned is the connection on which the program may still work on the request.
	abandoned net.Conn
	values    [3]string // of headers
	// recyclable says that nobody looks at the header of the request after the end.
	recyclable bool
	// response is nil before there is one.
	response *peer.Response
	// torn says that an HTTP/2 client left while an interim response was written. WriteHeader does not wait for the writing
	// then, which goes on reading the header: nothing may change that any more.
	torn bool
	// late says that the write deadline of the client's connection was set; guarded by watch.
	late bool
	// ran says that run returned: it did not panic, whether to cut the client's connection or by a mistake.
	ran bool
	// given says that the client's connection will be cut, so that nothing is to be waited for.
	given atomic.Bool
}

func newExchange(f *Forwarder, w http.ResponseWriter, r *http.Request, target string) *exchange {
	x := &exchange{f: f, w: w, r: r, control: http.NewResponseController(w), target: target}
	x.ctx, x.cancel = context.WithCancelCause(r.Context())
	return x
}

// end gives everything back, also when the handler panics. The slot goes before the last of the client's body is waited for.
func (x *exchange) end() {
	x.given.Store(!x.ran)
	x.cancel(nil)
	if x.response != nil {
		x.response.Body.Close() // after the end of the context it does not wait for the client
	}
	x.release()
	x.watch.stop()
	if !x.given.Load() {
		if x.late {
			_ = x.control.SetWriteDeadline(time.Time{}) // the next request on the connection has its own time
		}
		if x.r.ProtoMajor == 1 && x.request.Unread() {
			_ = x.control.Flush() // the client shall have its answer before it is waited for
		}
	}
	x.request.Finish()
	x.giveHeader()
}

// abandon cuts the client's connection, or resets its stream: what it got so far must not look whole.
func (x *exchange) abandon() { panic(http.ErrAbortHandler) }

func (x *exchange) release() {
	switch {
	case !x.leased:
	case x.abandoned != nil:
		x.lease.Leave()
		x.f.windDown(x.abandoned, x.lease)
	default:
		x.lease.Release()
	}
	x.leased = false
}

func (x *exchange) run(internal bool) {
	if !x.lend(internal) {
		return
	}
	x.watch.handOver()
	if x.lease.Limited() {
		x.request.Abandon = func(c net.Conn) { x.abandoned = c }
	}
	res, err := x.roundTrip()
	x.response = res
	switch {
	case x.torn:
		x.abandon()
	case err != nil:
		x.fail(err)
	case res.Conn != nil:
		x.tunnel(res)
	default:
		x.respond(res)
	}
}

// lend takes a slot for the request, or answers it. A request whose backend went away is routed anew if routes changed
// meanwhile: it met the old table in the moment in which the new one came.
func (x *exchange) lend(internal bool) bool {
	for {
		table := x.f.config.Table(x.ctx)
		b := x.route(table, internal)
		if b == nil {
			return false
		}
		var err error
		if x.lease, err = b.Acquire(x.ctx, x); err == nil {
			x.leased = true
			return true
		}
		refused := (*backend.Error)(nil)
		if errors.As(err, &refused) && refused.Reason == backend.UnknownBackend && x.f.config.Table(x.ctx) != table {
			continue
		}
		x.fail(err)
		return false
	}
}

// route finds the backend and makes the request for it; nil if the request is answered.
func (x *exchange) route(table *Table, internal bool) *backend.Backend {
	if table == nil {
		x.w.Header().Set("Retry-After", "1")
		answer(x.w, http.StatusServiceUnavailable, "Starting", "weir: the gateway does not know its routes yet\n")
		return nil
	}
	host := route.CleanHost(x.r.Host)
	path, redirect := table.Match(host, x.r.URL.Path, x.r.Header, internal)
	switch {
	case path == nil:
		answer(x.w, http.StatusNotFound, "NoRoute", "weir: nothing is served under this host and path\n")
		return nil
	case redirect:
		x.w.Header().Set("Location", "https://"+host+x.target)
		answer(x.w, http.StatusMovedPermanently, "", "")
		return nil
	}
	split := path.Pick() // once, before any waiting
	if split == nil {
		answer(x.w, http.StatusServiceUnavailable, "NoSplit", "weir: this route has no traffic assigned\n")
		return nil
	}
	x.prepare(path, split)
	return split.Target
}

func (x *exchange) prepare(path *route.Path[*backend.Backend], split *route.Split[*backend.Backend]) {
	h2c := false
	if s := split.Target.Spec(); s != nil {
		h2c = s.H2C
		x.watch.start(limits{s.Timeout, s.ResponseStart, s.Idle}, x.expire)
	}
	x.fill(x.target, h2c)
	x.set(path.Append)
	x.set(split.Append)
	x.setHost(path.RewriteHost)
}

// roundTrip sends the request to the instance of the lease, and to others if that one takes no connection.
func (x *exchange) roundTrip() (*peer.Response, error) {
	for {
		res, err := x.lease.Peer().(*peer.Peer).RoundTrip(x.ctx, &x.request)
		if refused := (*peer.DialError)(nil); !errors.As(err, &refused) {
			return res, err
		}
		x.f.config.Log.Debug("An instance refused a connection", "instance", x.lease.Instance(), "error", err)
		if err := x.lease.Refused(x.ctx, x); err != nil {
			x.leased = false
			return nil, err
		}
	}
}

// expire is called by the watchdog, from its own goroutine, before end returns.
func (x *exchange) expire(cause *timeoutError) {
	x.late = true
	_ = x.control.SetWriteDeadline(time.Now().Add(lastWords)) // a client that does not read must not keep the request
	x.cancel(cause)
}

// lastWords is how long the answer to a request may take whose time is over.
const lastWords = time.Second

// HeadSize estimates what the request keeps in memory while it waits.
func (x *exchange) HeadSize() int {
	n := len(x.r.RequestURI) + len(x.r.Host)
	for name, values := range x.r.Header {
		n += len(name) + 64
		for _, v := range values {
			n += len(v) + 16
		}
	}
	return n
}

// fail answers a request that got no response from an instance.
func (x *exchange) fail(err error) {
	x.closeIfUnread()
	var refused *backend.Error
	var late *timeoutError
	var unread *peer.BodyError
	switch {
	case errors.As(err, &late):
		answer(x.w, http.StatusGatewayTimeout, late.reason, timeoutText)
	case x.r.Context().Err() != nil:
		x.abandon() // nobody is there to read an answer
	case errors.As(err, &refused):
		x.w.Header().Set("Retry-After", "1")
		answer(x.w, http.StatusServiceUnavailable, refused.Reason, refused.Message+"\n")
	case errors.As(err, &unread):
		answer(x.w, http.StatusBadRequest, "RequestBody", "weir: the body of the request could not be read\n")
	default:
		x.f.config.Log.Debug("An instance failed", "instance", x.lease.Instance(), "error", err)
		answer(x.w, http.StatusBadGateway, "InstanceFailed", "weir: the program closed the connection or gave no valid answer\n")
	}
}
