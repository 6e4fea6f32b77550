// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What is wrong with a Service is told by its message and path, as one line each, and all of it in one reply; at creation and at
// an update alike.
func TestMessages(t *testing.T) {
	s := newSpace(t)
	services := s.applied("v1")
	s.deploy(hello("app"))
	elsewhere := newSpace(t).applied("v1")
	for spec, want := range mistakes() {
		metadata := "{name: app}"
		if _, after, ok := strings.Cut(spec, "metadata "); ok {
			metadata, spec, _ = strings.Cut(after, " spec ")
		}
		bad := s.object("v1", "services", metadata, spec)
		bad.SetName("app")
		_, err := elsewhere.Create(s.ctx, bad, metav1.CreateOptions{DryRun: dry})
		checkMessages(t, "create", spec, err, want)
		_, err = services.Update(s.ctx, s.over("app", bad), metav1.UpdateOptions{DryRun: dry})
		checkMessages(t, "update", spec, err, want)
	}
}

// over is bad under the name of what is stored, with what an update must not change.
func (s *space) over(name string, bad *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	out, err := s.applied("v1").Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	out.Object["spec"] = bad.Object["spec"]
	annotations, labels := out.GetAnnotations(), bad.GetLabels()
	for key, value := range bad.GetAnnotations() {
		annotations[key] = value
	}
	out.SetAnnotations(annotations)
	out.SetLabels(labels)
	return out
}

// checkMessages looks for each wanted line among those of the error.
func checkMessages(t *testing.T, verb, spec string, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s of %s is accepted", verb, spec)
		return
	}
	_, text, _ := strings.Cut(err.Error(), "validation failed: ")
	lines := strings.Split(text, "\n")
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("%s of %s:\n%v\nwant the line %q", verb, spec, err, w)
		}
	}
}

// ofContainer is the spec of one container.
func ofContainer(c string) string { return ofPod("containers: [{image: i, " + c + "}]") }

func ofPod(spec string) string { return "{template: {spec: {" + spec + "}}}" }

func ofTraffic(targets string) string {
	return "{template: {spec: {containers: [{image: i}]}}, traffic: [" + targets + "]}"
}

