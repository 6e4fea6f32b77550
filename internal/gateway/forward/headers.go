// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"weir.dev/internal/gateway/route"
)

// isHop says that a header belongs to one connection and goes no further (RFC 9110, 7.6.1), or to the framing of the body.
func isHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// isOurs says that a header has a meaning inside the platform, so that it is neither taken from outside nor passed on.
func isOurs(name string) bool {
	if len(name) < 2 || name[0] != 'K' {
		return false
	}
	switch name {
	case "K-Network-Probe", "K-Network-Hash", "K-Proxy-Request", "K-Original-Host", "K-Kubelet-Probe", "K-Passthrough-Lb",
		"Knative-Serving-Revision", "Knative-Serving-Namespace", "Knative-Serving-Default-Route":
		return true
	}
	return false
}

// isFraming says that a header is written anew by whoever sends the request on.
func isFraming(name string) bool {
	return name == "Content-Length" || name == "Expect" || name == "Host"
}

// fill makes the request for the instance out of that of the client.
func (x *exchange) fill(target string, h2c bool) {
	r, q := x.r, &x.request
	q.Method, q.Target, q.URL, q.Host = r.Method, target, r.URL, r.Host
	q.Upgrade = ""
	x.takeHeader(h2c)
	named := connectionTokens(r.Header)
	for name, values := range r.Header {
		if !isHop(name) && !isOurs(name) && !isFraming(name) && !named.has(name) {
			q.Header[name] = values
		}
	}
	x.setForwarded()
	x.fillBody()
	q.Scrub = scrub
	q.Interim = x.interim
	if hasToken(r.Header["Te"], "trailers") {
		q.Header["Te"] = trailers
	}
	if !h2c && r.ProtoMajor == 1 && q.Body == nil && hasToken(r.Header["Connection"], "upgrade") {
		q.Upgrade = upgradeTo(r.Header["Upgrade"])
	}
	if _, ok := q.Header["User-Agent"]; h2c && !ok {
		q.Header["User-Agent"] = none // else the library puts in its own
	}
}

// takeHeader makes room for the headers. The map of a request over HTTP/1.1 is used again when that is over; in HTTP/2 a
// goroutine of the library may still look at it then.
func (x *exchange) takeHeader(h2c bool) {
	q := &x.request
	if x.recyclable = !h2c; h2c {
		q.Header = make(http.Header, len(x.r.Header)+8)
		return
	}
	if q.Header == nil {
		q.Header = x.f.headers.Get().(http.Header)
	}
	clear(q.Header) // of an attempt before
}

func (x *exchange) giveHeader() {
	if x.recyclable && x.ran {
		clear(x.request.Header)
		x.f.headers.Put(x.request.Header)
	}
}

// scrub drops from the trailers of a request what is not passed on among its headers, and what is no header at all:
// net/http lets names with spaces through, which some programs cut off.
func scrub(trailer http.Header) {
	for name, values := range trailer {
		if isHop(name) || isOurs(name) || isFraming(name) || !httpguts.ValidHeaderFieldName(name) ||
			!all(values, httpguts.ValidHeaderFieldValue) {
			delete(trailer, name)
		}
	}
}

func all(values []string, valid func(string) bool) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !valid(v) })
}

// Values that many requests share and nobody changes.
var (
	trailers  = []string{"trailers"}
	none      = []string{""}
	cleartext = []string{"http"}
	encrypted = []string{"https"}
)

func (x *exchange) fillBody() {
	r, q := x.r, &x.request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return
	}
	q.Body, q.Length, q.Trailer = r.Body, r.ContentLength, r.Trailer
	q.Expect = r.ProtoMajor == 1 && hasToken(r.Header["Expect"], "100-continue")
	q.StopReading, q.Buffers = x.stopReading, &x.f.buffers
	if r.ProtoMajor == 1 {
		_ = x.control.EnableFullDuplex()
	}
}

// set puts headers on the request that the route wants there. K-Original-Host is the host before a rewriting for the
// platform's own sake, and is put back.
func (x *exchange) set(headers []route.Header) {
	for _, h := range headers {
		switch h.Name {
		case "Knative-Serving-Revision", "Knative-Serving-Namespace": // for gateways, not for programs
		case "K-Original-Host":
			x.request.Host = h.Values[0]
		default:
			x.request.Header[h.Name] = h.Values
		}
	}
}

func (x *exchange) setHost(rewrite string) {
	if rewrite != "" && x.request.Host == x.r.Host {
		x.request.Host = rewrite
	}
}

// setForwarded adds this hop to what the headers say about the way of the request.
func (x *exchange) setForwarded() {
	h := x.request.Header
	ip := clientIP(x.r.RemoteAddr)
	h["X-Forwarded-For"] = x.value(0, joined(h["X-Forwarded-For"], ip))
	trusted := x.f.trusts(ip)
	if !trusted || len(h["X-Forwarded-Proto"]) == 0 {
		h["X-Forwarded-Proto"] = cleartext
		if x.r.TLS != nil {
			h["X-Forwarded-Proto"] = encrypted
		}
	}
	if !trusted || len(h["X-Forwarded-Host"]) == 0 {
		h["X-Forwarded-Host"] = x.value(1, x.r.Host)
	}
	host, proto := quoted(x.r.Host), quoted(h["X-Forwarded-Proto"][0])
	if prior := h["Forwarded"]; len(prior) > 0 {
		h["Forwarded"] = x.value(2, joined(prior, "for="+node(ip)+";host="+host+";proto="+proto))
		return
	}
	h["Forwarded"] = x.value(2, "for="+nodes(h["X-Forwarded-For"][0])+";host="+host+";proto="+proto)
}

// value makes a list of one value without allocating it.
func (x *exchange) value(place int, s string) []string {
	x.values[place] = s
	return x.values[place : place+1 : place+1]
}

// nodes writes a list of addresses in the form of RFC 7239, but for the first "for=".
func nodes(list string) string {
	if !strings.Contains(list, ",") {
		return node(list)
	}
	var b strings.Builder
	for ip := range strings.SplitSeq(list, ",") {
		if b.Len() > 0 {
			b.WriteString(", for=")
		}
		b.WriteString(node(strings.TrimSpace(ip)))
	}
	return b.String()
}

func node(ip string) string {
	if strings.Contains(ip, ":") && !strings.HasPrefix(ip, "[") {
		ip = "[" + ip + "]"
	}
	return quoted(ip)
}

// quoted returns s as a token or a quoted string. What the client made up may hold anything.
func quoted(s string) string {
	if isToken(s) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func joined(values []string, last string) string {
	if len(values) == 0 {
		return last
	}
	return strings.Join(values, ", ") + ", " + last
}

// clientIP cuts the port, and the brackets of IPv6.
func clientIP(address string) string {
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		address = address[:i]
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

func (f *Forwarder) trusts(ip string) bool {
	if len(f.config.Trusted) == 0 {
		return false
	}
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	for _, p := range f.config.Trusted {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}
