// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/ptr"
)

const goodService = `
metadata: {name: hello}
spec:
  template:
    spec:
      containers:
      - image: weir.local/hello
`

// object parses a YAML object of any kind.
func object[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// errorsOf is the text of the errors, without warnings.
func errorsOf(fe *apis.FieldError) string { return fe.Filter(apis.ErrorLevel).Error() }

func TestServiceValidation(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*Service)
		ctx    func(context.Context) context.Context
		want   string
	}{
		"good": {reason: "an image is all that is needed", change: func(*Service) {}},
		"no name": {
			reason: "an object has a name",
			change: func(s *Service) { s.Name = "" },
			want:   "name or generateName is required: metadata.name",
		},
		"generate name": {
			reason: "the API server makes the name",
			change: func(s *Service) { s.Name, s.GenerateName = "", "hello-" },
		},
		"chosen revision name with generate name": {
			reason: "the prefix is not known yet",
			change: func(s *Service) { s.Name, s.GenerateName, s.Spec.Template.Name = "", "hello-", "hello-one" },
			want:   "must not set the field(s): spec.template.metadata.name",
		},
		"chosen revision name": {
			reason: "it begins with the Service's",
			change: func(s *Service) { s.Spec.Template.Name = "hello-one" },
		},
		"chosen revision name of another": {
			reason: "nobody takes another application's names",
			change: func(s *Service) { s.Spec.Template.Name = "bye-one" },
			want:   `"bye-one" must have prefix "hello-": spec.template.metadata.name`,
		},
		"no containers": {
			reason: "there is nothing to run",
			change: func(s *Service) { s.Spec.Template.Spec.Containers = nil },
			want:   "missing field(s): spec.template.spec.containers",
		},
		"negative percent": {
			reason: "a share is 0 to 100",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(-1)}, {RevisionName: "hello-00001", Percent: ptr.Int64(101)}}
			},
			want: "expected 0 <= -1 <= 100: spec.traffic[0].percent\nexpected 0 <= 101 <= 100: spec.traffic[1].percent",
		},
		"sum": {
			reason: "all requests go somewhere",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(50)}}
			},
			want: "Traffic targets sum to 50, want 100: spec.traffic",
		},
		"configuration in traffic": {
			reason: "a Service has one of its own",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{ConfigurationName: "other", Percent: ptr.Int64(100)}}
			},
			want: "must not set the field(s): spec.traffic[0].configurationName",
		},
		"latest with a name": {
			reason: "a target moves or stays",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{RevisionName: "x", LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
			},
			want: `may not set revisionName "x" when latestRevision is true: spec.traffic[0].latestRevision`,
		},
		"neither latest nor a name": {
			reason: "there is no target",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{LatestRevision: ptr.Bool(false), Percent: ptr.Int64(100)}}
			},
			want: `may not set revisionName "" when latestRevision is false: spec.traffic[0].latestRevision`,
		},
		"tag twice": {
			reason: "a host leads to one target",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{Tag: "a", Percent: ptr.Int64(100)}, {Tag: "a", RevisionName: "x"}}
			},
			want: `Multiple definitions for "a": spec.traffic[0].tag, spec.traffic[1].tag`,
		},
		"tag no label": {
			reason: "it becomes a part of a host",
			change: func(s *Service) { s.Spec.Traffic = []TrafficTarget{{Tag: "a.b", Percent: ptr.Int64(100)}} },
			want:   "not a DNS 1035 label: ",
		},
		"tag too long": {
			reason: "with the Service's name it makes no label of a host, and the Route would fail",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{Tag: "a" + strings.Repeat("b", 57), LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
			},
			want: `the tag's host would begin with "a` + strings.Repeat("b", 57) + `-hello", which has 64 characters, must be no more than 63: spec.traffic[0].tag`,
		},
		"longest tag": {
			reason: "63 characters are a label",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{Tag: "a" + strings.Repeat("b", 56), LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
			},
		},
		"long tag of the operator's form": {
			reason: "the template says how long it becomes",
			change: func(s *Service) {
				s.Spec.Traffic = []TrafficTarget{{Tag: "a" + strings.Repeat("b", 56), LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
			},
			ctx: func(ctx context.Context) context.Context {
				network, _ := config.NewNetwork(map[string]string{"tag-template": "{{.Name}}--{{.Tag}}"})
				return config.ToContext(ctx, &config.Config{Network: network})
			},
			want: `the tag's host would begin with "hello--a`,
		},
		"long tag with generate name": {
			reason: "the name is not known yet",
			change: func(s *Service) {
				s.Name, s.GenerateName = "", "hello-"
				s.Spec.Traffic = []TrafficTarget{{Tag: "a" + strings.Repeat("b", 62), LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
			},
		},
		"revision name": {
			reason: "it has the form of a name",
			change: func(s *Service) { s.Spec.Traffic = []TrafficTarget{{RevisionName: "-x-", Percent: ptr.Int64(100)}} },
			want:   `invalid key name "-x-": spec.traffic[0].revisionName`,
		},
		"url": {
			reason: "it is a result",
			change: func(s *Service) { s.Spec.Traffic = []TrafficTarget{{URL: apis.HTTP("a"), Percent: ptr.Int64(100)}} },
			want:   "must not set the field(s): spec.traffic[0].url",
		},
		"misplaced autoscaling annotation": {
			reason: "it would be ignored in silence",
			change: func(s *Service) { s.Annotations = map[string]string{"autoscaling.knative.dev/min-scale": "1"} },
			want: "invalid key name \"autoscaling.knative.dev/min-scale\": metadata.annotations.autoscaling.knative.dev/min-scale\n" +
				`autoscaling annotations must be put under "spec.template.metadata.annotations" to work`,
		},
		"rollout duration": {
			reason: "whole seconds, not negative",
			change: func(s *Service) { s.Annotations = map[string]string{"serving.knative.dev/rollout-duration": "1500ms"} },
			want:   "rollout-duration=1500ms is not at second precision: metadata.annotations.serving.knative.dev/rollout-duration",
		},
		"visibility": {
			reason: "a typing error would make it public",
			change: func(s *Service) { s.Labels = map[string]string{"networking.knative.dev/visibility": "cluster-locla"} },
			want:   "invalid value: cluster-locla: metadata.labels.networking.knative.dev/visibility",
		},
		"template annotation": {
			reason: "scale bounds are checked where they work",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"autoscaling.knative.dev/min-scale": "-1"}
			},
			want: "expected 0 <= -1 <= 2147483647: spec.template.metadata.annotations.autoscaling.knative.dev/min-scale",
		},
		"template label key": {
			reason: "the API server would refuse every Revision",
			change: func(s *Service) { s.Spec.Template.Labels = map[string]string{"a b": "c"} },
			want:   `invalid key name "a b": spec.template.metadata.labels`,
		},
		"template label value": {
			reason: "the API server would refuse every Revision",
			change: func(s *Service) { s.Spec.Template.Labels = map[string]string{"example.com/a": "b c"} },
			want:   "invalid value: b c: spec.template.metadata.labels.example.com/a\n",
		},
		"template labels": {
			reason: "a value may be empty, a key may have a prefix",
			change: func(s *Service) { s.Spec.Template.Labels = map[string]string{"example.com/A_b.c": "", "d": "E-1"} },
		},
		"follow, misspelled": {
			reason: "what is not understood has no effect, which nobody would see",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"weir.dev/follow-config": "true", "weir.dev/follow-tags": "5"}
			},
			want: "invalid value: 5: spec.template.metadata.annotations.weir.dev/follow-tags\nmust be a duration of at least 10s\n" +
				"invalid value: true: spec.template.metadata.annotations.weir.dev/follow-config\nmust be \"enabled\" or \"disabled\"",
		},
		"follow too often": {
			reason: "registries count requests",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"weir.dev/follow-tags": "9s"}
			},
			want: "invalid value: 9s: spec.template.metadata.annotations.weir.dev/follow-tags\nmust be a duration of at least 10s",
		},
		"follow with a name": {
			reason: "the second Revision would need another",
			change: func(s *Service) {
				s.Spec.Template.Name = "hello-one"
				s.Spec.Template.Annotations = map[string]string{"weir.dev/follow-config": "enabled"}
			},
			want: "a Revision of this name can be made only once: remove the name, or the weir.dev/follow annotations: spec.template.metadata.name",
		},
		"follow": {
			reason: "both as they are meant",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"weir.dev/follow-config": "enabled", "weir.dev/follow-tags": "5m"}
			},
		},
		"template annotation key": {
			reason: "the API server would refuse every Revision",
			change: func(s *Service) { s.Spec.Template.Annotations = map[string]string{"a b": "c"} },
			want:   `invalid key name "a b": spec.template.metadata.annotations`,
		},
		"template annotations": {
			reason: "a value may be anything, and the case of a prefix does not matter",
			change: func(s *Service) { s.Spec.Template.Annotations = map[string]string{"Example.com/a": "b c"} },
		},
		"template annotations too large": {
			reason: "the API server would refuse every Revision",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"a": strings.Repeat("x", 256<<10)}
			},
			want: "annotations size 262145 is larger than limit 262144: spec.template.metadata.annotations",
		},
		"template metadata that does not count": {
			reason: "its schema has it, so other tools write it",
			change: func(s *Service) {
				s.Spec.Template.Finalizers, s.Spec.Template.Namespace = []string{"x"}, "other"
			},
		},
		"progress deadline": {
			reason: "time goes forward",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"serving.knative.dev/progress-deadline": "-1s"}
			},
			want: "progress-deadline=-1s must be positive: spec.template.metadata.annotations.serving.knative.dev/progress-deadline",
		},
		"unknown networking annotation": {
			reason: "it would be ignored in silence",
			change: func(s *Service) { s.Spec.Template.Annotations = map[string]string{"networking.knative.dev/x": "y"} },
			want:   `invalid key name "networking.knative.dev/x": spec.template.metadata.annotations`,
		},
		"sidecar quantity": {
			reason: "the same YAML is to be good elsewhere",
			change: func(s *Service) {
				s.Spec.Template.Annotations = map[string]string{"queue.sidecar.serving.knative.dev/cpu-resource-request": "much"}
			},
			want: "invalid value: much: spec.template.metadata.annotations.queue.sidecar.serving.knative.dev/cpu-resource-request",
		},
		"timeout": {
			reason: "the operator bounds it",
			change: func(s *Service) { s.Spec.Template.Spec.TimeoutSeconds = ptr.Int64(601) },
			want:   "expected 0 <= 601 <= 600: spec.template.spec.timeoutSeconds",
		},
		"negative parts of the timeout": {
			reason: "time goes forward",
			change: func(s *Service) {
				s.Spec.Template.Spec.ResponseStartTimeoutSeconds = ptr.Int64(-1)
				s.Spec.Template.Spec.IdleTimeoutSeconds = ptr.Int64(-1)
			},
			want: "expected 0 <= -1 <= 2147483647: spec.template.spec.idleTimeoutSeconds, spec.template.spec.responseStartTimeoutSeconds",
		},
		"endless parts of the timeout": {
			reason: "a duration could not hold them",
			change: func(s *Service) {
				s.Spec.Template.Spec.IdleTimeoutSeconds = ptr.Int64(1 << 62)
			},
			want: "expected 0 <= 4611686018427387904 <= 2147483647: spec.template.spec.idleTimeoutSeconds",
		},
		"parts longer than the timeout": {
			reason: "they are never reached, which is a reason to warn only",
			change: func(s *Service) {
				s.Spec.Template.Spec.ResponseStartTimeoutSeconds = ptr.Int64(301)
				s.Spec.Template.Spec.IdleTimeoutSeconds = ptr.Int64(700)
			},
		},
		"concurrency": {
			reason: "a limit is not negative",
			change: func(s *Service) { s.Spec.Template.Spec.ContainerConcurrency = ptr.Int64(-1) },
			want:   "expected 0 <= -1 <= 1000: spec.template.spec.containerConcurrency",
		},
		"no limit where one is needed": {
			reason: "the operator wants one",
			change: func(s *Service) { s.Spec.Template.Spec.ContainerConcurrency = ptr.Int64(0) },
			ctx: func(ctx context.Context) context.Context {
				return config.ToContext(ctx, &config.Config{Defaults: &config.Defaults{
					ContainerConcurrencyMaxLimit: 10, MaxRevisionTimeoutSeconds: 600,
				}})
			},
			want: "expected 1 <= 0 <= 10: spec.template.spec.containerConcurrency",
		},
		"status update": {
			reason: "a status is the controller's",
			change: func(s *Service) { s.Spec.Template.Spec.Containers = nil },
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, &Service{}, "status")
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := object[Service](t, goodService)
			ctx := context.Background()
			if tc.ctx != nil {
				ctx = tc.ctx(ctx)
			}
			s.SetDefaults(apis.WithinCreate(context.Background()))
			tc.change(s)
			got := errorsOf(s.Validate(ctx))
			if got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want)) {
				t.Errorf("%s (-want +got):\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

func TestServiceUpdate(t *testing.T) {
	tests := map[string]struct {
		reason string
		before func(*Service)
		change func(*Service)
		want   string
	}{
		"new image": {
			reason: "that makes a Revision",
			change: func(s *Service) { s.Spec.Template.Spec.Containers[0].Image = "weir.local/other" },
		},
		"new image under the chosen name": {
			reason: "a name means one Revision",
			before: func(s *Service) { s.Spec.Template.Name = "hello-one" },
			change: func(s *Service) { s.Spec.Template.Spec.Containers[0].Image = "weir.local/other" },
			want:   "Saw the following changes without a name change (-old +new): spec.template.metadata.name\n",
		},
		"quantity in other words": {
			reason: "0.5 is 500m",
			before: func(s *Service) {
				s.Spec.Template.Name = "hello-one"
				s.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": quantity("0.5")}
			},
			change: func(s *Service) {
				s.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": quantity("500m")}
			},
		},
		"creator": {
			reason: "it was who it was",
			before: func(s *Service) { s.Annotations = map[string]string{"serving.knative.dev/creator": "alice"} },
			change: func(s *Service) { s.Annotations = map[string]string{"serving.knative.dev/creator": "bob"} },
			want:   "annotation value is immutable: metadata.annotations.serving.knative.dev/creator",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old := object[Service](t, goodService)
			if tc.before != nil {
				tc.before(old)
			}
			old.SetDefaults(apis.WithinCreate(context.Background()))
			s := old.DeepCopy()
			tc.change(s)
			got := errorsOf(s.Validate(apis.WithinUpdate(context.Background(), old)))
			if got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want)) {
				t.Errorf("%s (-want +got):\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

func TestRouteValidation(t *testing.T) {
	target := func(change func(*TrafficTarget)) []TrafficTarget {
		tt := TrafficTarget{ConfigurationName: "hello", Percent: ptr.Int64(100)}
		change(&tt)
		return []TrafficTarget{tt}
	}
	tests := map[string]struct {
		reason  string
		traffic []TrafficTarget
		meta    func(*Route)
		want    string
	}{
		"configuration": {reason: "its latest ready Revision", traffic: target(func(*TrafficTarget) {})},
		"revision":      {reason: "that one", traffic: target(func(tt *TrafficTarget) { tt.ConfigurationName, tt.RevisionName = "", "r" })},
		"nothing":       {reason: "a Route leads somewhere", want: "Traffic targets sum to 0, want 100: spec.traffic"},
		"neither": {
			reason:  "a target is something",
			traffic: target(func(tt *TrafficTarget) { tt.ConfigurationName = "" }),
			want:    "expected exactly one, got neither: spec.traffic[0].configurationName, spec.traffic[0].revisionName",
		},
		"both": {
			reason:  "and one thing",
			traffic: target(func(tt *TrafficTarget) { tt.RevisionName = "r" }),
			want:    "expected exactly one, got both: spec.traffic[0].configurationName, spec.traffic[0].revisionName",
		},
		"tag too long": {
			reason:  "with the Route's name it makes no label of a host",
			traffic: target(func(tt *TrafficTarget) { tt.Tag = strings.Repeat("b", 58) }),
			want: `the tag's host would begin with "` + strings.Repeat("b", 58) +
				`-hello", which has 64 characters, must be no more than 63: spec.traffic[0].tag`,
		},
		"service label": {
			reason:  "it means ownership",
			traffic: target(func(*TrafficTarget) {}),
			meta:    func(r *Route) { r.Labels = map[string]string{"serving.knative.dev/service": "hello"} },
			want:    "missing field(s): metadata.labels.serving.knative.dev/service",
		},
		"service label of the owner": {
			reason:  "which the Service has",
			traffic: target(func(*TrafficTarget) {}),
			meta: func(r *Route) {
				r.Labels = map[string]string{"serving.knative.dev/service": "hello"}
				r.OwnerReferences = []metav1.OwnerReference{{Kind: "Service", Name: "hello"}}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Route{ObjectMeta: metav1.ObjectMeta{Name: "hello"}, Spec: RouteSpec{Traffic: tc.traffic}}
			if tc.meta != nil {
				tc.meta(r)
			}
			r.SetDefaults(context.Background())
			if got := errorsOf(r.Validate(context.Background())); got != tc.want {
				t.Errorf("%s (-want +got):\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

func TestRevisionIsImmutable(t *testing.T) {
	old := object[Revision](t, strings.Replace(goodRevision, "NAME", "hello-00001", 1))
	old.SetDefaults(apis.WithinCreate(context.Background()))
	r := old.DeepCopy()
	ctx := apis.WithinUpdate(context.Background(), old)
	r.Labels = map[string]string{"serving.knative.dev/routingState": "active"}
	if got := r.Validate(ctx); got != nil {
		t.Errorf("labels may change, got %v", got)
	}
	r.Spec.TimeoutSeconds = ptr.Int64(5)
	if got := errorsOf(r.Validate(ctx)); !strings.HasPrefix(got, "Immutable fields changed (-old +new): spec\n") {
		t.Errorf("the spec may not change, got %q", got)
	}
	before := r.DeepCopy()
	r.SetDefaults(ctx)
	if !cmp.Equal(before, r) {
		t.Error("defaults are set on creation only")
	}
}

const goodRevision = `
metadata: {name: NAME}
spec:
  containers:
  - image: weir.local/hello
`

func TestConfigurationLabel(t *testing.T) {
	c := object[Configuration](t, goodService)
	c.Labels = map[string]string{"serving.knative.dev/service": "hello"}
	if got, want := errorsOf(c.Validate(context.Background())), "missing field(s): metadata.labels.serving.knative.dev/service"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWarningsAreForPeople(t *testing.T) {
	r := object[Revision](t, strings.Replace(goodRevision, "NAME", "hello-00001", 1))
	r.SetDefaults(apis.WithinCreate(context.Background()))
	if got := r.Validate(context.Background()).Filter(apis.WarningLevel); got == nil {
		t.Error("want warnings about insecure defaults")
	}
	r.OwnerReferences = []metav1.OwnerReference{{Kind: "Configuration", Name: "hello"}}
	if got := r.Validate(context.Background()); got != nil {
		t.Errorf("a controller has nobody to warn, got %v", got)
	}
}

func TestFollowNeedsAService(t *testing.T) {
	c := &Configuration{ObjectMeta: metav1.ObjectMeta{Name: "hello"}}
	c.Spec.Template = object[Service](t, goodService).Spec.Template
	c.Spec.Template.Annotations = map[string]string{"weir.dev/follow-config": "enabled"}
	c.SetDefaults(apis.WithinCreate(context.Background()))
	want := "weir.dev/follow annotations have no effect without a Service: spec.template.metadata.annotations"
	if got := c.Validate(context.Background()).Filter(apis.WarningLevel).Error(); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q among it", got, want)
	}
	c.OwnerReferences = []metav1.OwnerReference{{Kind: "Service", Name: "hello"}}
	if got := c.Validate(context.Background()).Filter(apis.WarningLevel); got != nil && strings.Contains(got.Error(), want) {
		t.Errorf("the Configuration of a Service: got %q", got)
	}
}

func TestUnreachedTimeouts(t *testing.T) {
	s := object[Service](t, goodService)
	s.SetDefaults(apis.WithinCreate(context.Background()))
	spec := &s.Spec.Template.Spec
	spec.IdleTimeoutSeconds, spec.ResponseStartTimeoutSeconds = ptr.Int64(301), ptr.Int64(300)
	got := s.Validate(context.Background()).Filter(apis.WarningLevel).Error()
	want := "301 has no effect: timeoutSeconds (300) ends the request before: spec.template.spec.idleTimeoutSeconds"
	if !strings.Contains(got, want) || strings.Contains(got, "responseStartTimeoutSeconds") {
		t.Errorf("want a warning about the longer timeout only, got %q", got)
	}
}

func TestProbePortDefaults(t *testing.T) {
	s := object[Service](t, goodService)
	s.Spec.Template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/ok", Port: intstr.FromInt32(0)},
	}}
	s.SetDefaults(apis.WithinCreate(context.Background()))
	if got := errorsOf(s.Validate(context.Background())); got != "" {
		t.Errorf("a probe without a port means the user port, got %q", got)
	}
}
