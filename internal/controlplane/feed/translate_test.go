// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/feed/feedpb"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/ptr"
)

func TestTranslateIngress(t *testing.T) {
	in := &v1alpha1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "hello", UID: "u1", Generation: 3, CreationTimestamp: metav1.Unix(7, 0),
		},
		Spec: v1alpha1.IngressSpec{
			HTTPOption: v1alpha1.HTTPOptionRedirected,
			Rules: []v1alpha1.IngressRule{{
				Hosts: []string{"Hello.Example.com"},
				HTTP: &v1alpha1.HTTPIngressRuleValue{Paths: []v1alpha1.HTTPIngressPath{{
					Path: "/a", RewriteHost: "inner", Headers: map[string]v1alpha1.HeaderMatch{"x-a": {Exact: "b"}},
					AppendHeaders: map[string]string{"x-c": "d"},
					Splits: []v1alpha1.IngressBackendSplit{
						split("hello-00001", 80, map[string]string{"knative-serving-revision": "hello-00001"}),
						split("plain", 20, nil),
					},
				}}},
			}, {
				Hosts: []string{"hello.ns"}, Visibility: v1alpha1.IngressVisibilityClusterLocal,
				HTTP: &v1alpha1.HTTPIngressRuleValue{Paths: []v1alpha1.HTTPIngressPath{{
					Splits: []v1alpha1.IngressBackendSplit{split("plain", 0, nil)},
				}}},
			}},
		},
	}
	want := &feedpb.Ingress{
		Namespace: "ns", Name: "hello", Uid: "u1", Generation: 3, Claimed: 7e9, RedirectHttps: true,
		Rules: []*feedpb.Rule{{
			Hosts: []string{"hello.example.com"},
			Paths: []*feedpb.Path{{
				Prefix: "/a", RewriteHost: "inner", Headers: map[string]string{"X-A": "b"},
				AppendHeaders: map[string]string{"X-C": "d"},
				Splits: []*feedpb.Split{{
					Backend: &feedpb.Ref{Namespace: "ns", Name: "hello-00001"}, Percent: 80,
					AppendHeaders: map[string]string{headerRevision: "hello-00001"},
				}, {
					Backend: &feedpb.Ref{Namespace: "ns", Name: "plain:80"}, Percent: 20,
				}},
			}},
		}, {
			Hosts: []string{"hello.ns"}, ClusterLocal: true,
			Paths: []*feedpb.Path{{
				Splits: []*feedpb.Split{{Backend: &feedpb.Ref{Namespace: "ns", Name: "plain:80"}, Percent: 100}},
			}},
		}},
	}
	got, services := translateIngress(in)
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	plain := servicePort{ref{"ns", "plain"}, intstr.FromInt32(80)}
	if diff := cmp.Diff([]servicePort{plain, plain}, services, cmp.AllowUnexported(servicePort{}, ref{})); diff != "" {
		t.Errorf("services -want +got:\n%s", diff)
	}
}

func split(name string, percent int, headers map[string]string) v1alpha1.IngressBackendSplit {
	return v1alpha1.IngressBackendSplit{
		IngressBackend: v1alpha1.IngressBackend{ServiceNamespace: "ns", ServiceName: name, ServicePort: intstr.FromInt32(80)},
		Percent:        percent, AppendHeaders: headers,
	}
}

