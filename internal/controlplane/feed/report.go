// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"weir.dev/internal/feed/feedpb"
)

// Report implements feedpb.FeedServer.
func (s *Server) Report(stream grpc.BidiStreamingServer[feedpb.GatewayReport, feedpb.Directive]) error {
	// Recv only ends with the stream's context, so a goroutine of its own receives.
	received := make(chan error, 1)
	s.reading.Go(func() { received <- s.receive(stream) })
	select {
	case err := <-received:
		return err
	case <-s.closing:
		return status.Error(codes.Unavailable, "the controller stops")
	}
}

// receive takes in messages until the stream ends.
func (s *Server) receive(stream grpc.BidiStreamingServer[feedpb.GatewayReport, feedpb.Directive]) error {
	name := ""
	defer func() {
		if name != "" {
			s.gone(name, stream)
		}
	}()
	for {
		report, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch {
		case report.Gateway == "", name != "" && name != report.Gateway:
			return status.Error(codes.InvalidArgument, "a stream is of one gateway, named in each report")
		case name == "":
			name = report.Gateway
			s.fleet.join(name, stream)
		}
		s.accept(stream, report)
	}
}

// accept takes in one message: what cannot wait first.
func (s *Server) accept(stream any, report *feedpb.GatewayReport) {
	if s.config.Receiver != nil {
		s.config.Receiver.Report(report.Gateway, report)
	}
	changed, all := s.fleet.report(stream, report)
	if all {
		changed = s.desired.served()
	}
	s.fleet.tell(changed)
}

// gone forgets a gateway: what it served no longer counts, neither for nor against an Ingress.
func (s *Server) gone(name string, stream any) {
	if !s.fleet.leave(name, stream) {
		return
	}
	if s.config.Receiver != nil {
		s.config.Receiver.Disconnected(name)
	}
	s.fleet.tell(s.desired.served())
}
