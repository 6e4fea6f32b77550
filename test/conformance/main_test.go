// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package conformance has a test for each rule of the Knative Serving API specification and of its runtime contract that a client
// can see. Tests are named after the section, and cite the rule; those of the runtime contract begin with TestRuntime.
package conformance

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

// The images of the programs that the tests deploy: image of one that greets, probeImage of one that tells what it sees.
const (
	image      = "weir.local/hello"
	probeImage = "weir.local/probe"
)

// suite is set up once by TestMain.
var suite = harness.Suite{
	Images: map[string]string{image: "../../examples/hello", probeImage: "../apps/probe"},
	// Instances without requests go when their window ends, not half a minute later.
	SetUp: func(ctx context.Context, s *harness.System) error {
		return s.SetConfig(ctx, "config-autoscaler", map[string]string{"scale-to-zero-grace-period": "1s"})
	},
}

func TestMain(m *testing.M) {
	suite.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(suite.Main(m))
}

// limit is a hang detector for one test.
const limit = 2 * time.Minute

// space is one test's namespace.
type space struct {
	*harness.System
	t   *testing.T
	ctx context.Context
	ns  string
}

func newSpace(t *testing.T) *space {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	namespaces := suite.System.Kube.CoreV1().Namespaces()
	ns, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), ns.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return &space{System: suite.System, t: t, ctx: ctx, ns: ns.Name}
}

func hello(name string) *servingv1.Service {
	svc := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svc.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
	return svc
}

// deploy creates a Service and waits for Ready.
func (s *space) deploy(svc *servingv1.Service) *servingv1.Service {
	s.t.Helper()
	return s.ready(s.createService(svc))
}

// createService gives the name that the API server knows the Service by.
func (s *space) createService(svc *servingv1.Service) string {
	s.t.Helper()
	created, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, svc, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return created.Name
}

func (s *space) ready(name string) *servingv1.Service {
	s.t.Helper()
	svc, err := s.WaitService(s.ctx, s.ns, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return svc
}

// update changes a Service, again where somebody else was faster.
func (s *space) update(name string, change func(*servingv1.Service)) {
	s.t.Helper()
	services := s.Serving.ServingV1().Services(s.ns)
	s.eventually("update "+name, func() (bool, error) {
		svc, err := services.Get(s.ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		change(svc)
		_, err = services.Update(s.ctx, svc, metav1.UpdateOptions{})
		return err == nil, err
	})
}

func (s *space) eventually(what string, done func() (bool, error)) {
	s.t.Helper()
	if err := harness.Eventually(s.ctx, what, func(context.Context) (bool, error) { return done() }); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) configuration(name string) *servingv1.Configuration {
	s.t.Helper()
	c, err := s.Serving.ServingV1().Configurations(s.ns).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *space) route(name string) *servingv1.Route {
	s.t.Helper()
	r, err := s.Serving.ServingV1().Routes(s.ns).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *space) revision(name string) *servingv1.Revision {
	s.t.Helper()
	r, err := s.Serving.ServingV1().Revisions(s.ns).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}
