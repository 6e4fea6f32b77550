// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// health dials itself first: a refused connection is then told at once, without gRPC's back-off.
func (p *Prober) health(ctx context.Context, address, service string) error {
	c, err := p.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	conns := make(chan net.Conn, 1)
	conns <- c
	client, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUserAgent(agent),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			select {
			case c := <-conns:
				return c, nil
			default:
				return p.dialer.DialContext(ctx, "tcp", address)
			}
		}))
	if err != nil {
		c.Close()
		return fmt.Errorf("probe: %w", err)
	}
	defer closeUnused(conns)
	defer client.Close()
	res, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if res.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("probe: health service answered %s", res.GetStatus())
	}
	return nil
}

func closeUnused(conns chan net.Conn) {
	select {
	case c := <-conns:
		c.Close()
	default:
	}
}
