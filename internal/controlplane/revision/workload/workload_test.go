// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/pkg/ptr"
)

const digestRef = "reg.example/app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func settings() Settings {
	c := config.Default()
	return Settings{
		Deployment: c.Deployment, Autoscaler: c.Autoscaler, Drain: netip.MustParseAddrPort("10.0.0.1:8012"),
	}
}

func revision(changes ...func(*v1.Revision)) *v1.Revision {
	rev := &v1.Revision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "foo-00001", UID: "rev-uid",
			Labels: map[string]string{
				"serving.knative.dev/service":       "foo",
				"serving.knative.dev/configuration": "foo",
				"serving.knative.dev/routingState":  "active",
				"mine":                              "yes",
			},
			Annotations: map[string]string{
				"serving.knative.dev/routes":               "foo",
				"serving.knative.dev/routingStateModified": "2026-01-01T00:00:00Z",
				"serving.knative.dev/no-gc":                "true",
				"autoscaling.knative.dev/min-scale":        "1",
				"mine":                                     "too",
			},
		},
		Spec: v1.RevisionSpec{
			TimeoutSeconds: ptr.Int64(60),
			PodSpec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "user-container", Image: "reg.example/app",
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}},
			}}},
		},
	}
	for _, change := range changes {
		change(rev)
	}
	return rev
}

func annotate(key, value string) func(*v1.Revision) {
	return func(rev *v1.Revision) { rev.Annotations[key] = value }
}

func TestDeploymentWhole(t *testing.T) {
	labels := map[string]string{
		"app":                               "foo-00001",
		"mine":                              "yes",
		"serving.knative.dev/service":       "foo",
		"serving.knative.dev/configuration": "foo",
		"serving.knative.dev/revision":      "foo-00001",
		"serving.knative.dev/revisionUID":   "rev-uid",
	}
	zero := intstr.FromInt32(0)
	rev := revision()
	got := Deployment(rev, settings(), nil)
	hash := got.Labels["serving.knative.dev/deployment-hash"]
	if hash == "" {
		t.Error("no deployment-hash")
	}
	delete(got.Labels, "serving.knative.dev/deployment-hash")
	want := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "foo-00001-deployment", Labels: labels, Annotations: map[string]string{"mine": "too"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "serving.knative.dev/v1", Kind: "Revision", Name: "foo-00001", UID: "rev-uid",
				Controller: ptr.Bool(true), BlockOwnerDeletion: ptr.Bool(true),
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas:                ptr.Int32(1),
			Selector:                &metav1.LabelSelector{MatchLabels: map[string]string{"serving.knative.dev/revisionUID": "rev-uid"}},
			ProgressDeadlineSeconds: ptr.Int32(600),
			RevisionHistoryLimit:    ptr.Int32(0),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &zero},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{
					"mine": "too", "kubectl.kubernetes.io/default-container": "user-container",
				}},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.Int64(90),
					Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
						PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
							Weight: 100,
							PodAffinityTerm: corev1.PodAffinityTerm{
								TopologyKey:   "kubernetes.io/hostname",
								LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"serving.knative.dev/revision": "foo-00001"}},
							},
						}},
					}},
					Containers: []corev1.Container{{
						Name: "user-container", Image: "reg.example/app",
						Ports: []corev1.ContainerPort{{Name: "user-port", ContainerPort: 8080, Protocol: "TCP"}},
						Env: []corev1.EnvVar{
							{Name: "PORT", Value: "8080"}, {Name: "K_REVISION", Value: "foo-00001"},
							{Name: "K_CONFIGURATION", Value: "foo"}, {Name: "K_SERVICE", Value: "foo"},
						},
						ReadinessProbe: &corev1.Probe{
							PeriodSeconds: 1,
							ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}},
						},
						TerminationMessagePolicy: "FallbackToLogsOnError",
						Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{
							Host: "10.0.0.1", Port: intstr.FromInt32(8012), Path: "/drain/ns/rev-uid", Scheme: "HTTP",
						}}},
					}},
				},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(revision(), rev); diff != "" {
		t.Errorf("the Revision was changed:\n%s", diff)
	}
}

