// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/ptr"
)

// longest is how long a DNS label may be, and with it most names and every value of a label.
const longest = 63

// Names of every length work end to end, in a namespace that has the longest name itself: what is derived from them is shortened by
// a hash where a suffix does not fit. The lengths are those where one more character changes a derived name: the Deployment's
// from 47 on, the Revision's from 58 on.
func TestNamesOfEveryLength(t *testing.T) {
	s := newSpaceNamed(t, "n"+strings.Repeat("s", longest-1))
	var names []string
	for _, length := range []int{1, 46, 47, 57, 58, longest} {
		names = append(names, s.createService(hello(strings.Repeat("a", length))))
	}
	generated := hello("")
	generated.GenerateName = "g" + strings.Repeat("e", longest-1)
	names = append(names, s.createService(generated))
	for _, name := range names {
		svc := s.ready(name)
		if want := kmeta.ChildName(name, "-00001"); svc.Status.LatestReadyRevisionName != want {
			t.Errorf("Revision of %s is called %s, want %s", name, svc.Status.LatestReadyRevisionName, want)
		}
		s.getOK(svc.Status.URL.String())
	}
}

// A tag and a name make a host together: one of 63 characters works, a longer one is refused with the host and the limit. So is all
// else that is too long.
func TestNamesThatAreTooLong(t *testing.T) {
	s := newSpace(t)
	tagged := func(name, tag string) *servingv1.Service {
		svc := hello(name)
		svc.Spec.Traffic = []servingv1.TrafficTarget{{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100), Tag: tag}}
		return svc
	}
	named := func(name, revision string) *servingv1.Service {
		svc := hello(name)
		svc.Spec.Template.Name = revision
		return svc
	}
	half := strings.Repeat("b", 31)
	generated := hello("")
	generated.GenerateName = strings.Repeat("g", longest+1)
	refused := map[string]struct {
		service *servingv1.Service
		want    []string
	}{
		"name":          {hello(strings.Repeat("a", longest+1)), []string{"metadata.name", "no more than 63"}},
		"name's prefix": {generated, []string{"metadata.generateName", "no more than 63"}},
		"tag":           {tagged("app", strings.Repeat("t", longest+1)), []string{"spec.traffic[0].tag", "no more than 63"}},
		"tag and name":  {tagged(half, half+"b"), []string{half + "b-" + half, "which has 64 characters", "no more than 63", "spec.traffic[0].tag"}},
		"revision name": {named("app", "app-"+strings.Repeat("r", 60)), []string{"spec.template.metadata.name", "no more than 63"}},
	}
	for what, r := range refused {
		_, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, r.service, metav1.CreateOptions{})
		if err == nil {
			t.Errorf("a %s that is too long is accepted", what)
			continue
		}
		for _, want := range r.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", what, err, want)
			}
		}
	}
	svc := s.deploy(tagged(half, half))
	s.getOK(svc.Status.Traffic[0].URL.String())
	long := "app-" + strings.Repeat("r", longest-len("app-"))
	svc = s.deploy(named("app", long))
	s.getOK(svc.Status.URL.String())
	if svc.Status.LatestReadyRevisionName != long {
		t.Errorf("Revision %s, want %s", svc.Status.LatestReadyRevisionName, long)
	}
}

// "generateName": the API server makes a name for every kind; of a long prefix it takes what leaves room for five characters.
// Routes and Configurations that are made so carry requests.
func TestGeneratedNames(t *testing.T) {
	s := newSpace(t)
	for _, prefix := range []string{"short-", "l" + strings.Repeat("o", longest-4) + "ng-"} {
		made := map[string]string{}
		for resource := range fourKinds {
			o := s.object("v1", resource, "{generateName: "+prefix+"}", leastSpecs[resource])
			got, err := s.dynamicAs("").Resource(resourceOf("v1", resource)).Namespace(s.ns).Create(s.ctx, o, metav1.CreateOptions{})
			if err != nil {
				t.Fatalf("%s of prefix %s: %v", resource, prefix, err)
			}
			if made[resource] = got.GetName(); len(got.GetName()) > longest || !strings.HasPrefix(got.GetName(), prefix[:min(len(prefix), longest-5)]) {
				t.Errorf("%s is called %q, want it to begin with %q", resource, got.GetName(), prefix)
			}
		}
		s.lead(made["routes"], made["configurations"])
	}
}

// lead sends a Route's requests to a Configuration, and one to see.
func (s *space) lead(route, configuration string) {
	s.t.Helper()
	routes := s.Serving.ServingV1().Routes(s.ns)
	s.eventually("the Route leads to the Configuration", func() (bool, error) {
		r := s.route(route)
		r.Spec.Traffic[0].ConfigurationName = configuration
		_, err := routes.Update(s.ctx, r, metav1.UpdateOptions{})
		return err == nil, err
	})
	s.eventually("the Route is ready", func() (bool, error) { return s.route(route).IsReady(), nil })
	s.getOK(s.route(route).Status.URL.String())
}

// newSpaceNamed is newSpace with a name of one's own, which is free again once the test ends.
func newSpaceNamed(t *testing.T, name string) *space {
	t.Helper()
	s := newSpace(t)
	namespaces := s.Kube.CoreV1().Namespaces()
	if _, err := namespaces.Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	s.ns = name
	return s
}
