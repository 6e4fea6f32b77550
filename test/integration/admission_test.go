// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var services = schema.GroupVersionResource{Group: "serving.knative.dev", Version: "v1", Resource: "services"}

const good = `
apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: app
spec:
  template:
    spec:
      containers:
        - image: weir.local/app
`

// parse gives the good Service with replacements made in its text.
func parse(t *testing.T, replace ...string) *unstructured.Unstructured {
	t.Helper()
	text := good
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("the manifest has no %q", replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestBadInputIsRefusedWithItsPath(t *testing.T) {
	cases := map[string]struct {
		reason  string
		replace []string
		want    []string // all of these in the error
	}{
		"unknown field": {
			reason:  "a typing error must not be lost",
			replace: []string{"  template:\n", "  tempo: fast\n  template:\n"},
			want:    []string{`unknown field "spec.tempo"`},
		},
		"unknown container field": {
			reason:  "also deep down",
			replace: []string{"image: weir.local/app", "image: weir.local/app\n          comand: [x]"},
			want:    []string{"unknown field", "spec.template.spec.containers[0].comand"},
		},
		"negative percent": {
			reason:  "a share is 0 to 100",
			replace: []string{"spec:\n  template:", "spec:\n  traffic:\n    - {latestRevision: true, percent: -1}\n  template:"},
			want:    []string{"expected 0 <= -1 <= 100", "spec.traffic[0].percent"},
		},
		"sum below 100": {
			reason:  "all requests go somewhere",
			replace: []string{"spec:\n  template:", "spec:\n  traffic:\n    - {latestRevision: true, percent: 50}\n  template:"},
			want:    []string{"Traffic targets sum to 50, want 100", "spec.traffic"},
		},
		"sum above 100": {
			reason: "and only once",
			replace: []string{"spec:\n  template:", "spec:\n  traffic:\n    - {latestRevision: true, percent: 60}\n" +
				"    - {revisionName: app-00001, percent: 60}\n  template:"},
			want: []string{"Traffic targets sum to 120, want 100"},
		},
		"no containers": {
			reason:  "there is nothing to run",
			replace: []string{"containers:\n        - image: weir.local/app", "containers: []"},
			want:    []string{"missing field(s)", "spec.template.spec.containers"},
		},
		"no image": {
			reason:  "there is nothing to run",
			replace: []string{"- image: weir.local/app", "- name: main"},
			want:    []string{"missing field(s)", "spec.template.spec.containers[0].image"},
		},
		"name too long": {
			reason:  "a name becomes a DNS label",
			replace: []string{"name: app", "name: " + strings.Repeat("a", 64)},
			want:    []string{"metadata.name", "63"},
		},
		"name no DNS label": {
			reason:  "a name becomes a DNS label",
			replace: []string{"name: app", "name: 1app"},
			want:    []string{"not a DNS 1035 label", "metadata.name"},
		},
		"negative concurrency": {
			reason:  "a limit is not negative",
			replace: []string{"    spec:\n      containers", "    spec:\n      containerConcurrency: -1\n      containers"},
			want:    []string{"expected 0 <= -1 <= 1000", "spec.template.spec.containerConcurrency"},
		},
		"two ports": {
			reason:  "requests go to one port",
			replace: []string{"weir.local/app", "weir.local/app\n          ports: [{containerPort: 1}, {containerPort: 2}]"},
			want:    []string{"more than one container port is set", "spec.template.spec.containers[0].ports"},
		},
		"reserved environment": {
			reason:  "PORT is ours",
			replace: []string{"weir.local/app", "weir.local/app\n          env: [{name: PORT, value: x}]"},
			want:    []string{`"PORT" is a reserved environment variable`, "spec.template.spec.containers[0].env[0].name"},
		},
		"text for a number": {
			reason:  "the schema speaks before the webhook",
			replace: []string{"    spec:\n      containers", "    spec:\n      timeoutSeconds: soon\n      containers"},
			want:    []string{"spec.template.spec.timeoutSeconds", "integer"},
		},
		"scaling annotation in the wrong place": {
			reason:  "it would be ignored silently",
			replace: []string{"name: app", "name: app\n  annotations: {autoscaling.knative.dev/min-scale: \"1\"}"},
			want:    []string{"autoscaling annotations must be put under"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err := client.Resource(services).Namespace("default").Create(ctx, parse(t, tc.replace...),
				metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
			if err == nil {
				t.Fatalf("accepted: %s", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q: %s", err, want, tc.reason)
				}
			}
		})
	}
}

func TestUnknownFieldsArePrunedWithoutStrictValidation(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o, err := client.Resource(services).Namespace("default").Create(ctx, parse(t, "  template:\n", "  tempo: fast\n  template:\n"),
		metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	if _, found, _ := unstructured.NestedString(o.Object, "spec", "tempo"); found {
		t.Error("an unknown field was stored")
	}
}

func TestDefaults(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o, err := client.Resource(services).Namespace("default").Create(ctx, parse(t), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	traffic, _, _ := unstructured.NestedSlice(o.Object, "spec", "traffic")
	if len(traffic) != 1 || traffic[0].(map[string]any)["percent"] != int64(100) || traffic[0].(map[string]any)["latestRevision"] != true {
		t.Errorf("traffic %v, want all to the latest revision", traffic)
	}
	timeout, _, _ := unstructured.NestedInt64(o.Object, "spec", "template", "spec", "timeoutSeconds")
	if timeout != 300 {
		t.Errorf("timeoutSeconds %d, want 300", timeout)
	}
	if got := o.GetAnnotations()["serving.knative.dev/creator"]; got != "weir:admin" {
		t.Errorf("creator %q, want the admission user", got)
	}
}

func TestBothVersionsAreServed(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, resource := range []string{"services", "configurations", "routes", "revisions"} {
		for _, version := range []string{"v1", "v1beta1"} {
			gvr := schema.GroupVersionResource{Group: "serving.knative.dev", Version: version, Resource: resource}
			if _, err := client.Resource(gvr).Namespace("default").List(ctx, metav1.ListOptions{}); err != nil {
				t.Errorf("list %s in %s: %v", resource, version, err)
			}
		}
	}
}