func TestTranslateRevision(t *testing.T) {
	in := revision("hello-00001", "r1")
	in.Labels = map[string]string{"serving.knative.dev/service": "hello", "serving.knative.dev/configuration": "hello"}
	in.Spec.ContainerConcurrency = ptr.Int64(5)
	in.Spec.TimeoutSeconds = ptr.Int64(300)
	in.Spec.IdleTimeoutSeconds = ptr.Int64(20)
	in.Spec.Containers = []corev1.Container{{Name: "side"}, {Name: "user", Ports: []corev1.ContainerPort{{Name: "h2c"}}}}
	want := &feedpb.Backend{
		Namespace: "ns", Name: "hello-00001", Uid: "r1", Protocol: feedpb.Backend_H2C, ContainerConcurrency: 5,
		TimeoutMs: 300_000, IdleTimeoutMs: 20_000, Service: "hello", Configuration: "hello",
		Probe: &feedpb.Probe{Kind: feedpb.Probe_TCP, TimeoutMs: 1000},
	}
	if diff := cmp.Diff(want, translateRevision(in), protocmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTranslateProbe(t *testing.T) {
	http := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/ok", Scheme: corev1.URISchemeHTTP, Port: intstr.FromString("http1"),
		HTTPHeaders: []corev1.HTTPHeader{{Name: "A", Value: "b"}},
	}}
	podReady := &feedpb.Probe{Kind: feedpb.Probe_POD_READY}
	cases := map[string]struct {
		reason     string
		containers []corev1.Container
		want       *feedpb.Probe
	}{
		"none":      {"a dial tells enough", []corev1.Container{{}}, &feedpb.Probe{Kind: feedpb.Probe_TCP, TimeoutMs: 1000}},
		"nothing":   {"no container, no guess", nil, podReady},
		"defaulted": {"port 0 is the user port", probed(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}), &feedpb.Probe{Kind: feedpb.Probe_TCP, TimeoutMs: 1000}},
		"http": {
			"that very request, to the named port", probed(http), &feedpb.Probe{
				Kind: feedpb.Probe_HTTP, Path: "/ok", Scheme: "HTTP", Port: 9000, Headers: map[string]string{"A": "b"}, TimeoutMs: 1000,
			},
		},
		"grpc": {
			"the health service", probed(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 7, Service: ptr.String("s")}}),
			&feedpb.Probe{Kind: feedpb.Probe_GRPC, Port: 7, GrpcService: "s", TimeoutMs: 1000},
		},
		"exec":    {"runs inside only", probed(corev1.ProbeHandler{Exec: &corev1.ExecAction{}}), podReady},
		"startup": {"the pod says when it is over", []corev1.Container{{StartupProbe: &corev1.Probe{}}}, podReady},
		"sidecar": {
			"the pod needs both", []corev1.Container{{Ports: []corev1.ContainerPort{{}}}, {ReadinessProbe: &corev1.Probe{}}}, podReady,
		},
		"several successes": {
			"counting is the node's", []corev1.Container{{ReadinessProbe: &corev1.Probe{ProbeHandler: http, SuccessThreshold: 2}}}, podReady,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := translateProbe(c.containers, servingContainer(c.containers))
			if diff := cmp.Diff(c.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func probed(h corev1.ProbeHandler) []corev1.Container {
	return []corev1.Container{{
		Ports:          []corev1.ContainerPort{{Name: "http1", ContainerPort: 9000}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: h},
	}}
}

func TestTranslatePod(t *testing.T) {
	now := metav1.Now()
	cases := map[string]struct {
		reason string
		change func(*corev1.Pod)
		been   bool
		want   *feedpb.Instance
	}{
		"no address": {"nothing to route to", func(p *corev1.Pod) { p.Status.PodIP = "" }, false, nil},
		"starting": {
			"has an address", func(*corev1.Pod) {}, false,
			&feedpb.Instance{Name: "p1", Uid: "p1", Address: "10.0.0.1:9000", State: feedpb.Instance_STARTING},
		},
		"ready": {
			"condition", ready, false,
			&feedpb.Instance{Name: "p1", Uid: "p1", Address: "10.0.0.1:9000", State: feedpb.Instance_READY},
		},
		"no longer ready": {
			"after it was, its condition rules", func(*corev1.Pod) {}, true,
			&feedpb.Instance{Name: "p1", Uid: "p1", Address: "10.0.0.1:9000", State: feedpb.Instance_NOT_READY},
		},
		"terminating": {
			"whatever else it is", func(p *corev1.Pod) { ready(p); p.DeletionTimestamp = &now }, true,
			&feedpb.Instance{Name: "p1", Uid: "p1", Address: "10.0.0.1:9000", State: feedpb.Instance_TERMINATING},
		},
		"failed": {"over", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true, nil},
		"IPv6": {
			"address in brackets", func(p *corev1.Pod) { p.Status.PodIP = "fd00::1" }, false,
			&feedpb.Instance{Name: "p1", Uid: "p1", Address: "[fd00::1]:9000", State: feedpb.Instance_STARTING},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := pod("p1", "r1", c.change)
			if diff := cmp.Diff(c.want, translatePod(p, c.been).pb, protocmp.Transform()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestRevisionFailure(t *testing.T) {
	start := time.Unix(1000, 0)
	failed := func(reason string, at time.Time) func(*v1.Revision) {
		return func(r *v1.Revision) {
			r.Status.Conditions = append(r.Status.Conditions, apis.Condition{
				Type: v1.RevisionConditionResourcesAvailable, Status: corev1.ConditionFalse, Reason: reason, Message: "m",
				LastTransitionTime: apis.VolatileTime{Inner: metav1.NewTime(at)},
			})
		}
	}
	nothing := func(*v1.Revision) {}
	waits := waiting("ImagePullBackOff")
	cases := map[string]struct {
		reason string
		rev    func(*v1.Revision)
		pods   []*corev1.Pod
		been   bool
		want   string
	}{
		"at zero": {
			"an old failure must not keep a new attempt from being made", failed("ExitCode1", start), nil, false, "",
		},
		"image":         {"from the pod, at once", nothing, []*corev1.Pod{pod("p", "r", waits)}, false, "ImagePullBackOff"},
		"just starting": {"nothing known", nothing, []*corev1.Pod{pod("p", "r")}, false, ""},
		"another serves": {
			"callers are served by it", failed("X", start.Add(time.Hour)),
			[]*corev1.Pod{pod("p", "r", waits), pod("q", "r", ready)}, false, "",
		},
		"condition of this attempt": {
			"newer than the pod", failed("ProgressDeadlineExceeded", start.Add(time.Minute)), []*corev1.Pod{pod("p", "r")}, false,
			"ProgressDeadlineExceeded",
		},
		"condition of the last attempt": {
			"older than the pod: wait for it", failed("ProgressDeadlineExceeded", start.Add(-time.Minute)),
			[]*corev1.Pod{pod("p", "r")}, false, "",
		},
		"no room": {
			"callers are held", failed("Unschedulable", start.Add(time.Minute)), []*corev1.Pod{pod("p", "r")}, false, "",
		},
		"quota": {
			"no pod can be made though one is wanted",
			func(r *v1.Revision) { failed("FailedCreate", start)(r); r.Status.DesiredReplicas = ptr.Int32(1) }, nil, false, "FailedCreate",
		},
		"refused Deployment": {
			"nothing of the Revision can be made, so that nobody knows how many are desired", failed("FailedCreate", start), nil, false, "FailedCreate",
		},
		"refused ReplicaSet": {
			"as for pods",
			func(r *v1.Revision) {
				failed("ReplicaSetCreateError", start)(r)
				r.Status.DesiredReplicas = ptr.Int32(1)
			}, nil, false,
			"ReplicaSetCreateError",
		},
		"lost with the node": {
			"the machine was restarted, again and again: that says nothing about the program", nothing,
			[]*corev1.Pod{pod("p", "r", crashed(3), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated.Reason = "ContainerStatusUnknown"
			})}, false, "",
		},
		"dying": {
			"a terminating pod says nothing about the next", nothing,
			[]*corev1.Pod{pod("p", "r", waits, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })}, false, "",
		},
		"crashes": {
			"started again and again", nothing, []*corev1.Pod{pod("p", "r", crashed(3))}, false, "CrashLoopBackOff",
		},
		"crashed once":       {"may be about to serve", nothing, []*corev1.Pod{pod("p", "r", crashed(1))}, false, ""},
		"restarts":           {"it has served and will", failed("X", start.Add(time.Hour)), []*corev1.Pod{pod("p", "r")}, true, ""},
		"served, then broke": {"and does not come back", nothing, []*corev1.Pod{pod("p", "r", waits)}, true, "ImagePullBackOff"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rev := revision("hello-00001", "r")
			c.rev(rev)
			pods := map[string]instance{}
			for _, p := range c.pods {
				pods[p.Name] = translatePod(p, c.been)
			}
			if got := revisionFailure(rev, pods); got.reason != c.want {
				t.Errorf("%s: got %+v, want reason %q", c.reason, got, c.want)
			}
		})
	}
}

func TestTranslateService(t *testing.T) {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "plain", UID: "s1"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http2", Port: 80}}},
	}
	named := svc.DeepCopy()
	named.Spec.Type, named.Spec.ExternalName = corev1.ServiceTypeExternalName, "elsewhere.example.com"
	slice := &discoveryv1.EndpointSlice{
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.String("http2"), Port: ptr.Int32(9090)}},
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.0.0.2"}, TargetRef: &corev1.ObjectReference{Name: "b", UID: "b"}},
			{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Terminating: ptr.Bool(true)}},
			{Addresses: []string{"10.0.0.3"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.Bool(false)}},
			{},
		},
	}
	cases := map[string]struct {
		reason    string
		port      intstr.IntOrString
		svc       *corev1.Service
		failure   string
		instances []*feedpb.Instance
	}{
		"missing":      {"named to callers", intstr.FromInt32(80), nil, "ServiceNotFound", nil},
		"no such port": {"named to callers", intstr.FromInt32(81), svc, "PortNotFound", nil},
		"port by name": {"as well as by number", intstr.FromString("http2"), svc, "", endpoints()},
		"endpoints":    {"ready and leaving ones", intstr.FromInt32(80), svc, "", endpoints()},
		"external name": {"the name is dialled", intstr.FromInt32(80), named, "", []*feedpb.Instance{{
			Name: "elsewhere.example.com", Uid: "elsewhere.example.com", Address: "elsewhere.example.com:80",
			State: feedpb.Instance_READY,
		}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := servicePort{ref{"ns", "plain"}, c.port}
			backend, instances := translateService(want, c.svc, []*discoveryv1.EndpointSlice{slice})
			if backend.FailureReason != c.failure || backend.Kind != feedpb.Backend_SERVICE {
				t.Errorf("%s: %v", c.reason, backend)
			}
			if c.failure == "" && backend.Protocol != feedpb.Backend_H2C {
				t.Errorf("%s: a port named http2 speaks it, got %v", c.reason, backend.Protocol)
			}
			if diff := cmp.Diff(c.instances, instances.Instances, protocmp.Transform()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func endpoints() []*feedpb.Instance {
	return []*feedpb.Instance{
		{Name: "10.0.0.1:9090", Uid: "10.0.0.1:9090", Address: "10.0.0.1:9090", State: feedpb.Instance_TERMINATING},
		{Name: "b", Uid: "b", Address: "10.0.0.2:9090", State: feedpb.Instance_READY},
	}
}

func revision(name, uid string) *v1.Revision {
	return &v1.Revision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}}
}

func pod(name, revision string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Unix(1000, 0),
			Labels: map[string]string{"serving.knative.dev/revisionUID": revision},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "side"}, {Name: "user", Ports: []corev1.ContainerPort{{Name: "user-port", ContainerPort: 9000}}},
		}},
		Status: corev1.PodStatus{PodIP: "10.0.0.1", Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func ready(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func waiting(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "user", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}},
		}}
	}
}

func crashed(times int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "user", RestartCount: times,
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
		}}
	}
}
