// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"weir.dev/internal/gateway/peer"
)

const tunnelBuffer = 8 << 10

// halfOpen is how long one direction of a tunnel may stay after the other ended.
const halfOpen = 30 * time.Second

// tunnel moves bytes both ways after a change of protocol. The request lasts, and holds its slot, until both ends closed.
func (x *exchange) tunnel(res *peer.Response) {
	defer res.Conn.Close()
	if !strings.EqualFold(res.Header.Get("Upgrade"), x.request.Upgrade) {
		answer(x.w, http.StatusBadGateway, "InstanceFailed", "weir: the program changed to another protocol than was asked for\n")
		return
	}
	client, buffered, err := x.control.Hijack()
	if err != nil {
		answer(x.w, http.StatusNotImplemented, "", "weir: the protocol cannot be changed on this connection\n")
		return
	}
	defer client.Close()
	x.watch.upgrade()
	defer context.AfterFunc(x.ctx, func() {
		client.Close()
		res.Conn.Close()
	})()
	_ = client.SetDeadline(time.Time{})
	if err := writeSwitch(buffered.Writer, res.Header); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.pump(res.Conn, client, buffered.Reader)
	}()
	x.pump(client, res.Conn, res.Reader)
	<-done
}

func writeSwitch(w *bufio.Writer, h http.Header) error {
	out := make(http.Header, len(h))
	copyHeader(out, h)
	out["Connection"], out["Upgrade"] = []string{"Upgrade"}, h["Upgrade"]
	_, _ = w.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = out.Write(w)
	_, _ = w.WriteString("\r\n")
	return w.Flush()
}

// pump copies one direction; ahead holds what was read already. A clean end is passed on as such; after an unclean one
// both ends are closed. It reads from src itself: net/http takes the end of its reader for that of the client.
func (x *exchange) pump(dst, src net.Conn, ahead *bufio.Reader) {
	buf := make([]byte, tunnelBuffer)
	first, _ := ahead.Peek(ahead.Buffered())
	if _, err := dst.Write(first); err != nil {
		dst.Close()
		src.Close()
		return
	}
	for {
		n, err := src.Read(buf)
		if n > 0 {
			x.watch.touch()
			if _, err := dst.Write(buf[:n]); err != nil {
				break
			}
		}
		if errors.Is(err, io.EOF) {
			if half, ok := dst.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
				_ = dst.SetReadDeadline(time.Now().Add(halfOpen))
				return
			}
		}
		if err != nil {
			break
		}
	}
	dst.Close()
	src.Close()
}
