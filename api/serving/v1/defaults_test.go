// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func TestServiceDefaults(t *testing.T) {
	tests := map[string]struct {
		reason string
		data   map[string]string // of config-defaults
		update bool
		in     string
		want   string // the spec, YAML
	}{
		"image only": {
			reason: "the shortest Service that there is",
			in:     goodService,
			want: `
template:
  metadata: {}
  spec:
    containerConcurrency: 0
    timeoutSeconds: 300
    enableServiceLinks: false
    containers:
    - name: user-container
      image: weir.local/hello
      resources: {}
      readinessProbe: {successThreshold: 1, tcpSocket: {port: 0}}
traffic: [{latestRevision: true, percent: 100}]
`,
		},
		"settings": {
			reason: "the operator decides what users leave open",
			data: map[string]string{
				"revision-timeout-seconds": "60", "revision-response-start-timeout-seconds": "20",
				"revision-idle-timeout-seconds": "10", "container-concurrency": "7", "revision-cpu-request": "100m",
				"revision-memory-limit": "1Gi", "container-name-template": "{{.Name}}-main", "enable-service-links": "default",
			},
			in: goodService,
			want: `
template:
  metadata: {}
  spec:
    containerConcurrency: 7
    timeoutSeconds: 60
    responseStartTimeoutSeconds: 20
    idleTimeoutSeconds: 10
    containers:
    - name: hello-main
      image: weir.local/hello
      resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
      readinessProbe: {successThreshold: 1, tcpSocket: {port: 0}}
traffic: [{latestRevision: true, percent: 100}]
`,
		},
		"what is said stays": {
			reason: "defaults fill gaps only; a timeout default that is not shorter is none",
			data:   map[string]string{"revision-response-start-timeout-seconds": "200"},
			update: true,
			in: `
metadata: {name: hello}
spec:
  template:
    spec:
      containerConcurrency: 3
      timeoutSeconds: 100
      containers:
      - name: mine
        image: a/b
        readinessProbe: {httpGet: {path: /}, periodSeconds: 5}
        livenessProbe: {grpc: {port: 5}}
        volumeMounts: [{name: s, mountPath: /s}, {name: e, mountPath: /e}]
      volumes: [{name: s, secret: {secretName: s}}, {name: e, emptyDir: {}}]
  traffic: [{revisionName: hello-00001, percent: 100}, {tag: next}]
`,
			want: `
template:
  metadata: {}
  spec:
    containerConcurrency: 3
    timeoutSeconds: 100
    containers:
    - name: mine
      image: a/b
      resources: {}
      readinessProbe: {httpGet: {path: /, port: 0}, periodSeconds: 5, successThreshold: 1, failureThreshold: 3, timeoutSeconds: 1}
      livenessProbe: {grpc: {port: 5, service: ""}}
      volumeMounts: [{name: s, mountPath: /s, readOnly: true}, {name: e, mountPath: /e}]
    volumes: [{name: s, secret: {secretName: s}}, {name: e, emptyDir: {}}]
traffic: [{revisionName: hello-00001, latestRevision: false, percent: 100}, {tag: next, latestRevision: true, percent: 0}]
`,
		},
		"several containers": {
			reason: "numbers, the first that is free; only the one with a port takes requests",
			in: `
metadata: {name: hello}
spec:
  template:
    spec:
      containers:
      - {image: a, ports: [{containerPort: 1}]}
      - {image: b, name: user-container-1}
      - {image: c}
`,
			want: `
template:
  metadata: {}
  spec:
    containerConcurrency: 0
    timeoutSeconds: 300
    enableServiceLinks: false
    containers:
    - {name: user-container-0, image: a, resources: {}, ports: [{containerPort: 1}], readinessProbe: {successThreshold: 1, tcpSocket: {port: 0}}}
    - {name: user-container-1, image: b, resources: {}}
    - {name: user-container-2, image: c, resources: {}}
traffic: [{latestRevision: true, percent: 100}]
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defaults, err := config.NewDefaults(tc.data)
			if err != nil {
				t.Fatal(err)
			}
			ctx := config.ToContext(context.Background(), &config.Config{Defaults: defaults})
			s := object[Service](t, tc.in)
			if tc.update {
				ctx = apis.WithinUpdate(ctx, &Service{})
			} else {
				ctx = apis.WithinCreate(ctx)
			}
			s.SetDefaults(ctx)
			got, err := yaml.Marshal(s.Spec)
			if err != nil {
				t.Fatal(err)
			}
			var gotAny, wantAny any
			if err := yaml.Unmarshal(got, &gotAny); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(tc.want), &wantAny); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantAny, gotAny); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			again := s.DeepCopy()
			again.SetDefaults(ctx)
			if diff := cmp.Diff(s, again); diff != "" {
				t.Errorf("defaults twice must be defaults once:\n%s", diff)
			}
		})
	}
}

func TestDefaultsLeaveWhatIsStored(t *testing.T) {
	later, err := config.NewDefaults(map[string]string{"revision-cpu-request": "1", "revision-response-start-timeout-seconds": "5"})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		name   string // of the Revision
		change func(*Service)
		want   bool // the template stays
	}{
		"chosen name": {"changed settings must not trip over a name that stays", "hello-one", func(*Service) {}, true},
		"label":       {"it must not make a Revision", "", func(s *Service) { s.Labels = map[string]string{"a": "b"} }, true},
		"traffic":     {"nor must this", "", func(s *Service) { s.Spec.Traffic = nil }, true},
		"template":    {"a new Revision is made anyway, as the settings say", "", func(s *Service) { s.Spec.Template.Labels = map[string]string{"a": "b"} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old := object[Service](t, goodService)
			old.Spec.Template.Name = tc.name
			old.SetDefaults(apis.WithinCreate(context.Background()))
			ctx := config.ToContext(apis.WithinUpdate(context.Background(), old), &config.Config{Defaults: later})
			s := old.DeepCopy()
			tc.change(s)
			s.SetDefaults(ctx)
			if got := s.Validate(ctx).Filter(apis.ErrorLevel); got != nil {
				t.Errorf("%s: %v", tc.reason, got)
			}
			if got := cmp.Diff(old.Spec.Template, s.Spec.Template); (got == "") != tc.want {
				t.Errorf("%s (-old +new):\n%s", tc.reason, got)
			}
		})
	}
}

// Written again as a whole, a manifest means what it meant, service links too,
// which only creations default. Who never had them is left without.
func TestManifestsWrittenAgain(t *testing.T) {
	old := object[Service](t, goodService)
	old.SetDefaults(apis.WithinCreate(context.Background()))
	for _, links := range []*bool{old.Spec.Template.Spec.EnableServiceLinks, nil} {
		old.Spec.Template.Spec.EnableServiceLinks = links
		s := object[Service](t, goodService)
		s.SetDefaults(apis.WithinUpdate(context.Background(), old))
		if diff := cmp.Diff(old.Spec, s.Spec); diff != "" {
			t.Errorf("(-old +new):\n%s", diff)
		}
	}
}

// A manifest is applied again after the operator has changed every default.
func TestManifestsWithAChosenName(t *testing.T) {
	const manifest = `{metadata: {name: hello}, spec: {template: {metadata: {name: hello-one}, spec: {
		volumes: [{name: v, secret: {secretName: s}}],
		containers: [{image: a, ports: [{containerPort: 80}], volumeMounts: [{name: v, mountPath: /v}]}, {image: b, resources: {limits: {cpu: "2"}}}]}}}}`
	later, err := config.NewDefaults(map[string]string{
		"revision-timeout-seconds": "60", "container-concurrency": "7", "revision-cpu-request": "100m", "revision-cpu-limit": "1",
		"container-name-template": "main", "enable-service-links": "default", "revision-idle-timeout-seconds": "5",
	})
	if err != nil {
		t.Fatal(err)
	}
	secure, err := config.NewFeatures(map[string]string{"secure-pod-defaults": "enabled"})
	if err != nil {
		t.Fatal(err)
	}
	none, all, fewer := &config.Config{}, &config.Config{Defaults: later, Features: secure}, &config.Config{Features: secure}
	tests := map[string]struct {
		reason        string
		before, after *config.Config
		change        func(*RevisionSpec)
		want          string // is changed
	}{
		"same":     {"nothing has changed", none, none, func(*RevisionSpec) {}, ""},
		"new":      {"new defaults are for new templates", none, all, func(*RevisionSpec) {}, ""},
		"gone":     {"so are old ones that are no more", all, fewer, func(*RevisionSpec) {}, ""},
		"zero":     {"a timeout of 0 is none", none, all, func(rs *RevisionSpec) { rs.TimeoutSeconds = new(int64) }, ""},
		"image":    {"a change needs a name", none, all, func(rs *RevisionSpec) { rs.Containers[0].Image = "c" }, "Spec.PodSpec.Containers[0].Image"},
		"variable": {"so does an addition", all, fewer, func(rs *RevisionSpec) { rs.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} }, "Spec.PodSpec.Containers[0].Env"},
		"limit":    {"so does what is gone", none, all, func(rs *RevisionSpec) { rs.Containers[0].Ports = nil }, "Spec.PodSpec.Containers[0].Ports"},
		"fewer":    {"and a container", none, all, func(rs *RevisionSpec) { rs.Containers = rs.Containers[:1] }, "Spec.PodSpec.Containers"},
		"timeout":  {"and a default that is now given otherwise", none, all, func(rs *RevisionSpec) { rs.TimeoutSeconds = int64Ptr(7) }, "Spec.TimeoutSeconds"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old := object[Service](t, manifest)
			old.SetDefaults(config.ToContext(apis.WithinCreate(context.Background()), tc.before))
			stored, err := yaml.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			old = object[Service](t, string(stored))
			s := object[Service](t, manifest)
			tc.change(&s.Spec.Template.Spec)
			ctx := config.ToContext(apis.WithinUpdate(context.Background(), old), tc.after)
			s.SetDefaults(ctx)
			got := s.Validate(ctx).Filter(apis.ErrorLevel)
			if (got == nil) != (tc.want == "") || got != nil && !strings.Contains(got.Error(), tc.want) {
				t.Errorf("%s: %v, want a change of %q", tc.reason, got, tc.want)
			}
			if diff := cmp.Diff(old.Spec.Template, s.Spec.Template); got == nil && diff != "" {
				t.Errorf("%s (-old +new):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNoNulls(t *testing.T) {
	tests := map[string]struct {
		reason string
		old    string // "" is a creation
		in     string
		want   string // the errors
	}{
		"nothing": {
			reason: "the message says what is missing, and where",
			in:     `{metadata: {name: hello}, spec: {}}`,
			want:   "missing field(s): spec.template.spec.containers",
		},
		"null": {
			reason: "null is nothing",
			in:     `{metadata: {name: hello}, spec: null}`,
			want:   "missing field(s): spec.template.spec.containers",
		},
		"containers taken away from a chosen name": {
			reason: "defaults leave such a template alone, nulls do not",
			old:    `{metadata: {name: hello}, spec: {template: {metadata: {name: hello-one}, spec: {containers: [{image: a}]}}}}`,
			in:     `{metadata: {name: hello}, spec: {template: {metadata: {name: hello-one}}}}`,
			want:   "Saw the following changes without a name change (-old +new): spec.template.metadata.name\n",
		},
		"projected volume": {
			reason: "a volume of nothing",
			in: `{metadata: {name: hello}, spec: {template: {spec: {volumes: [{name: v, projected: {}}],
				containers: [{image: a, volumeMounts: [{name: v, mountPath: /v}]}]}}}}`,
			want: "missing field(s): spec.template.spec.volumes[0].projected.sources",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			service, config := object[Service](t, tc.in), object[Configuration](t, tc.in)
			ctx := apis.WithinCreate(context.Background())
			serviceCtx, configCtx := ctx, ctx
			if tc.old != "" {
				serviceCtx = apis.WithinUpdate(ctx, object[Service](t, tc.old))
				configCtx = apis.WithinUpdate(ctx, object[Configuration](t, tc.old))
			}
			service.SetDefaults(serviceCtx)
			config.SetDefaults(configCtx)
			for kind, spec := range map[string]any{"Service": service.Spec, "Configuration": config.Spec} {
				text, err := yaml.Marshal(spec)
				if err != nil || strings.Contains(string(text), "null") {
					t.Errorf("%s: %s: error %v, %s", tc.reason, kind, err, text)
				}
			}
			for kind, got := range map[string]string{
				"Service": errorsOf(service.Validate(serviceCtx)), "Configuration": errorsOf(config.Validate(configCtx)),
			} {
				if !strings.Contains(got, tc.want) {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, kind, got, tc.want)
				}
			}
		})
	}
}

func TestNoNullsInRevision(t *testing.T) {
	r := &Revision{}
	r.SetDefaults(apis.WithinUpdate(context.Background(), &Revision{}))
	if r.Spec.Containers == nil {
		t.Error("a Revision without containers must not have null ones")
	}
}

func TestSecureDefaults(t *testing.T) {
	features, err := config.NewFeatures(map[string]string{"secure-pod-defaults": "enabled"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := config.ToContext(apis.WithinCreate(context.Background()), &config.Config{Features: features})
	s := object[Service](t, goodService)
	s.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	s.SetDefaults(ctx)
	if got := s.Validate(ctx); got != nil {
		t.Errorf("what the defaults make must be valid and no reason to warn, got %v", got)
	}
	sc := s.Spec.Template.Spec.Containers[0].SecurityContext
	if !*sc.RunAsNonRoot || *sc.AllowPrivilegeEscalation || sc.SeccompProfile.Type != "RuntimeDefault" ||
		sc.Capabilities.Drop[0] != "ALL" || sc.Capabilities.Add[0] != "NET_BIND_SERVICE" {
		t.Errorf("got %+v", sc)
	}
}

// A default that everyDefault leaves out would not be kept where a template keeps its name.
func TestEveryDefaultIsOne(t *testing.T) {
	bounds := []string{"MaxRevisionTimeoutSeconds", "ContainerConcurrencyMaxLimit", "AllowContainerConcurrencyZero"}
	all := reflect.ValueOf(everyDefault().Defaults).Elem()
	for i := range all.NumField() {
		if name := all.Type().Field(i).Name; all.Field(i).IsZero() && !slices.Contains(bounds, name) {
			t.Errorf("%s is not set", name)
		}
	}
}
