// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	servingv1 "weir.dev/api/serving/v1"
)

// kubectl apply keeps the manifest in an annotation, and sends a merge patch of what changed in it. What others write stays, and
// the annotation stays on the Service.
func TestClientSideApply(t *testing.T) {
	s := newSpace(t)
	const spec = "{template: {spec: {timeoutSeconds: 60, containers: [{image: weir.local/hello, env: [{name: TARGET, value: one}]}]}}}"
	s.kubectlApply("{name: app, labels: {team: one, gone: soon}}", spec)
	before := s.ready("app")
	s.kubectlApply("{name: app, labels: {team: one, gone: soon}}", spec) // it sends the containers, as they lack the defaults
	if again := s.ready("app"); again.ResourceVersion != before.ResourceVersion {
		t.Errorf("applying again wrote: resourceVersion %s, then %s", before.ResourceVersion, again.ResourceVersion)
	}
	s.update("app", func(svc *servingv1.Service) { svc.Labels["theirs"] = "too" })
	s.kubectlApply("{name: app, labels: {team: two}}", spec)
	after := s.ready("app")
	if after.Generation != before.Generation || after.Status.LatestCreatedRevisionName != before.Status.LatestCreatedRevisionName {
		t.Errorf("labels made generation %d, Revision %s", after.Generation, after.Status.LatestCreatedRevisionName)
	}
	s.eventually("labels reach the children", func() (bool, error) {
		c := s.configuration("app").Labels
		return c["team"] == "two" && c["theirs"] == "too" && c["gone"] == "", nil
	})
	for _, child := range []metav1.Object{s.configuration("app"), s.route("app"), s.revision(after.Status.LatestReadyRevisionName)} {
		if text, ok := child.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; ok {
			t.Errorf("%T has the Service's manifest: %s", child, text)
		}
	}
	s.kubectlApply("{name: app, labels: {team: two}}", "{template: {spec: {containers: [{image: weir.local/hello, env: [{name: TARGET, value: two}]}]}}}")
	third := s.ready("app")
	if got := *third.Spec.Template.Spec.TimeoutSeconds; third.Generation != before.Generation+1 || got != 300 {
		t.Errorf("what the manifest no longer says: generation %d, timeoutSeconds %d, want the default", third.Generation, got)
	}
}

// kubectlApply applies a Service as kubectl does by default.
func (s *space) kubectlApply(metadata, spec string) {
	s.t.Helper()
	want := s.object("v1", "services", metadata, spec)
	manifest := s.json(want)
	want.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: string(manifest)})
	have, err := s.applied("v1").Get(s.ctx, want.GetName(), metav1.GetOptions{})
	if err != nil {
		if _, err := s.applied("v1").Create(s.ctx, want, metav1.CreateOptions{}); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	last := []byte(have.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, s.json(want), s.json(have))
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.applied("v1").Patch(s.ctx, want.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) json(o *unstructured.Unstructured) []byte {
	s.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// "Revisions can also be mutated by changes in Revision defaults. Changes to defaults that mutate Revisions are generally syntactic":
// other defaults of the cluster than before make no Revision of a Service whose labels change, and do not get in the way of a name
// that the user chose. They are for the next template that is written.
func TestOtherDefaultsMakeNoRevision(t *testing.T) {
	s := newSpace(t)
	const named = "{template: {metadata: {name: named-one}, spec: {containers: [{image: weir.local/hello}]}}}"
	s.deploy(hello("app"))
	s.kubectlApply("{name: named}", named)
	before := map[string]*servingv1.Service{"app": s.ready("app"), "named": s.ready("named")}
	s.setDefaults()

	s.kubectlApply("{name: named, labels: {a: b}}", named)
	s.update("app", func(svc *servingv1.Service) { svc.Labels = map[string]string{"a": "b"} })
	if _, err := s.tryApply("two", "{name: app, annotations: {example.com/e: f}}", "{}", false); err != nil {
		t.Error(err)
	}
	if _, err := s.Serving.ServingV1().Configurations(s.ns).Patch(s.ctx, "app", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"g":"h"}}}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	s.eventually("the labels are copied", func() (bool, error) {
		c := s.configuration("app").Labels
		return c["a"] == "b" && c["g"] == "", nil
	})
	for name, was := range before {
		svc, child := s.ready(name), s.configuration(name)
		if svc.Generation != was.Generation || child.Generation != 1 || svc.Status.LatestCreatedRevisionName != was.Status.LatestCreatedRevisionName {
			t.Errorf("%s: generation %d, of its Configuration %d, Revision %s", name, svc.Generation, child.Generation, svc.Status.LatestCreatedRevisionName)
		}
	}
	s.update("app", func(svc *servingv1.Service) { svc.Spec.Template.Labels = map[string]string{"new": "template"} })
	if got := s.ready("app").Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "20m" {
		t.Errorf("a new template has a request of %s, want the new default", got)
	}
}

// setDefaults changes the cluster's defaults until the test ends.
func (s *space) setDefaults() {
	s.t.Helper()
	other := map[string]string{"revision-cpu-request": "20m"}
	await := func(want string) {
		s.t.Helper()
		s.eventually("the default is "+want, func() (bool, error) {
			svc, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, hello("other"), metav1.CreateOptions{DryRun: dry})
			return err == nil && svc.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String() == want, err
		})
	}
	s.t.Cleanup(func() {
		if err := s.ResetConfig(s.ctx, "config-defaults", other); err != nil {
			s.t.Error(err)
		}
		await("0")
	})
	if err := s.SetConfig(s.ctx, "config-defaults", other); err != nil {
		s.t.Fatal(err)
	}
	await("20m")
}
