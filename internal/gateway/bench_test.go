// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"google.golang.org/grpc"

	"weir.dev/internal/feed/feedpb"
)

// BenchmarkRequest compares a request through the gateway with one that goes to the program directly, in the same run: one
// client at a time, so that the difference is the latency that the gateway adds. Client, gateway and program share the CPUs.
func BenchmarkRequest(b *testing.B) {
	for _, h2 := range []bool{false, true} {
		name := map[bool]string{false: "HTTP1", true: "H2C"}[h2]
		address := app(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
		through := benchGateway(b, address, h2)
		for way, to := range map[string]string{"direct": address, "gateway": through} {
			c := client(b, to, h2)
			b.Run(name+"/"+way, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if code, _, _ := get(b, c, "http://bench.test/"); code != 200 {
						b.Fatal(code)
					}
				}
			})
			b.Run(name+"/"+way+"-parallel", func(b *testing.B) {
				b.SetParallelism(25)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if code, _, _ := get(b, c, "http://bench.test/"); code != 200 {
							b.Fatal(code)
						}
					}
				})
			})
		}
	}
}

// benchGateway returns the address of a gateway in front of one program, without a controller.
func benchGateway(b *testing.B, address string, h2 bool) string {
	l := listen(b)
	conn := benchFeed(b, address, h2)
	g, err := New(Config{ID: "bench", Feeds: []grpc.ClientConnInterface{conn}, External: []net.Listener{l}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	<-g.follower.Complete()
	return l.Addr().String()
}

func benchFeed(b *testing.B, address string, h2 bool) *grpc.ClientConn {
	c := newController(b)
	conn := c.start()
	c.push(backendEvent("bench", func(m *feedpb.Backend) {
		m.TimeoutMs = 300_000
		if h2 {
			m.Protocol = feedpb.Backend_H2C
		}
	}), instancesEvent("bench", instance("pod", address, feedpb.Instance_READY)),
		&feedpb.Event{Kind: &feedpb.Event_Ingress{Ingress: &feedpb.Ingress{Namespace: "default", Name: "bench", Uid: "u", Generation: 1,
			Rules: []*feedpb.Rule{{Hosts: []string{"bench.test"}, Paths: []*feedpb.Path{{Splits: []*feedpb.Split{to("bench", 100)}}}}}}}})
	return conn
}
