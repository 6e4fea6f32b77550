// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// "Route and Configuration may be directly created without creating an owning Service": the Route moves with the Configuration's
// template; metadata of the Configuration makes no Revision and reaches none.
func TestRouteAndConfigurationByHand(t *testing.T) {
	s := newSpace(t)
	serving := s.Serving.ServingV1()
	config := &servingv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "own"}, Spec: hello("").Spec.ConfigurationSpec}
	route := &servingv1.Route{ObjectMeta: metav1.ObjectMeta{Name: "lead"}}
	route.Spec.Traffic = []servingv1.TrafficTarget{{ConfigurationName: "own", Percent: ptr.Int64(100)}}
	if _, err := serving.Configurations(s.ns).Create(s.ctx, config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := serving.Routes(s.ns).Create(s.ctx, route, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the Route leads to the first Revision", func() (bool, error) { return s.leadsTo("lead", "own-00001"), nil })
	s.patchConfiguration(`{"metadata":{"labels":{"on":"configuration"},"annotations":{"example.com/on":"configuration"}}}`)
	s.patchConfiguration(`{"spec":{"template":{"spec":{"timeoutSeconds":7}}}}`)
	s.eventually("the Route leads to the second Revision", func() (bool, error) { return s.leadsTo("lead", "own-00002"), nil })
	s.getOK(s.route("lead").Status.URL.String())
	for _, name := range []string{"own-00001", "own-00002"} {
		rev := s.revision(name)
		if rev.Labels["on"] != "" || rev.Annotations["example.com/on"] != "" {
			t.Errorf("%s has metadata of the Configuration: %v %v", name, rev.Labels, rev.Annotations)
		}
	}
	if got := s.revision("own-00002").Annotations["serving.knative.dev/routes"]; got != "lead" {
		t.Errorf("the Revision says that it is routed to by %q", got)
	}
}

func (s *space) leadsTo(route, revision string) bool {
	r := s.route(route)
	return r.IsReady() && len(r.Status.Traffic) == 1 && r.Status.Traffic[0].RevisionName == revision &&
		r.Status.Traffic[0].LatestRevision != nil && *r.Status.Traffic[0].LatestRevision
}

func (s *space) patchConfiguration(patch string) {
	s.t.Helper()
	_, err := s.Serving.ServingV1().Configurations(s.ns).Patch(s.ctx, "own", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Each change of a template, of its spec or of its metadata, makes the next Revision, which traffic follows; who made and who changed
// a Service is on what it owns.
func TestEachChangeMakesTheNextRevision(t *testing.T) {
	s := newSpace(t)
	s.deploy(hello("app"))
	changes := []func(*servingv1.RevisionTemplateSpec){
		func(t *servingv1.RevisionTemplateSpec) { t.Spec.Containers[0].Image = image + ":latest" },
		func(t *servingv1.RevisionTemplateSpec) { t.Labels = map[string]string{"a": "b"} },
		func(t *servingv1.RevisionTemplateSpec) { t.Annotations = map[string]string{"example.com/a": "b"} },
	}
	for i, change := range changes {
		s.update("app", func(svc *servingv1.Service) { change(&svc.Spec.Template) })
		svc := s.ready("app")
		want := fmt.Sprintf("app-%05d", i+2)
		if svc.Status.LatestReadyRevisionName != want || len(svc.Status.Traffic) != 1 || svc.Status.Traffic[0].RevisionName != want {
			t.Fatalf("after change %d: %+v", i+1, svc.Status)
		}
		if got := s.revision(want).Labels["serving.knative.dev/configurationGeneration"]; got != fmt.Sprint(i+2) {
			t.Errorf("%s is of generation %s", want, got)
		}
	}
	for _, o := range []metav1.Object{s.ready("app"), s.configuration("app"), s.route("app")} {
		for _, key := range []string{"creator", "lastModifier"} {
			if got := o.GetAnnotations()["serving.knative.dev/"+key]; got != "weir:admin" {
				t.Errorf("%s of %T is %q", key, o, got)
			}
		}
	}
}

// Labels and annotations of a Service that come and go do so on what it owns, and on the name inside the cluster; never on its
// Revisions.
func TestMetadataComesAndGoes(t *testing.T) {
	s := newSpace(t)
	revision := s.deploy(hello("app")).Status.LatestReadyRevisionName
	carries := func() []bool {
		inside, err := s.Kube.CoreV1().Services(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out []bool
		for _, o := range []metav1.Object{s.configuration("app"), s.route("app"), inside} {
			out = append(out, o.GetLabels()["come"] == "go", o.GetAnnotations()["example.com/come"] == "go")
		}
		return out
	}
	s.update("app", func(svc *servingv1.Service) {
		svc.Labels = map[string]string{"come": "go"}
		svc.Annotations["example.com/come"] = "go"
	})
	s.eventually("all carry it", func() (bool, error) { return fmt.Sprint(carries()) == "[true true true true true true]", nil })
	s.update("app", func(svc *servingv1.Service) {
		svc.Labels = nil
		delete(svc.Annotations, "example.com/come")
	})
	s.eventually("none carries it", func() (bool, error) { return fmt.Sprint(carries()) == "[false false false false false false]", nil })
	if rev := s.revision(revision); rev.Labels["come"] != "" || rev.Annotations["example.com/come"] != "" || s.ready("app").Status.LatestCreatedRevisionName != revision {
		t.Errorf("it reached the Revision, or made one: %v", rev.ObjectMeta)
	}
}

// A release in steps: pinned to the first Revision, the next one under a tag only, both by half, and a third under the tag only
// while the split stays.
func TestReleaseInSteps(t *testing.T) {
	s := newSpace(t)
	target := func(value string) corev1.EnvVar { return corev1.EnvVar{Name: "TARGET", Value: value} }
	pinned := func(tag, revision string, percent int64) servingv1.TrafficTarget {
		return servingv1.TrafficTarget{Tag: tag, RevisionName: revision, Percent: ptr.Int64(percent)}
	}
	latest := func(percent int64) servingv1.TrafficTarget {
		return servingv1.TrafficTarget{Tag: "latest", LatestRevision: ptr.Bool(true), Percent: ptr.Int64(percent)}
	}
	svc := hello("app")
	svc.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{target("1")}
	s.deploy(svc)
	steps := []struct {
		target  string
		traffic []servingv1.TrafficTarget
		want    string // tag=revision%
	}{
		{"1", []servingv1.TrafficTarget{pinned("current", "app-00001", 100), latest(0)}, "current=1:100 latest=1:0"},
		{"2", []servingv1.TrafficTarget{pinned("current", "app-00001", 100), latest(0)}, "current=1:100 latest=2:0"},
		{"2", []servingv1.TrafficTarget{pinned("current", "app-00001", 50), pinned("candidate", "app-00002", 50), latest(0)}, "current=1:50 candidate=2:50 latest=2:0"},
		{"3", []servingv1.TrafficTarget{pinned("current", "app-00001", 50), pinned("candidate", "app-00002", 50), latest(0)}, "current=1:50 candidate=2:50 latest=3:0"},
		{"3", []servingv1.TrafficTarget{pinned("current", "app-00001", 50), latest(50)}, "current=1:50 latest=3:50"},
	}
	for _, step := range steps {
		s.update("app", func(svc *servingv1.Service) {
			svc.Spec.Template.Spec.Containers[0].Env[0] = target(step.target)
			svc.Spec.Traffic = step.traffic
		})
		s.checkSplit(s.ready("app"), step.want)
	}
}

// checkSplit compares the traffic of a Service and asks each tag.
func (s *space) checkSplit(svc *servingv1.Service, want string) {
	s.t.Helper()
	var got []string
	for _, tt := range svc.Status.Traffic {
		number := strings.TrimLeft(strings.TrimPrefix(tt.RevisionName, "app-"), "0")
		got = append(got, fmt.Sprintf("%s=%s:%d", tt.Tag, number, *tt.Percent))
		if host := tt.URL.Host; !strings.HasPrefix(host, tt.Tag+"-app.") {
			s.t.Errorf("the host of tag %s is %s", tt.Tag, host)
		}
		if a, err := s.Get(s.ctx, tt.URL.String()); err != nil || !strings.Contains(a.Body, "Hello "+number+" from "+tt.RevisionName) {
			s.t.Errorf("%s answers %v %q", tt.URL, err, a.Body)
		}
	}
	if strings.Join(got, " ") != want {
		s.t.Errorf("traffic %v, want %s", got, want)
	}
}
