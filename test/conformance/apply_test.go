// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// "Both declarative (aka GitOps) and imperative management of resources should be usable": what is applied from the server's side
// again changes nothing, whatever defaults and controllers have added since.
func TestServerSideApply(t *testing.T) {
	s := newSpace(t)
	const labelled = "{name: app, labels: {team: one}, annotations: {example.com/note: one}}"
	const spec = "{template: {spec: {containers: [{image: weir.local/hello, env: [{name: TARGET, value: one}]}]}}}"
	s.apply("one", labelled, spec)
	before := s.ready("app")
	again := s.apply("one", labelled, spec)
	if again.GetResourceVersion() != before.ResourceVersion {
		t.Errorf("applying again wrote: resourceVersion %s, then %s", before.ResourceVersion, again.GetResourceVersion())
	}

	// Another manager adds what is its own, and keeps it whatever the first one and the controllers do.
	s.apply("two", "{name: app, labels: {more: two}}", "{}")
	s.apply("one", labelled, spec)
	s.eventually("the label reaches the children", func() (bool, error) {
		return s.configuration("app").Labels["more"] == "two" && s.route("app").Labels["more"] == "two", nil
	})
	svc := s.ready("app")
	if svc.Generation != before.Generation || svc.Labels["more"] != "two" || svc.Labels["team"] != "one" ||
		svc.Status.LatestCreatedRevisionName != before.Status.LatestCreatedRevisionName {
		t.Errorf("after a label of another manager: %+v", svc)
	}
	s.checkManagers("app", "one Apply", "two Apply")

	// What somebody else has applied is not taken without force.
	other := strings.Replace(spec, "value: one", "value: two", 1)
	_, err := s.tryApply("two", "{name: app}", other, false)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one"`) || !strings.Contains(err.Error(), ".spec.template.spec.containers") {
		t.Errorf("applying what another manager owns: %v, want a conflict with its name and the field's", err)
	}
	// What the first one no longer says goes, from the children too.
	s.apply("one", "{name: app, annotations: {example.com/note: one}}", spec)
	s.eventually("the label is gone", func() (bool, error) {
		return s.configuration("app").Labels["team"] == "" && s.route("app").Labels["team"] == "" && s.ready("app").Labels["team"] == "", nil
	})
	if _, err := s.tryApply("two", "{name: app, labels: {more: two}}", other, true); err != nil {
		t.Errorf("with force: %v", err)
	}
	if got := s.ready("app"); got.Generation != before.Generation+1 || got.Status.LatestReadyRevisionName == before.Status.LatestReadyRevisionName {
		t.Errorf("with force: generation %d, Revision %s", got.Generation, got.Status.LatestReadyRevisionName)
	}
}

// Two managers may apply the same whole object, as tools do that read it first; they own it together.
func TestApplyOfTheSameByTwo(t *testing.T) {
	s := newSpace(t)
	s.deploy(hello("app"))
	for _, version := range bothVersions {
		whole, err := s.applied(version).Get(s.ctx, "app", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		unstructured.RemoveNestedField(whole.Object, "status")
		whole.SetManagedFields(nil)
		for _, manager := range []string{"one", "two"} {
			got, err := s.applied(version).Apply(s.ctx, "app", whole, metav1.ApplyOptions{FieldManager: manager + version})
			if err != nil {
				t.Fatal(err)
			}
			if got.GetGeneration() != whole.GetGeneration() {
				t.Errorf("%s by %s: generation %d, then %d", version, manager, whole.GetGeneration(), got.GetGeneration())
			}
			whole.SetResourceVersion("")
		}
	}
}

// applied are Services, of a client that can apply.
func (s *space) applied(version string) dynamic.ResourceInterface {
	return s.dynamicAs("").Resource(resourceOf(version, "services")).Namespace(s.ns)
}

func (s *space) apply(manager, metadata, spec string) *unstructured.Unstructured {
	s.t.Helper()
	got, err := s.tryApply(manager, metadata, spec, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// tryApply applies a Service from the server's side; an empty spec says nothing of it.
func (s *space) tryApply(manager, metadata, spec string, force bool) (*unstructured.Unstructured, error) {
	s.t.Helper()
	o := s.object("v1", "services", metadata, spec)
	if spec == "{}" {
		unstructured.RemoveNestedField(o.Object, "spec")
	}
	return s.applied("v1").Apply(s.ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: force})
}

// checkManagers checks who owns fields of a Service beside its status: nobody but these.
func (s *space) checkManagers(name string, want ...string) {
	s.t.Helper()
	o, err := s.applied("v1").Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, m := range o.GetManagedFields() {
		if m.Subresource == "" {
			got = append(got, fmt.Sprintf("%s %s", m.Manager, m.Operation))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("fields of %s are managed by %v, want %v:\n%+v", name, got, want, o.GetManagedFields())
	}
}
