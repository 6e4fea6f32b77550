// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"weir.dev/internal/feed/feedpb"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
)

// Receiver takes in what gateways report, in the goroutine of the gateway's stream: it must not block.
type Receiver interface {
	// Report is called with each message of a gateway.
	Report(gateway string, report *feedpb.GatewayReport)
	// Disconnected is called when a gateway's stream ended and no newer one replaced it.
	Disconnected(gateway string)
}

// Config is what a Server needs.
type Config struct {
	// Listener is where gateways connect; required. The server closes it.
	Listener net.Listener
	// TLS secures it; nil is plaintext, for in-process listeners and tests.
	TLS *tls.Config
	// Receiver gets the reports; nil drops them.
	Receiver Receiver
}

// Server serves the feed. It is made by New, given its sources by Watch, and works while Run runs.
type Server struct {
	feedpb.UnimplementedFeedServer
	config  Config
	desired *desired
	fleet   *fleet
	watched chan []cache.InformerSynced // receives what Watch subscribed to, once
	loaded  chan struct{}               // closed when all informers delivered what they had
	closing chan struct{}               // closed when Run ends
	reading sync.WaitGroup
}

// New returns a server without sources.
func New(config Config) (*Server, error) {
	if config.Listener == nil {
		return nil, errors.New("feed: no listener")
	}
	return &Server{
		config: config, desired: newDesired(), fleet: newFleet(), watched: make(chan []cache.InformerSynced, 1),
		loaded: make(chan struct{}), closing: make(chan struct{}),
	}, nil
}

// Watch subscribes to the sources, which somebody else starts. It is to be called once, before or while Run runs.
func (s *Server) Watch(informers Informers) error {
	synced, err := informers.subscribe(s.desired)
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	s.watched <- synced
	return nil
}

// Run serves until ctx ends. Gateways get nothing until the informers are synced. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	server := grpc.NewServer(s.options()...)
	feedpb.RegisterFeedServer(server, s)
	serve, ctx := errgroup.WithContext(ctx)
	serve.Go(func() error {
		if err := server.Serve(s.config.Listener); err != nil {
			return fmt.Errorf("feed: serve: %w", err)
		}
		return nil
	})
	serve.Go(func() error {
		s.load(ctx)
		return nil
	})
	<-ctx.Done()
	close(s.closing)
	stop(server)
	s.reading.Wait()
	return serve.Wait()
}

// load lets followers in as soon as all sources delivered what they had.
func (s *Server) load(ctx context.Context) {
	select {
	case <-ctx.Done():
	case synced := <-s.watched:
		if controller.WaitForCacheSyncQuick(ctx.Done(), synced...) {
			logging.FromContext(ctx).Info("The feed holds a complete snapshot")
			close(s.loaded)
		}
	}
}

// stop lets gateways read why their streams end, but does not wait for one that hangs.
func stop(server *grpc.Server) {
	hard := time.AfterFunc(time.Second, server.Stop)
	defer hard.Stop()
	server.GracefulStop()
}

// maxReport bounds a message of a gateway. One period of a large gateway, or the first message of a stream, which names all
// Ingresses that it serves, is larger than gRPC's default of 4 MB; it cannot be cut, since a list of figures stands for all
// revisions.
const maxReport = 64 << 20

// options set the pace at which dead gateways are noticed.
func (s *Server) options() []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(maxReport),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 5 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	}
	if s.config.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.config.TLS)))
	}
	return options
}

// Follow implements feedpb.FeedServer.
func (s *Server) Follow(_ *feedpb.FollowRequest, stream grpc.ServerStreamingServer[feedpb.Update]) error {
	ctx := stream.Context()
	select {
	case <-s.loaded:
	case <-s.closing:
		return status.Error(codes.Unavailable, "the controller stops")
	case <-ctx.Done():
		return ctx.Err()
	}
	f := s.follow()
	defer s.unfollow(f)
	for {
		select {
		case <-f.notify:
		case <-s.closing:
			return status.Error(codes.Unavailable, "the controller stops")
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, update := range s.take(f) {
			if err := stream.Send(update); err != nil {
				return err
			}
		}
	}
}

func (s *Server) follow() *follower {
	s.desired.mu.Lock()
	defer s.desired.mu.Unlock()
	return s.desired.store.follow()
}

func (s *Server) unfollow(f *follower) {
	s.desired.mu.Lock()
	defer s.desired.mu.Unlock()
	s.desired.store.unfollow(f)
}

func (s *Server) take(f *follower) []*feedpb.Update {
	s.desired.mu.Lock()
	defer s.desired.mu.Unlock()
	return s.desired.store.take(f)
}

// Served says that every ready gateway, and at least one, routes by that generation of the Ingress or a newer one.
func (s *Server) Served(namespace, name string, uid types.UID, generation int64) bool {
	return s.fleet.serves(ref{namespace, name}, string(uid), generation)
}

// OnServed calls fn for every Ingress for which the answer of Served may have changed. fn must not block.
func (s *Server) OnServed(fn func(types.NamespacedName)) { s.fleet.watch(fn) }
