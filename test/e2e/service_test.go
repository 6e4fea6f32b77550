// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

// limit is a hang detector for one test.
const limit = 2 * time.Minute

// world is one test's namespace.
type world struct {
	*harness.System
	t   *testing.T
	ctx context.Context
	ns  string
}

// newWorld makes a namespace that goes when the test ends.
func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	w := newWorldIn(ctx, t, suite.System)
	t.Cleanup(func() {
		err := suite.System.Kube.CoreV1().Namespaces().Delete(context.Background(), w.ns, metav1.DeleteOptions{})
		if err != nil {
			t.Error(err)
		}
	})
	return w
}

// newWorldIn makes a namespace in a system that ends with the test.
func newWorldIn(ctx context.Context, t *testing.T, s *harness.System) *world {
	t.Helper()
	ns, err := s.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{System: s, t: t, ctx: ctx, ns: ns.Name}
}

// probeService is a Service of the test application that goes to zero soon after the last request.
func probeService(name string, change ...func(*servingv1.Service)) *servingv1.Service {
	svc := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svc.Spec.Template.Annotations = map[string]string{"autoscaling.knative.dev/window": "6s"}
	svc.Spec.Template.Spec.Containers = []corev1.Container{{Image: probeImage}}
	for _, c := range change {
		c(svc)
	}
	return svc
}

func env(name, value string) func(*servingv1.Service) {
	return func(svc *servingv1.Service) {
		c := &svc.Spec.Template.Spec.Containers[0]
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
}

func annotate(key, value string) func(*servingv1.Service) {
	return func(svc *servingv1.Service) { svc.Spec.Template.Annotations[key] = value }
}

func (w *world) create(svc *servingv1.Service) *servingv1.Service {
	w.t.Helper()
	created, err := w.Serving.ServingV1().Services(w.ns).Create(w.ctx, svc, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

func (w *world) deploy(svc *servingv1.Service) *servingv1.Service {
	w.t.Helper()
	w.create(svc)
	return w.ready(svc.Name)
}

func (w *world) ready(name string) *servingv1.Service {
	w.t.Helper()
	svc, err := w.WaitService(w.ctx, w.ns, name)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.describe())
	}
	return svc
}

// update changes a Service, again if somebody else was faster, and waits for Ready.
func (w *world) update(name string, change ...func(*servingv1.Service)) *servingv1.Service {
	w.t.Helper()
	client := w.Serving.ServingV1().Services(w.ns)
	err := harness.Eventually(w.ctx, "update "+name, func(ctx context.Context) (bool, error) {
		svc, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range change {
			c(svc)
		}
		_, err = client.Update(ctx, svc, metav1.UpdateOptions{})
		return err == nil, err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.ready(name)
}

func (w *world) get(url string) harness.Answer {
	w.t.Helper()
	a, err := w.Get(w.ctx, url)
	if err != nil {
		w.t.Fatalf("GET %s: %v", url, err)
	}
	return a
}

func (w *world) getOK(url string) harness.Answer {
	w.t.Helper()
	a := w.get(url)
	if a.Status != http.StatusOK {
		w.t.Fatalf("GET %s: status %d: %s\n%s", url, a.Status, a.Body, w.describe())
	}
	return a
}

func (w *world) pods() []corev1.Pod {
	w.t.Helper()
	pods, err := w.Kube.CoreV1().Pods(w.ns).List(w.ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pods.Items
}

func (w *world) eventually(what string, done func() (bool, error)) {
	w.t.Helper()
	err := harness.Eventually(w.ctx, what, func(context.Context) (bool, error) { return done() })
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.describe())
	}
}

func (w *world) waitZero() {
	w.t.Helper()
	w.eventually("scale to zero", func() (bool, error) { return len(w.pods()) == 0, nil })
}

// describe lists conditions and pods for an error message.
func (w *world) describe() string {
	var b strings.Builder
	svcs, err := w.Serving.ServingV1().Services(w.ns).List(context.Background(), metav1.ListOptions{})
	if err == nil {
		for _, s := range svcs.Items {
			fmt.Fprintf(&b, "service %s: %s\n", s.Name, harness.Conditions(&s))
		}
	}
	pods, err := w.Kube.CoreV1().Pods(w.ns).List(context.Background(), metav1.ListOptions{})
	if err == nil {
		for _, p := range pods.Items {
			fmt.Fprintf(&b, "pod %s: %s %+v\n", p.Name, p.Status.Phase, p.Status.ContainerStatuses)
		}
	}
	return b.String()
}