func TestDeploymentDetails(t *testing.T) {
	template := func(d *appsv1.Deployment) corev1.PodSpec { return d.Spec.Template.Spec }
	tests := map[string]struct {
		reason string
		rev    *v1.Revision
		got    func(*appsv1.Deployment) any
		want   any
	}{
		"port": {
			reason: "the user's port is served whatever its name, and probes follow it",
			rev: revision(func(rev *v1.Revision) {
				c := &rev.Spec.Containers[0]
				c.Ports = []corev1.ContainerPort{{Name: "h2c", ContainerPort: 9000}}
				c.LivenessProbe = &corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("h2c")}},
				}
				c.StartupProbe = &corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(9001)}},
				}
			}),
			got: func(d *appsv1.Deployment) any {
				c := template(d).Containers[0]
				return []any{
					c.Ports[0].Name, c.Ports[0].ContainerPort, c.Env[0].Value, c.ReadinessProbe.TCPSocket.Port.IntValue(),
					c.LivenessProbe.HTTPGet.Port.IntValue(), c.LivenessProbe.PeriodSeconds, c.StartupProbe.HTTPGet.Port.IntValue(),
				}
			},
			want: []any{"user-port", int32(9000), "9000", 9000, 9000, int32(0), 9001},
		},
		"several containers": {
			reason: "requests go to the one with a port; only it has PORT; all wait before they stop",
			rev: revision(func(rev *v1.Revision) {
				rev.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
				rev.Spec.Containers = append([]corev1.Container{{Name: "side", Image: "s"}}, rev.Spec.Containers...)
				rev.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i"}}
			}),
			got: func(d *appsv1.Deployment) any {
				p := template(d)
				return []any{
					p.Containers[0].Env[0].Name, len(p.Containers[0].Ports), p.Containers[1].Env[0].Name, p.Containers[0].Lifecycle != nil,
					p.InitContainers[0].Env[0].Name, p.InitContainers[0].Lifecycle != nil,
					d.Spec.Template.Annotations["kubectl.kubernetes.io/default-container"],
				}
			},
			want: []any{"K_REVISION", 0, "PORT", true, "K_REVISION", false, "user-container"},
		},
		"initial scale": {
			reason: "the annotation counts",
			rev:    revision(annotate("autoscaling.knative.dev/initial-scale", "3")),
			got:    func(d *appsv1.Deployment) any { return *d.Spec.Replicas },
			want:   int32(3),
		},
		"initial scale zero": {
			reason: "needs the operator's leave",
			rev:    revision(annotate("autoscaling.knative.dev/initial-scale", "0")),
			got:    func(d *appsv1.Deployment) any { return *d.Spec.Replicas },
			want:   int32(1),
		},
		"progress deadline": {
			reason: "the annotation counts",
			rev:    revision(annotate("serving.knative.dev/progress-deadline", "30s")),
			got:    func(d *appsv1.Deployment) any { return *d.Spec.ProgressDeadlineSeconds },
			want:   int32(30),
		},
		"startup probe": {
			reason: "what it allows extends the deadline",
			rev: revision(func(rev *v1.Revision) {
				rev.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 60, FailureThreshold: 20}
			}),
			got:  func(d *appsv1.Deployment) any { return *d.Spec.ProgressDeadlineSeconds },
			want: int32(1200),
		},
		"drain timeout": {
			reason: "apart from how long a request may take",
			rev:    revision(annotate("weir.dev/drain-timeout", "5s")),
			got:    func(d *appsv1.Deployment) any { return *template(d).TerminationGracePeriodSeconds },
			want:   int64(35),
		},
		"affinity": {
			reason: "the user's own is left alone",
			rev: revision(func(rev *v1.Revision) {
				rev.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
			}),
			got:  func(d *appsv1.Deployment) any { return template(d).Affinity.PodAntiAffinity == nil },
			want: true,
		},
		"digest": {
			reason: "instances run the bytes that the tag meant at first",
			rev: revision(func(rev *v1.Revision) {
				rev.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "user-container", ImageDigest: digestRef}}
			}),
			got:  func(d *appsv1.Deployment) any { return template(d).Containers[0].Image },
			want: digestRef,
		},
		"app label": {
			reason: "the user's own is left alone",
			rev:    revision(func(rev *v1.Revision) { rev.Labels["app"] = "shop" }),
			got:    func(d *appsv1.Deployment) any { return d.Spec.Template.Labels["app"] },
			want:   "shop",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got(Deployment(tc.rev, settings(), nil))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeploymentUpdate(t *testing.T) {
	withDigest := func(rev *v1.Revision) {
		rev.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "user-container", ImageDigest: digestRef}}
	}
	tests := map[string]struct {
		reason   string
		rev      *v1.Revision
		settings func(*Settings)
		edit     func(*corev1.PodSpec) // by somebody else
		meta     func(*corev1.PodTemplateSpec)
		replicas int32
		want     bool
	}{
		"nothing":       {reason: "nothing changed, nothing is written", rev: revision(), replicas: 7, want: true},
		"bounds":        {reason: "scaling is not the pods' business", rev: revision(annotate("autoscaling.knative.dev/min-scale", "5")), replicas: 1, want: true},
		"routing":       {reason: "routing is not the pods' business", rev: revision(func(rev *v1.Revision) { rev.SetRoutingState(v1.RoutingStateReserve, time.Now()) }), replicas: 1, want: true},
		"drain address": {reason: "the platform's address rolls no pods", rev: revision(), replicas: 1, settings: func(s *Settings) { s.Drain = netip.AddrPort{} }, want: true},
		"label":         {reason: "labels reach the pods", rev: revision(func(rev *v1.Revision) { rev.Labels["new"] = "x" }), replicas: 1},
		"deadline": {reason: "a changed default reaches the Deployment", rev: revision(), replicas: 1, settings: func(s *Settings) {
			s.Deployment = &config.Deployment{ProgressDeadline: time.Minute, DefaultAffinity: "none"}
		}},
		"image edited":   {reason: "a Revision is what it was made as", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) { p.Containers[0].Image = "another" }},
		"grace edited":   {reason: "whatever is ours to set", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) { p.TerminationGracePeriodSeconds = ptr.Int64(1) }},
		"container gone": {reason: "all of it", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) { p.Containers = nil }},
		"label gone": {reason: "pods without our labels are nobody's", rev: revision(), replicas: 1, meta: func(p *corev1.PodTemplateSpec) {
			delete(p.Labels, "serving.knative.dev/revision")
		}},
		"probe defaulted": {reason: "numbers that the API server sets are no change", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) {
			probe := p.Containers[0].ReadinessProbe
			probe.TimeoutSeconds, probe.FailureThreshold, probe.SuccessThreshold = 1, 3, 1
		}, want: true},
		"probe edited": {reason: "ours are", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) {
			p.Containers[0].ReadinessProbe.TimeoutSeconds = 60
		}},
		"field defaulted": {reason: "what the API server adds is no change", rev: revision(), replicas: 1, edit: func(p *corev1.PodSpec) {
			p.SchedulerName, p.Containers[0].TerminationMessagePath = "default", "/dev/termination-log"
		}, want: true},
		"late digest":      {reason: "a digest learnt late restarts nothing", rev: revision(withDigest), replicas: 1, want: true},
		"late digest at 0": {reason: "where nothing runs it is taken up", rev: revision(withDigest), replicas: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			existing := Deployment(revision(), settings(), nil)
			existing.Spec.Replicas = &tc.replicas
			if tc.edit != nil {
				tc.edit(&existing.Spec.Template.Spec)
			}
			if tc.meta != nil {
				tc.meta(&existing.Spec.Template)
			}
			s := settings()
			if tc.settings != nil {
				tc.settings(&s)
			}
			want := Deployment(tc.rev, s, existing)
			if got := UpToDate(want, existing); got != tc.want {
				t.Errorf("%s: UpToDate = %v\n%s", tc.reason, got, cmp.Diff(existing, want))
			}
			if *want.Spec.Replicas != tc.replicas {
				t.Errorf("replicas are the autoscaler's: got %d", *want.Spec.Replicas)
			}
		})
	}
}