// mistakes are specs, "metadata … spec …" where both matter, with the lines of the reply.
func mistakes() map[string][]string {
	const c = "spec.template.spec.containers[0]"
	return map[string][]string{
		// the pod
		ofPod("containers: [{image: i}], serviceAccountName: foo@bar.baz"): {
			"invalid value: foo@bar.baz: spec.template.spec.serviceAccountName",
		},
		ofPod("containers: [{image: i}], hostNetwork: true"):                  {"must not set the field(s): spec.template.spec.hostNetwork"},
		ofPod("containers: [{image: i}], automountServiceAccountToken: true"): {"invalid value: true: spec.template.spec.automountServiceAccountToken"},
		ofPod("containers: [{image: i}], nodeSelector: {a: b}"):               {"must not set the field(s): spec.template.spec.nodeSelector"},
		ofPod("containers: [{image: i}], initContainers: [{image: j}]"):       {"pod spec support for init-containers is off, but found 1 init containers: spec.template.spec.initContainers"},
		ofPod("containers: [{image: i, name: x}, {image: j, name: x, ports: [{containerPort: 1}]}]"): {
			`duplicate container name "x": spec.template.spec.containers[1].name`,
		},
		// containers
		ofPod("containers: [{name: x}]"):                       {"missing field(s): " + c + ".image"},
		ofContainer("name: queue-proxy"):                       {`"queue-proxy" is a reserved container name: ` + c + ".name"},
		ofContainer("env: [{name: K_SERVICE, value: x}]"):      {`"K_SERVICE" is a reserved environment variable: ` + c + ".env[0].name"},
		ofContainer("envFrom: [{prefix: x}]"):                  {"expected exactly one, got neither: " + c + ".envFrom[0].configMapRef, " + c + ".envFrom[0].secretRef"},
		ofContainer("terminationMessagePolicy: Never"):         {"invalid value: Never: " + c + ".terminationMessagePolicy"},
		ofContainer("ports: [{containerPort: 8012}]"):          {"8012 is a reserved port: " + c + ".ports[0].containerPort"},
		ofContainer("ports: [{containerPort: 70000}]"):         {"expected 0 <= 70000 <= 65535: " + c + ".ports[0].containerPort"},
		ofContainer("ports: [{name: grpc, containerPort: 1}]"): {"Port name grpc is not allowed: " + c + ".ports[0].name", "Name must be empty, or one of: 'h2c', 'http1'"},
		ofContainer("ports: [{protocol: UDP}]"):                {"invalid value: UDP: " + c + ".ports[0].protocol"},
		ofContainer("ports: [{containerPort: 1}, {containerPort: 2}]"): {
			"more than one container port is set: " + c + ".ports", "Only a single port is allowed across all containers",
		},
		ofContainer("securityContext: {privileged: true}"):           {"invalid value: true: " + c + ".securityContext.privileged"},
		ofContainer("securityContext: {capabilities: {add: [ALL]}}"): {"must not set the field(s): " + c + ".securityContext.capabilities.add"},
		ofContainer("securityContext: {runAsUser: -1}"):              {"expected 0 <= -1 <= 2147483647: " + c + ".securityContext.runAsUser"},
		// probes
		ofContainer("readinessProbe: {httpGet: {path: /}, tcpSocket: {}}"): {
			"expected exactly one, got both: " + c + ".readinessProbe.httpGet, " + c + ".readinessProbe.tcpSocket",
		},
		ofContainer("readinessProbe: {periodSeconds: -1}"): {"expected 0 <= -1 <= 2147483647: " + c + ".readinessProbe.periodSeconds"},
		ofContainer("readinessProbe: {failureThreshold: 2}"): {
			"failureThreshold is disallowed when periodSeconds is zero: " + c + ".readinessProbe.failureThreshold",
		},
		ofContainer("readinessProbe: {timeoutSeconds: 2}"): {
			"timeoutSeconds is disallowed when periodSeconds is zero: " + c + ".readinessProbe.timeoutSeconds",
		},
		ofContainer("livenessProbe: {httpGet: {port: other}}"): {"invalid value: other: " + c + ".livenessProbe.httpGet.port", "Probe port must match container port"},
		// volumes
		ofPod("volumes: [{name: v, secret: {secretName: s}}], containers: [{image: i}]"): {"volume with name \"v\" not mounted: spec.template.spec.volumes[0].name"},
		ofContainer("volumeMounts: [{name: v, mountPath: /v}]"):                          {"volumeMount has no matching volume: " + c + ".volumeMounts[0].name"},
		ofPod("volumes: [{name: v, hostPath: {path: /}}], containers: [{image: i, volumeMounts: [{name: v, mountPath: /v}]}]"): {
			"must not set the field(s): spec.template.spec.volumes[0].hostPath",
		},
		ofPod("volumes: [{name: v, emptyDir: {}}], containers: [{image: i, volumeMounts: [{name: v, mountPath: /dev}]}]"): {
			`mountPath "/dev" is a reserved path: ` + c + ".volumeMounts[0].mountPath",
		},
		// the Revision
		ofPod("containers: [{image: i}], timeoutSeconds: 601"):                     {"expected 0 <= 601 <= 600: spec.template.spec.timeoutSeconds"},
		ofPod("containers: [{image: i}], containerConcurrency: 1001"):              {"expected 0 <= 1001 <= 1000: spec.template.spec.containerConcurrency"},
		"{template: {metadata: {name: 'Else'}, spec: {containers: [{image: i}]}}}": {`"Else" must have prefix "app-": spec.template.metadata.name`},
		"{template: {metadata: {annotations: {networking.knative.dev/x: z}}, spec: {containers: [{image: i}]}}}": {
			`invalid key name "networking.knative.dev/x": spec.template.metadata.annotations`,
		},
		"{template: {metadata: {annotations: {serving.knative.dev/progress-deadline: 1500ms}}, spec: {containers: [{image: i}]}}}": {
			"progress-deadline=1500ms is not at second precision: spec.template.metadata.annotations.serving.knative.dev/progress-deadline",
		},
		// traffic
		ofTraffic("{percent: 101}"): {"Traffic targets sum to 101, want 100: spec.traffic", "expected 0 <= 101 <= 100: spec.traffic[0].percent"},
		ofTraffic("{percent: 100, revisionName: r, latestRevision: true}"): {
			`may not set revisionName "r" when latestRevision is true: spec.traffic[0].latestRevision`,
		},
		ofTraffic("{percent: 100, configurationName: x}"): {"must not set the field(s): spec.traffic[0].configurationName"},
		ofTraffic("{percent: 100, url: 'http://x'}"):      {"must not set the field(s): spec.traffic[0].url"},
		ofTraffic("{percent: 50, tag: a}, {percent: 50, tag: a}"): {
			`Multiple definitions for "a": spec.traffic[0].tag, spec.traffic[1].tag`,
		},
		// metadata
		"metadata {annotations: {autoscaling.knative.dev/min-scale: '1'}} spec " + ofContainer("name: c"): {
			`invalid key name "autoscaling.knative.dev/min-scale": metadata.annotations.autoscaling.knative.dev/min-scale`,
			`autoscaling annotations must be put under "spec.template.metadata.annotations" to work`,
		},
		"metadata {annotations: {serving.knative.dev/rollout-duration: -1s}} spec " + ofContainer("name: c"): {
			"rollout-duration=-1s must be positive: metadata.annotations.serving.knative.dev/rollout-duration",
		},
		"metadata {labels: {networking.knative.dev/visibility: secret}} spec " + ofContainer("name: c"): {
			"invalid value: secret: metadata.labels.networking.knative.dev/visibility",
		},
		// all at once, the same message once
		"metadata {annotations: {autoscaling.knative.dev/max-scale: '1'}} spec {template: {spec: {timeoutSeconds: -1, containers: [{image: i, env: [{name: PORT}, {value: x}], " +
			"ports: [{containerPort: 8012}], securityContext: {capabilities: {add: [ALL]}}}], hostNetwork: true}}, traffic: [{percent: 7}]}": {
			`"PORT" is a reserved environment variable: ` + c + ".env[0].name",
			"8012 is a reserved port: " + c + ".ports[0].containerPort",
			"Traffic targets sum to 7, want 100: spec.traffic",
			"expected 0 <= -1 <= 600: spec.template.spec.timeoutSeconds",
			`invalid key name "autoscaling.knative.dev/max-scale": metadata.annotations.autoscaling.knative.dev/max-scale`,
			"missing field(s): " + c + ".env[1].name",
			"must not set the field(s): " + c + ".securityContext.capabilities.add, spec.template.spec.hostNetwork",
		},
	}
}
