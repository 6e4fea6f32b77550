// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"errors"
	"net/http"
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

	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  watchdog

	lease   backend.Lease
	leased  bool
	request peer.Request
	// late says that the write deadline of the client's connection was set; guarded by watch.
	late bool
	// given says that the client's connection is to be cut, so that nothing is to be waited for.
	given bool
}

func newExchange(f *Forwarder, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{f: f, w: w, r: r, control: http.NewResponseController(w)}
	x.ctx, x.cancel = context.WithCancelCause(r.Context())
	return x
}

// end gives everything back, also when the handler panics. The slot goes first: the next request need not wait until this
// client is done sending.
func (x *exchange) end() {
	x.release()
	x.cancel(nil)
	x.watch.stop()
	if x.late && !x.given {
		_ = x.control.SetWriteDeadline(time.Time{}) // the next request on the connection has its own time
	}
	x.request.Finish()
}

// abandon cuts the client's connection, or resets its stream: what it got so far must not look whole.
func (x *exchange) abandon() {
	x.given = true
	panic(http.ErrAbortHandler)
}

func (x *exchange) release() {
	if x.leased {
		x.leased = false
		x.lease.Release()
	}
}

func (x *exchange) run(path *route.Path[*backend.Backend], split *route.Split[*backend.Backend], target string) {
	b := split.Target
	h2c := false
	if s := b.Spec(); s != nil {
		h2c = s.H2C
		x.watch.start(limits{s.Timeout, s.ResponseStart, s.Idle}, x.expire)
	}
	x.fill(target, h2c)
	for _, set := range [...][]route.Header{path.Append, split.Append} {
		x.set(set)
	}
	x.setHost(path.RewriteHost)

	var err error
	if x.lease, err = b.Acquire(x.ctx, x); err != nil {
		x.fail(err)
		return
	}
	x.leased = true
	x.watch.handOver()
	res, err := x.roundTrip()
	if err != nil {
		x.fail(err)
		return
	}
	if res.Conn != nil {
		x.tunnel(res)
		return
	}
	x.respond(res)
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