func TestDeploymentKeepsForeign(t *testing.T) {
	existing := Deployment(revision(), settings(), nil)
	existing.ResourceVersion, existing.Finalizers = "5", []string{"theirs"}
	existing.Labels["tool"], existing.Annotations["deployment.kubernetes.io/revision"] = "x", "1"
	existing.Labels["serving.knative.dev/gone"] = "old"
	existing.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = "now"
	got := Deployment(revision(), settings(), existing)
	want := existing.DeepCopy()
	delete(want.Labels, "serving.knative.dev/gone")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what others added stays, what was ours goes (-want +got):\n%s", diff)
	}
}

func TestPodAutoscaler(t *testing.T) {
	got := PodAutoscaler(revision(), Outlook{}, nil)
	want := &autoscalingv1alpha1.PodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "foo-00001", OwnerReferences: got.OwnerReferences,
			Labels:      podLabels(revision()),
			Annotations: map[string]string{"autoscaling.knative.dev/min-scale": "1", "mine": "too"},
		},
		Spec: autoscalingv1alpha1.PodAutoscalerSpec{
			ScaleTargetRef: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "foo-00001-deployment"},
			ProtocolType:   "http1",
			Reachability:   "Reachable",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	existing := got.DeepCopy()
	existing.Annotations["autoscaling.knative.dev/class"] = "kpa.autoscaling.knative.dev"
	existing.Annotations["autoscaling.knative.dev/metric"] = "concurrency"
	existing.Annotations["autoscaling.knative.dev/max-scale"] = "5"
	got = PodAutoscaler(revision(), Outlook{}, existing)
	want = existing.DeepCopy()
	delete(want.Annotations, "autoscaling.knative.dev/max-scale")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaulted keys stay, removed ones go (-want +got):\n%s", diff)
	}
}

