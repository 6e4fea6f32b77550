// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"
)

const (
	// forwarding bounds the questions that wait for other resolvers.
	forwarding = 512
	// patience is how long they wait in all; stub resolvers ask again after 5 s.
	patience = 4 * time.Second
)

// Forwarder asks other resolvers.
type Forwarder interface {
	Forward(ctx context.Context, m *dns.Msg, tcp bool) (*dns.Msg, error)
}

// Config says where to listen and whom to ask.
type Config struct {
	// UDP and TCP are the sockets. Run closes them.
	UDP net.PacketConn
	TCP net.Listener
	// Forwarder answers what is not the cluster's. Nil means nobody.
	Forwarder Forwarder
	// Log gets failures. Nil discards them.
	Log *slog.Logger
}

// Server answers questions from a zone that can be replaced while it runs.
type Server struct {
	cfg   Config
	zone  atomic.Pointer[Zone]
	slots chan struct{}
}

// New makes a server. Until it has a zone it answers SERVFAIL to everything, so
// that nothing of the cluster is taken for another's.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, slots: make(chan struct{}, forwarding)}
}

// Serve replaces the zone.
func (s *Server) Serve(z *Zone) { s.zone.Store(z) }

// Run answers until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) { s.handle(ctx, w, m) })
	for _, srv := range []*dns.Server{
		{PacketConn: s.cfg.UDP, Handler: handler, UDPSize: dns.MaxMsgSize},
		{Listener: s.cfg.TCP, Handler: handler},
	} {
		started, ended := make(chan struct{}), make(chan struct{})
		srv.NotifyStartedFunc = func() { close(started) }
		g.Go(func() error {
			defer close(ended)
			return srv.ActivateAndServe()
		})
		g.Go(func() error {
			<-ctx.Done()
			select {
			case <-started: // What has not started cannot be shut down.
				return srv.Shutdown()
			case <-ended:
				return nil
			}
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("serve DNS: %w", errors.Join(err, s.cfg.UDP.Close(), s.cfg.TCP.Close()))
	}
	return nil
}

func (s *Server) handle(ctx context.Context, w dns.ResponseWriter, m *dns.Msg) {
	_, tcp := w.RemoteAddr().(*net.TCPAddr)
	reply := s.Reply(ctx, m, tcp)
	if !tcp {
		size := dns.MinMsgSize
		if opt := m.IsEdns0(); opt != nil {
			size = max(size, int(opt.UDPSize()))
		}
		reply.Truncate(size)
	}
	if err := w.WriteMsg(reply); err != nil {
		s.cfg.Log.Debug("Cannot send a DNS answer", "to", w.RemoteAddr(), "error", err)
	}
}

// Reply answers a message.
func (s *Server) Reply(ctx context.Context, m *dns.Msg, tcp bool) *dns.Msg {
	zone := s.zone.Load()
	switch {
	case m.Opcode != dns.OpcodeQuery:
		return refusal(m, dns.RcodeNotImplemented)
	case len(m.Question) != 1:
		return refusal(m, dns.RcodeFormatError)
	case m.Question[0].Qclass != dns.ClassINET:
		return refusal(m, dns.RcodeRefused)
	case zone == nil:
		return refusal(m, dns.RcodeServerFailure)
	case !zone.Owns(m.Question[0].Name):
		return s.forward(ctx, m, tcp)
	}
	return s.own(ctx, zone, m, tcp)
}

// own answers for the cluster, with the addresses of a name elsewhere if a
// Service stands for one: stub resolvers do not look further.
func (s *Server) own(ctx context.Context, zone *Zone, m *dns.Msg, tcp bool) *dns.Msg {
	known := zone.Answer(m.Question[0])
	if known.Elsewhere != "" {
		q := new(dns.Msg).SetQuestion(known.Elsewhere, m.Question[0].Qtype)
		other := s.forward(ctx, q, tcp)
		known.Rcode = other.Rcode
		known.Answer = append(known.Answer, other.Answer...)
	}
	reply := refusal(m, known.Rcode)
	reply.Authoritative = true
	reply.Answer, reply.Extra = known.Answer, append(known.Extra, reply.Extra...)
	if len(known.Answer) == 0 {
		reply.Ns = []dns.RR{zone.SOA()}
	}
	return reply
}

// forward asks other resolvers, many at a time but not without a bound.
func (s *Server) forward(ctx context.Context, m *dns.Msg, tcp bool) *dns.Msg {
	if s.cfg.Forwarder == nil {
		return refusal(m, dns.RcodeRefused)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return refusal(m, dns.RcodeServerFailure)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := s.cfg.Forwarder.Forward(ctx, m, tcp)
	if err != nil {
		s.cfg.Log.Debug("Other resolvers do not answer", "name", m.Question[0].Name, "error", err)
		return refusal(m, dns.RcodeServerFailure)
	}
	reply.Id = m.Id
	return reply
}

// refusal is a reply without answers.
func refusal(m *dns.Msg, rcode int) *dns.Msg {
	reply := new(dns.Msg).SetRcode(m, rcode)
	reply.RecursionAvailable = true
	if m.IsEdns0() != nil {
		reply.SetEdns0(dns.DefaultMsgSize, false)
	}
	return reply
}
