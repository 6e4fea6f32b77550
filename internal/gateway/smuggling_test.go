// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Whatever bytes a client sends, the program sees the requests that the gateway took them for, and no other.
func TestRequestsCannotBeSmuggled(t *testing.T) {
	const hidden = "GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n"
	tests := map[string]struct {
		raw  string
		seen string // paths, lengths of bodies and trailers, in order; alternatives are separated by bars
	}{
		"Pipelined":         {"GET /a HTTP/1.1\r\nHost: a.test\r\n\r\nGET /b HTTP/1.1\r\nHost: a.test\r\n\r\n", "/a:0 /b:0"},
		"InBody":            {fmt.Sprintf("POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n%s", len(hidden), hidden), fmt.Sprint("/a:", len(hidden))},
		"TwoFramings":       {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "/a:1"},
		"TwoLengths":        {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", ""},
		"StrangeEncoding":   {"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n" + hidden, ""},
		"NegativeLength":    {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: -1\r\n\r\n" + hidden, ""},
		"SpaceBeforeColon":  {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length : 5\r\n\r\nhello", ""},
		"TwoHosts":          {"GET /a HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", ""},
		"SpaceInTarget":     {"GET /a /b HTTP/1.1\r\nHost: a.test\r\n\r\n", ""},
		"Connect":           {"CONNECT a.test:80 HTTP/1.1\r\nHost: a.test\r\n\r\n" + hidden, "/hidden:0"},
		"AbsoluteForm":      {"GET http://a.test/a HTTP/1.1\r\nHost: other.test\r\n\r\n", "/a:0"},
		"HopOfContent":      {"POST /a HTTP/1.1\r\nHost: a.test\r\nConnection: Content-Length\r\nContent-Length: 5\r\n\r\nhello", "/a:5"},
		"BadChunk":          {"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + hidden, "/a:error|"}, // or nothing, if the error is known first
		"TrailerNames":      {"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n1\r\nx\r\n0\r\nA: a\r\nTransfer-Encoding : chunked\r\nK-Network-Probe : b\r\nC d: e\r\n\r\n", `/a:1:A=["a"]`},
		"BareCRInTrailer":   {"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n1\r\nx\r\n0\r\nA: a\rX: x\r\n\r\n", "/a:error|"},
		"NULInTrailer":      {"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n1\r\nx\r\n0\r\nA: \x00\r\n\r\n", "/a:error|"},
		"UpgradeWithBody":   {"POST /a HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: raw\r\nContent-Length: 2\r\n\r\nxx", "/a:2"},
		"UpgradeNotGranted": {"GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n" + hidden, "/a:0 /hidden:0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var mu sync.Mutex
			var seen []string
			r.serve("a.test", func(_ http.ResponseWriter, req *http.Request) {
				n, err := io.Copy(io.Discard, req.Body)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					seen = append(seen, req.URL.Path+":error")
					return
				}
				line := fmt.Sprint(req.URL.Path, ":", n)
				for name, values := range req.Trailer {
					if values != nil { // else it was only announced
						line += fmt.Sprintf(":%s=%q", name, values)
					}
				}
				seen = append(seen, line)
			}, nil)
			c, err := net.Dial("tcp", r.external)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(hang))
			_, _ = io.WriteString(c, test.raw+"GET /end HTTP/1.1\r\nHost: none.test\r\nConnection: close\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
			r.stop()
			<-r.done // and with it all requests in hand
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(seen, " "); !slices.Contains(strings.Split(test.seen, "|"), got) {
				t.Errorf("the program saw %q, want %q", got, test.seen)
			}
		})
	}
}
