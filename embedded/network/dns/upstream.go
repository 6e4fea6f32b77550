// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	// perServer is how long one resolver may take before the next is asked.
	perServer = 1500 * time.Millisecond
	// fresh is how long the list of resolvers is not looked up again.
	fresh = 5 * time.Second
)

// Upstream asks the resolvers of a resolv.conf file, which may change.
type Upstream struct {
	file string

	mu      sync.Mutex
	checked time.Time
	changed time.Time
	servers []string
}

// NewUpstream reads resolvers from file when they are needed.
func NewUpstream(file string) *Upstream { return &Upstream{file: file} }

// Fixed asks these servers ("host:port").
func Fixed(servers ...string) *Upstream { return &Upstream{servers: servers} }

// Forward implements Forwarder: it asks one server after the other.
func (u *Upstream) Forward(ctx context.Context, m *dns.Msg, tcp bool) (*dns.Msg, error) {
	servers, err := u.list()
	if err != nil {
		return nil, err
	}
	errs := []error{errors.New("no resolver answers")}
	for _, server := range servers {
		reply, err := ask(ctx, m, server, tcp)
		if err == nil {
			return reply, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

func ask(ctx context.Context, m *dns.Msg, server string, tcp bool) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, perServer)
	defer cancel()
	c := &dns.Client{Net: "udp", UDPSize: dns.MaxMsgSize}
	if tcp {
		c.Net = "tcp"
	}
	q := m.Copy()
	q.Id = dns.Id() // Our own: a client's may be guessable.
	reply, _, err := c.ExchangeContext(ctx, q, server)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", server, err)
	}
	return reply, nil
}

// list reads the file again if it changed.
func (u *Upstream) list() ([]string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file == "" || time.Since(u.checked) < fresh {
		return u.servers, nil
	}
	info, err := os.Stat(u.file)
	if err != nil {
		return nil, fmt.Errorf("find resolvers: %w", err)
	}
	if !info.ModTime().Equal(u.changed) {
		conf, err := dns.ClientConfigFromFile(u.file)
		if err != nil {
			return nil, fmt.Errorf("read resolvers: %w", err)
		}
		u.servers = nil
		for _, s := range conf.Servers {
			u.servers = append(u.servers, net.JoinHostPort(s, conf.Port))
		}
		u.changed = info.ModTime()
	}
	u.checked = time.Now()
	return u.servers, nil
}
