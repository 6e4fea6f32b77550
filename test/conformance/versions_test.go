// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// richPod has something of every field of the detailed resources.
const richPod = `{containerConcurrency: 7, timeoutSeconds: 60, responseStartTimeoutSeconds: 5, idleTimeoutSeconds: 6, serviceAccountName: default,
  enableServiceLinks: true, automountServiceAccountToken: false, imagePullSecrets: [{name: pull}],
  volumes: [{name: s, secret: {secretName: s, optional: true, defaultMode: 256, items: [{key: k, path: p, mode: 292}]}},
    {name: c, configMap: {name: c, optional: true}}, {name: e, emptyDir: {medium: Memory, sizeLimit: 1Mi}},
    {name: p, projected: {defaultMode: 420, sources: [{secret: {name: s, optional: true}}, {configMap: {name: c, optional: true}},
      {serviceAccountToken: {path: t, audience: a, expirationSeconds: 600}}, {downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}]}}],
  containers: [{name: main, image: weir.local/hello, command: [/app], args: [x], workingDir: /w, imagePullPolicy: Never,
      terminationMessagePath: /t, terminationMessagePolicy: File, ports: [{name: h2c, containerPort: 9999, protocol: TCP}],
      env: [{name: A, value: b}, {name: C, valueFrom: {configMapKeyRef: {name: c, key: k, optional: true}}}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}],
      envFrom: [{prefix: P_, configMapRef: {name: c, optional: true}}, {secretRef: {name: s, optional: true}}],
      resources: {requests: {cpu: 10m, memory: 8Mi}, limits: {cpu: "1", memory: 1Gi, ephemeral-storage: 1Gi}},
      livenessProbe: {httpGet: {path: /l, port: 9999, host: h, scheme: HTTP, httpHeaders: [{name: X, value: "y"}]}, initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 4},
      readinessProbe: {grpc: {port: 9999, service: s}, periodSeconds: 5}, startupProbe: {exec: {command: [/bin/true]}},
      securityContext: {runAsUser: 1, runAsGroup: 2, runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, privileged: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}},
      volumeMounts: [{name: s, mountPath: /s, subPath: p}, {name: c, mountPath: /c, readOnly: true}, {name: e, mountPath: /e}, {name: p, mountPath: /p}]},
    {name: side, image: weir.local/hello}]}`

const richTemplate = `{metadata: {labels: {l: m}, annotations: {example.com/a: b, autoscaling.knative.dev/min-scale: "0", autoscaling.knative.dev/max-scale: "3"}}, spec: ` + richPod + `}`

// richSpecs have something of every field, by resource.
var richSpecs = map[string]string{
	"services":       `{template: ` + richTemplate + `, traffic: [{latestRevision: true, percent: 90, tag: now}, {revisionName: app-00009, percent: 10, tag: then}]}`,
	"configurations": `{template: ` + richTemplate + `}`,
	"routes":         `{traffic: [{configurationName: other, latestRevision: true, percent: 90, tag: now}, {revisionName: other-00009, latestRevision: false, percent: 10}]}`,
	"revisions":      richPod,
}

// "Detailed Resources": what is written by one version reads the same by the other, but for apiVersion, and so do lists.
func TestVersionsAreTheSame(t *testing.T) {
	s := newSpace(t)
	for resource := range fourKinds {
		for i, version := range bothVersions {
			other := bothVersions[1-i]
			want := s.object(version, resource, "{name: "+resource+"-by-"+version+", labels: {l: m}, annotations: {example.com/a: b}}", richSpecs[resource])
			objects := s.dynamicAs("").Resource(resourceOf(version, resource)).Namespace(s.ns)
			if _, err := objects.Create(s.ctx, want, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
				t.Errorf("%s %s: %v", version, resource, err)
				continue
			}
			s.eventually(resource+" rest", func() (bool, error) {
				mine, err := objects.Get(s.ctx, want.GetName(), metav1.GetOptions{})
				if err != nil {
					return false, err
				}
				theirs, err := s.dynamicAs("").Resource(resourceOf(other, resource)).Namespace(s.ns).Get(s.ctx, want.GetName(), metav1.GetOptions{})
				if err != nil || theirs.GetResourceVersion() != mine.GetResourceVersion() {
					return false, err // somebody wrote in between
				}
				s.checkSame(mine, theirs, other)
				s.checkKept(want.Object["spec"], mine.Object["spec"], version+" "+resource+" spec")
				return true, nil
			})
		}
	}
}

// checkSame compares all but apiVersion, which is other in theirs.
func (s *space) checkSame(mine, theirs *unstructured.Unstructured, other string) {
	s.t.Helper()
	if got := theirs.GetAPIVersion(); got != "serving.knative.dev/"+other {
		s.t.Errorf("apiVersion %s, want %s", got, other)
	}
	theirs.SetAPIVersion(mine.GetAPIVersion())
	if diff := cmp.Diff(string(s.json(mine)), string(s.json(theirs))); diff != "" {
		s.t.Errorf("%s in %s (-%s +%s):\n%s", mine.GetKind(), other, mine.GetAPIVersion(), other, diff)
	}
}

// checkKept looks for all that was written in what is stored; defaults may be there besides.
func (s *space) checkKept(written, stored any, path string) {
	s.t.Helper()
	switch written := written.(type) {
	case map[string]any:
		fields, _ := stored.(map[string]any)
		for key, value := range written {
			s.checkKept(value, fields[key], path+"."+key)
		}
	case []any:
		items, _ := stored.([]any)
		if len(items) != len(written) {
			s.t.Errorf("%s has %d items, want %d", path, len(items), len(written))
			return
		}
		for i := range written {
			s.checkKept(written[i], items[i], path+"[]")
		}
	default:
		if fmt.Sprint(written) != fmt.Sprint(stored) { // numbers in YAML are of another type
			s.t.Errorf("%s is %v, written as %v", path, stored, written)
		}
	}
}
