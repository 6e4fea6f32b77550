// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// GET, LIST and watch of the tables under "Resource Overview": what is created appears in both versions, and is selected by label
// and by field.
func TestGetAndList(t *testing.T) {
	s := newSpace(t)
	svc := hello("app")
	svc.Labels = map[string]string{"team": "one"}
	revision := s.deploy(svc).Status.LatestReadyRevisionName
	other := hello("other")
	other.Spec.Template.Annotations = map[string]string{"autoscaling.knative.dev/initial-scale": "1"}
	otherRevision := s.deploy(other).Status.LatestReadyRevisionName
	for resource := range fourKinds {
		one, two, label := "app", "other", "team=one"
		if resource == "revisions" {
			one, two, label = revision, otherRevision, "serving.knative.dev/service=app"
		}
		for _, version := range bothVersions {
			objects := s.dynamicAs("").Resource(resourceOf(version, resource)).Namespace(s.ns)
			got, err := objects.Get(s.ctx, one, metav1.GetOptions{})
			if err != nil || got.GetName() != one || got.GetAPIVersion() != "serving.knative.dev/"+version {
				t.Errorf("get %s %s: %v %v", version, one, got, err)
			}
			s.checkListed(objects, metav1.ListOptions{}, one, two)
			s.checkListed(objects, metav1.ListOptions{LabelSelector: label}, one)
			s.checkListed(objects, metav1.ListOptions{LabelSelector: "no=such"})
			s.checkListed(objects, metav1.ListOptions{FieldSelector: "metadata.name=" + two}, two)
			s.checkListed(objects, metav1.ListOptions{FieldSelector: "metadata.namespace=" + s.ns}, one, two)
			s.checkListed(objects, metav1.ListOptions{FieldSelector: "metadata.namespace=elsewhere"})
			if _, err := objects.List(s.ctx, metav1.ListOptions{FieldSelector: "spec.x=y"}); err == nil {
				t.Errorf("list %s %s by a field that cannot be selected by succeeds", version, resource)
			}
		}
	}
}

func (s *space) checkListed(objects dynamic.ResourceInterface, by metav1.ListOptions, want ...string) {
	s.t.Helper()
	list, err := objects.List(s.ctx, by)
	if err != nil {
		s.t.Errorf("list by %q %q: %v", by.LabelSelector, by.FieldSelector, err)
		return
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		s.t.Errorf("list by label %q, field %q: %v, want %v", by.LabelSelector, by.FieldSelector, names, want)
	}
}

// A watch from a resourceVersion tells all that happened since, and of what is selected only.
func TestWatch(t *testing.T) {
	s := newSpace(t)
	for _, version := range bothVersions {
		objects := s.dynamicAs("").Resource(resourceOf(version, "routes")).Namespace(s.ns)
		list, err := objects.List(s.ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two"} {
			route := s.object(version, "routes", "{name: "+name+", labels: {is: "+name+"}}", leastSpecs["routes"])
			if _, err := objects.Create(s.ctx, route, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := objects.Delete(s.ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, by := range []metav1.ListOptions{{FieldSelector: "metadata.name=two"}, {LabelSelector: "is=two"}} {
			by.ResourceVersion = list.GetResourceVersion()
			w, err := objects.Watch(s.ctx, by)
			if err != nil {
				t.Fatal(err)
			}
			s.checkLife(w, version, "two")
			w.Stop()
		}
	}
}

// checkLife reads from creation to deletion of one object.
func (s *space) checkLife(w watch.Interface, version, name string) {
	s.t.Helper()
	var seen []watch.EventType
	for event := range w.ResultChan() {
		o, ok := event.Object.(*unstructured.Unstructured)
		if !ok || o.GetName() != name || !strings.HasSuffix(o.GetAPIVersion(), "/"+version) {
			s.t.Fatalf("event %s of %v, want %s in %s", event.Type, event.Object, name, version)
		}
		if seen = append(seen, event.Type); event.Type == watch.Deleted {
			break
		}
	}
	if len(seen) < 2 || seen[0] != watch.Added {
		s.t.Errorf("events %v, want from ADDED to DELETED", seen)
	}
}
