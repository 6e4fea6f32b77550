// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	servingv1 "weir.dev/api/serving/v1"
)

// ownName is the spec of a Service or Configuration called app that chooses its Revision's name.
func ownName(name, target string) string {
	return fmt.Sprintf("{template: {metadata: {name: app-%s}, spec: {containers: [{image: weir.local/hello, env: [{name: TARGET, value: %s}]}]}}}", name, target)
}

// A name of one's own stands for one template: the same manifest may be written again, by any way, and another one is refused with
// the field that differs.
func TestOwnRevisionNamesStay(t *testing.T) {
	for _, resource := range []string{"services", "configurations"} {
		s := newSpace(t)
		if _, err := s.replace(resource, ownName("one", "one")); err != nil {
			t.Fatal(err)
		}
		if o, err := s.replace(resource, ownName("one", "one")); err != nil || o.GetGeneration() != 1 {
			t.Errorf("%s: the same manifest again: %v\n%v", resource, err, o)
		}
		_, err := s.replace(resource, ownName("one", "two"))
		for _, want := range []string{
			"Saw the following changes without a name change (-old +new): spec.template.metadata.name", "Spec.PodSpec.Containers[0].Env[0].Value", `"one"`, `"two"`,
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: another template of the same name: %v, want %q in it", resource, err, want)
			}
		}
		if _, err := s.replace(resource, ownName("one", "one}, {name: MORE, value: x")); err == nil || !strings.Contains(err.Error(), "Env") {
			t.Errorf("%s: one more variable under the same name: %v", resource, err)
		}
		if o, err := s.replace(resource, ownName("two", "two")); err != nil || o.GetGeneration() != 2 {
			t.Errorf("%s: another template with another name: %v\n%v", resource, err, o)
		}
	}
}

// Going back to the name of a Revision of one's own with the spec that it has makes no new one, and requests go to it again; with
// another spec the name is taken.
func TestRollbackToAnOwnRevision(t *testing.T) {
	s := newSpace(t)
	for _, name := range []string{"one", "two", "one"} {
		if _, err := s.replace("services", ownName(name, name)); err != nil {
			t.Fatal(err)
		}
		svc, err := s.AwaitService(s.ctx, s.ns, "app", "Ready with the Revision", func(svc *servingv1.Service) bool {
			return svc.IsReady() && svc.Status.LatestReadyRevisionName == "app-"+name
		})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := s.Get(s.ctx, svc.Status.URL.String()); err != nil || !strings.Contains(a.Body, "Hello "+name+" from app-"+name) {
			t.Errorf("after %s: %v %s", name, err, a.Body)
		}
	}
	list, err := s.Serving.ServingV1().Revisions(s.ns).List(s.ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d Revisions, want two: %v", len(list.Items), err)
	}
	if _, err := s.replace("services", ownName("two", "other")); err != nil {
		t.Fatal(err)
	}
	_, err = s.AwaitService(s.ctx, s.ns, "app", "RevisionNameTaken", func(svc *servingv1.Service) bool {
		c := svc.Status.GetCondition(servingv1.ServiceConditionRoutesReady)
		return c.IsFalse() && c.Reason == "RevisionNameTaken" && strings.Contains(c.Message, `"app-two"`)
	})
	if err != nil {
		t.Error(err)
	}
}

// replace writes app as kn does with --force: the manifest as it is, without what the cluster has added but for who made it.
func (s *space) replace(resource, spec string) (*unstructured.Unstructured, error) {
	s.t.Helper()
	objects := s.dynamicAs("").Resource(resourceOf("v1", resource)).Namespace(s.ns)
	want := s.object("v1", resource, "{name: app}", spec)
	var out *unstructured.Unstructured
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have, err := objects.Get(s.ctx, "app", metav1.GetOptions{})
		if err != nil {
			out, err = objects.Create(s.ctx, want, metav1.CreateOptions{})
			return err
		}
		want.SetResourceVersion(have.GetResourceVersion())
		want.SetAnnotations(have.GetAnnotations())
		out, err = objects.Update(s.ctx, want, metav1.UpdateOptions{})
		return err
	})
	return out, err
}
