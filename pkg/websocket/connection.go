// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package websocket keeps a WebSocket connection to one peer and makes it anew
// whenever it breaks. What is sent in between fails: whoever sends knows whether
// an old message is worth sending again.
package websocket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/wait"
)

// The kinds of messages, as RFC 6455 numbers them.
const (
	TextMessage   = int(websocket.MessageText)
	BinaryMessage = int(websocket.MessageBinary)
)

const (
	// pongTimeout is how long a connection is believed in without an answer.
	pongTimeout = 10 * time.Second
	// pingPeriod is the time between two questions.
	pingPeriod = pongTimeout / 3
	// dialTimeout bounds one attempt to connect, with its handshakes.
	dialTimeout = 10 * time.Second
	// writeTimeout bounds the sending of a message to a peer that does not read.
	writeTimeout = 10 * time.Second
	// maxMessage is the size of the largest message that is read, in bytes.
	maxMessage = 32 << 20
)

// ErrConnectionNotEstablished says that there is no connection at the moment.
var ErrConnectionNotEstablished = errors.New("the connection is not established")

// ManagedConnection is a connection to one peer that is made again whenever it
// breaks. Its methods may be called from any goroutine.
type ManagedConnection struct {
	target   string
	messages chan<- []byte // nil drops what is received
	log      *zap.SugaredLogger
	dial     *websocket.DialOptions

	stop     context.CancelFunc // ends run
	up       chan struct{}      // closed once it was connected for the first time
	done     chan struct{}      // closed once run ended
	closeErr error              // what saying good-bye to the peer came to; final once done is closed

	mu   sync.Mutex
	conn *websocket.Conn // nil while there is none
	err  error           // why there is none
}

// NewDurableConnection connects to the target, a URL of the scheme ws or wss,
// in the background. What is received goes to messages; while nobody takes it,
// pongs are not seen either, and after ten seconds the connection is made anew.
func NewDurableConnection(target string, messages chan []byte, logger *zap.SugaredLogger, opts ...Option) *ManagedConnection {
	ctx, stop := context.WithCancel(context.Background())
	m := &ManagedConnection{
		target:   target,
		messages: messages,
		log:      logger.With("target", target),
		dial:     newDialOptions(opts),
		stop:     stop,
		up:       make(chan struct{}),
		done:     make(chan struct{}),
		err:      errors.New("no attempt has ended yet"),
	}
	go m.run(ctx)
	return m
}

// NewDurableSendingConnection is NewDurableConnection for who sends only: what
// is received is dropped.
func NewDurableSendingConnection(target string, logger *zap.SugaredLogger, opts ...Option) *ManagedConnection {
	return NewDurableConnection(target, nil, logger, opts...)
}

// NewDurableSendingConnectionGuaranteed is NewDurableSendingConnection, but
// returns once the connection stands. If it does not within the duration, it is
// given up, and the error tells why.
func NewDurableSendingConnectionGuaranteed(target string, duration time.Duration, logger *zap.SugaredLogger, opts ...Option) (*ManagedConnection, error) {
	m := NewDurableSendingConnection(target, logger, opts...)
	timeout := time.NewTimer(duration)
	defer timeout.Stop()
	select {
	case <-m.up:
		return m, nil
	case <-timeout.C:
		err := m.Status()
		return nil, errors.Join(fmt.Errorf("connecting to %s within %v: %w", target, duration, err), m.Shutdown())
	}
}

// Status is nil while the connection stands, else an
// ErrConnectionNotEstablished that says why.
func (m *ManagedConnection) Status() error {
	_, err := m.current()
	return err
}

func (m *ManagedConnection) current() (*websocket.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil, fmt.Errorf("%w to %s: %w", ErrConnectionNotEstablished, m.target, m.err)
	}
	return m.conn, nil
}

func (m *ManagedConnection) set(conn *websocket.Conn, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conn, m.err = conn, err
}

// Send sends the message as JSON, in a text message.
func (m *ManagedConnection) Send(msg any) error {
	b, err := json.Marshal(msg)
	if err != nil {
		return fmt.Errorf("a message to %s: %w", m.target, err)
	}
	return m.SendRaw(TextMessage, b)
}

// SendRaw sends a message of a kind, TextMessage or BinaryMessage. A nil error
// says that the message is on its way, not that it was received.
func (m *ManagedConnection) SendRaw(messageType int, msg []byte) error {
	if messageType != TextMessage && messageType != BinaryMessage {
		return fmt.Errorf("a message to %s: there is no kind %d of messages", m.target, messageType)
	}
	conn, err := m.current()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageType(messageType), msg); err != nil {
		return fmt.Errorf("sending to %s: %w", m.target, err)
	}
	return nil
}

// Shutdown closes the connection and returns when everything has ended.
func (m *ManagedConnection) Shutdown() error {
	m.stop()
	<-m.done
	return m.closeErr
}

// reconnectBackoff ends at about 19 s, which its last step then is for ever.
func reconnectBackoff() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.3, Steps: 20, Jitter: 0.5}
}
