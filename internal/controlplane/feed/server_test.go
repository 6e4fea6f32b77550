// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/feed/feedpb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang bounds each wait: it is a detector of hangs, not a measure.
const hang = 20 * time.Second

// rig is a server on loopback whose informers the test feeds.
type rig struct {
	t         *testing.T
	server    *Server
	client    feedpb.FeedClient
	ctx       context.Context
	receiver  *recorder
	revisions *fcache.FakeControllerSource
	pods      *fcache.FakeControllerSource
	ingresses *fcache.FakeControllerSource
	start     func() // starts the informers
	stop      func() // ends Run
}

func newRig(t *testing.T) *rig {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	r := &rig{
		t: t, ctx: ctx, receiver: &recorder{reports: make(chan *feedpb.GatewayReport, 10), gone: make(chan string, 10)},
		revisions: fcache.NewFakeControllerSource(), pods: fcache.NewFakeControllerSource(),
		ingresses: fcache.NewFakeControllerSource(),
	}
	var group sync.WaitGroup
	var informers []cache.SharedInformer
	inform := func(source *fcache.FakeControllerSource, of runtime.Object) cache.SharedInformer {
		t.Cleanup(source.Shutdown)
		i := cache.NewSharedInformer(source, of, 0)
		informers = append(informers, i)
		return i
	}
	r.start = func() {
		for _, i := range informers {
			group.Go(func() { i.Run(ctx.Done()) })
		}
	}
	if r.server, err = New(Config{Listener: listener, Receiver: r.receiver}); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Watch(Informers{
		Ingresses:      inform(r.ingresses, &v1alpha1.Ingress{}),
		Revisions:      inform(r.revisions, &v1.Revision{}),
		Pods:           inform(r.pods, &corev1.Pod{}),
		Services:       inform(fcache.NewFakeControllerSource(), &corev1.Service{}),
		EndpointSlices: inform(fcache.NewFakeControllerSource(), &discoveryv1.EndpointSlice{}),
	}); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	r.stop = stop
	group.Go(func() {
		if err := r.server.Run(running); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	r.client = feedpb.NewFeedClient(conn)
	t.Cleanup(func() {
		cancel()
		group.Wait()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// follow starts a follower; next returns what its next update says.
func (r *rig) follow(name string) (next func() []string) {
	r.t.Helper()
	stream, err := r.client.Follow(r.ctx, &feedpb.FollowRequest{Gateway: name})
	if err != nil {
		r.t.Fatal(err)
	}
	return func() []string {
		r.t.Helper()
		update, err := stream.Recv()
		if err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
		return describe([]*feedpb.Update{update})
	}
}

func (r *rig) report(reports ...*feedpb.GatewayReport) feedpb.Feed_ReportClient {
	r.t.Helper()
	stream, err := r.client.Report(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, report := range reports {
		if err := stream.Send(report); err != nil {
			r.t.Fatal(err)
		}
	}
	return stream
}

type recorder struct {
	reports chan *feedpb.GatewayReport
	gone    chan string
}

func (r *recorder) Report(_ string, report *feedpb.GatewayReport) { r.reports <- report }
func (r *recorder) Disconnected(gateway string)                   { r.gone <- gateway }

func TestFollow(t *testing.T) {
	r := newRig(t)
	r.revisions.Add(revision("hello-00001", "r1"))
	r.pods.Add(pod("p1", "r1"))
	early := r.follow("early") // before the server knows what there is: it waits for the whole
	r.start()
	snapshot := []string{"backend ns/hello-00001", "instances ns/hello-00001 p1=STARTING"}
	if diff := cmp.Diff(snapshot, early()); diff != "" {
		t.Fatalf("snapshot: -want +got:\n%s", diff)
	}
	late := r.follow("late")
	if diff := cmp.Diff(snapshot, late()); diff != "" {
		t.Fatalf("snapshot of a later follower: -want +got:\n%s", diff)
	}
	r.pods.Modify(pod("p1", "r1", ready))
	for name, next := range map[string]func() []string{"early": early, "late": late} {
		if diff := cmp.Diff([]string{"instances ns/hello-00001 p1=READY"}, next()); diff != "" {
			t.Errorf("%s is not told of the change: -want +got:\n%s", name, diff)
		}
	}
	r.pods.Delete(pod("p1", "r1", ready))
	if diff := cmp.Diff([]string{"instances ns/hello-00001"}, early()); diff != "" {
		t.Errorf("a pod that is gone: -want +got:\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	r := newRig(t)
	r.start()
	r.ingresses.Add(ingress("hello", 1))
	if got := r.follow("g")(); len(got) != 1 {
		t.Fatalf("snapshot %v", got)
	}
	changes := make(chan string, 10)
	r.server.OnServed(func(name types.NamespacedName) { changes <- name.String() })
	if r.server.Served("ns", "hello", "hello", 1) {
		t.Error("served without a gateway")
	}

	stream := r.report(&feedpb.GatewayReport{
		Gateway: "g", Ready: true, Pokes: []*feedpb.Poke{{Namespace: "ns", Revision: "x", Waiting: 1}},
		Served: []*feedpb.Served{{Namespace: "ns", Name: "hello", Uid: "hello", Generation: 1}},
	})
	if got := <-r.receiver.reports; len(got.Pokes) != 1 {
		t.Errorf("the receiver got %v", got)
	}
	if got := <-changes; got != "ns/hello" {
		t.Errorf("told of a change of %s", got)
	}
	if !r.server.Served("ns", "hello", "hello", 1) {
		t.Error("not served though the only gateway says so")
	}

	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if got := <-r.receiver.gone; got != "g" {
		t.Errorf("gone: %q", got)
	}
	if got := <-changes; got != "ns/hello" {
		t.Errorf("told of a change of %s", got)
	}
	if r.server.Served("ns", "hello", "hello", 1) {
		t.Error("served by a gateway that is gone")
	}
}

// A gateway that serves many Ingresses names them all in the first message of a stream.
func TestLargeReport(t *testing.T) {
	const n = 100_000
	r := newRig(t)
	r.start()
	report := &feedpb.GatewayReport{Gateway: "g"}
	for i := range n {
		name := fmt.Sprintf("an-ingress-with-a-name-of-some-length-%d", i)
		report.Served = append(report.Served, &feedpb.Served{Namespace: "namespace", Name: name, Uid: name, Generation: 1})
	}
	r.report(report)
	select {
	case got := <-r.receiver.reports:
		if len(got.Served) != n {
			t.Errorf("%d of %d arrived", len(got.Served), n)
		}
	case <-time.After(10 * time.Second):
		t.Error("the report did not arrive")
	}
}

func TestReportOfTwoNames(t *testing.T) {
	r := newRig(t)
	r.start()
	stream := r.report(&feedpb.GatewayReport{Gateway: "a"}, &feedpb.GatewayReport{Gateway: "b"})
	if _, err := stream.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a stream that changes its name ends with %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no listener, no error")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	server, err := New(Config{Listener: listener})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Watch(Informers{}); err == nil {
		t.Error("no informers, no error")
	}
}

func TestStopEndsStreams(t *testing.T) {
	r := newRig(t)
	follow, err := r.client.Follow(t.Context(), &feedpb.FollowRequest{Gateway: "g"})
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.client.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	if _, err := follow.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := report.Send(&feedpb.GatewayReport{Gateway: "g"}); err != nil {
		t.Fatal(err)
	}
	<-r.receiver.reports
	r.stop()
	_, err = follow.Recv()
	if status.Code(err) != codes.Unavailable {
		t.Errorf("Follow ends with %v", err)
	}
	if _, err := report.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("Report ends with %v", err)
	}
}
