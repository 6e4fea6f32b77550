// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package websocket

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
)

var errShutdown = errors.New("it was shut down")

// run connects again and again until ctx ends. It alone makes and closes
// connections.
func (m *ManagedConnection) run(ctx context.Context) {
	defer close(m.done)
	defer m.dial.HTTPClient.CloseIdleConnections()
	defer m.set(nil, errShutdown)
	first := sync.OnceFunc(func() { close(m.up) })
	backoff := reconnectBackoff()
	for ctx.Err() == nil {
		if conn, err := m.connect(ctx); err != nil {
			m.set(nil, err)
			m.log.Warnw("Connecting failed", "error", err)
		} else {
			m.set(conn, nil)
			first()
			backoff = reconnectBackoff()
			m.session(ctx, conn)
		}
		pause(ctx, backoff.Step())
	}
}

func (m *ManagedConnection) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, m.target, m.dial) //nolint:bodyclose // the library closes it, or it is the connection
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}

// session uses the connection until it breaks or ctx ends; then it says
// good-bye to the peer.
func (m *ManagedConnection) session(ctx context.Context, conn *websocket.Conn) {
	m.log.Debug("Connected")
	alive, broken := context.WithCancelCause(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { broken(m.receive(alive, conn)) })
	wg.Go(func() { broken(ping(alive, conn)) })

	select {
	case <-alive.Done():
		m.log.Infow("The connection broke", "error", context.Cause(alive))
	case <-ctx.Done():
		if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
			m.closeErr = fmt.Errorf("closing the connection to %s: %w", m.target, err)
		}
	}
	broken(errShutdown)
	m.set(nil, context.Cause(alive))
	_ = conn.CloseNow() // it is over, whatever it says
	wg.Wait()
}

// receive hands messages on until the connection breaks.
func (m *ManagedConnection) receive(ctx context.Context, conn *websocket.Conn) error {
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		if m.messages == nil {
			continue
		}
		select {
		case m.messages <- message:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ping asks the peer for a sign of life and returns when there was none for
// pongTimeout, counted from the one before.
func ping(ctx context.Context, conn *websocket.Conn) error {
	for {
		if pause(ctx, pingPeriod); ctx.Err() != nil {
			return ctx.Err()
		}
		asked, cancel := context.WithTimeout(ctx, pongTimeout-pingPeriod)
		err := conn.Ping(asked)
		cancel()
		if err != nil {
			return fmt.Errorf("no pong for %v: %w", pongTimeout, err)
		}
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