func TestAbandoned(t *testing.T) {
	asked := revision(annotate("weir.dev/abandoned", "true"))
	if v, ok := PodAutoscaler(asked, Outlook{}, nil).Annotations["weir.dev/abandoned"]; ok {
		t.Errorf("got %q, but it is not the user's to say", v)
	}
	if got := PodAutoscaler(revision(), Outlook{Abandoned: true}, nil).Annotations["weir.dev/abandoned"]; got != "true" {
		t.Errorf("got %q, want true", got)
	}
}

func TestReachability(t *testing.T) {
	tests := map[string]struct {
		reason  string
		state   v1.RoutingState
		failing bool
		want    autoscalingv1alpha1.ReachabilityType
	}{
		"active":          {reason: "a Route leads there", state: v1.RoutingStateActive, want: "Reachable"},
		"active, failing": {reason: "what cannot start needs no least scale", state: v1.RoutingStateActive, failing: true, want: "Unreachable"},
		"reserve":         {reason: "no Route leads there any more", state: v1.RoutingStateReserve, want: "Unreachable"},
		"pending":         {reason: "not known yet", state: v1.RoutingStatePending},
		"unset":           {reason: "not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rev := revision(func(rev *v1.Revision) { rev.Labels["serving.knative.dev/routingState"] = string(tc.state) })
			pa := PodAutoscaler(rev, Outlook{Failing: tc.failing}, &autoscalingv1alpha1.PodAutoscaler{ObjectMeta: metav1.ObjectMeta{
				Annotations: map[string]string{"weir.dev/abandoned": "true"}, // from before
			}})
			if got := pa.Spec.Reachability; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			if v, ok := pa.Annotations["weir.dev/abandoned"]; ok {
				t.Errorf("%s: abandoned is %q, although it is not", tc.reason, v)
			}
		})
	}
}

func TestInitialScale(t *testing.T) {
	const initial, most = "autoscaling.knative.dev/initial-scale", "autoscaling.knative.dev/max-scale"
	tests := map[string]struct {
		reason  string
		changes []func(*v1.Revision)
		allow   bool
		want    int32
	}{
		"default":           {reason: "one", want: 1},
		"asked for":         {reason: "as many", changes: []func(*v1.Revision){annotate(initial, "3")}, want: 3},
		"more than allowed": {reason: "never above the greatest scale", changes: []func(*v1.Revision){annotate(initial, "3"), annotate(most, "2")}, want: 2},
		"no limit":          {reason: "0 is none", changes: []func(*v1.Revision){annotate(initial, "3"), annotate(most, "0")}, want: 3},
		"zero":              {reason: "where the operator allows it", changes: []func(*v1.Revision){annotate(initial, "0")}, allow: true, want: 0},
		"zero, not allowed": {reason: "else the default", changes: []func(*v1.Revision){annotate(initial, "0")}, want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := *settings().Autoscaler
			cfg.AllowZeroInitialScale = tc.allow
			if got := InitialScale(revision(tc.changes...), &cfg); got != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
