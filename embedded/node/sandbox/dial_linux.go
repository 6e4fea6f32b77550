// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Dial connects to a port on the loopback of a network namespace. An empty
// path is the machine's own.
func Dial(ctx context.Context, netns string, port int32) (net.Conn, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	var dialer net.Dialer
	if netns == "" {
		return dialer.DialContext(ctx, "tcp", address)
	}
	namespace, err := os.Open(netns)
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	defer namespace.Close()
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		// Never unlocked: the thread in the other namespace ends with us. The
		// address is no name, so the dial stays on this goroutine.
		runtime.LockOSThread()
		if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{err: fmt.Errorf("enter network namespace: %w", err)}
			return
		}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		done <- result{conn, err}
	}()
	r := <-done
	return r.conn, r.err
}
