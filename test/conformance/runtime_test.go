// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

// change is one thing in which a Service differs.
type change func(*servingv1.Service)

// container changes the serving container.
func container(with func(*corev1.Container)) change {
	return func(svc *servingv1.Service) { with(&svc.Spec.Template.Spec.Containers[0]) }
}

// variable sets a variable of the serving container.
func variable(name, value string) change {
	return container(func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value}) })
}

// annotation sets one of the template's annotations.
func annotation(key, value string) change {
	return func(svc *servingv1.Service) {
		metav1.SetMetaDataAnnotation(&svc.Spec.Template.ObjectMeta, key, value)
	}
}

// oneAtLeast keeps an instance where there are no requests.
func oneAtLeast() change { return annotation("autoscaling.knative.dev/min-scale", "1") }

// asUser runs the serving container as a user.
func asUser(uid int64) change {
	return container(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{RunAsUser: &uid} })
}

// probe is a Service of the program that tells what it sees.
func probe(name string, changes ...change) *servingv1.Service {
	svc := &servingv1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svc.Spec.Template.Spec.Containers = []corev1.Container{{Image: probeImage}}
	for _, c := range changes {
		c(svc)
	}
	return svc
}

// run deploys the program under the name app and gives the Service's URL.
func (s *space) run(changes ...change) string {
	s.t.Helper()
	return s.deploy(probe("app", changes...)).Status.URL.String()
}

// parallelSpace is for tests that wait more than they work.
func parallelSpace(t *testing.T) *space {
	t.Parallel()
	return newSpace(t)
}

// told is what the program tells of itself and of files, see test/apps/probe.
type told struct {
	UID, GID, PID        int
	Groups               []int
	Args                 []string
	Cwd, Stdin, Hostname string
	Stat, Read           map[string]file
	List, Open           map[string]file
}

type file struct {
	// Mode is as ls prints it, Link where a link leads, Target the mode of what is there.
	Mode, Link, Target string
	UID, GID           int
	Text               string
	Names              []string
	Error, Errno       string
}

// inspect asks the program of a Service.
func (s *space) inspect(address string, query url.Values) told {
	s.t.Helper()
	var t told
	s.getJSON(address+"/inspect?"+query.Encode(), &t)
	return t
}

// seen is what the program tells of its environment and of the request.
type seen struct {
	Env         map[string]string
	Headers     http.Header
	Proto, Host string
}

func (s *space) info(address string) seen {
	s.t.Helper()
	var i seen
	s.getJSON(address+"/info", &i)
	return i
}

func (s *space) getJSON(address string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.getOK(address)), into); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) getOK(address string) string {
	s.t.Helper()
	a := s.get(address)
	if a.Status != http.StatusOK {
		s.t.Fatalf("GET %s: status %d: %s", address, a.Status, a.Body)
	}
	return a.Body
}

func (s *space) get(address string) harness.Answer {
	s.t.Helper()
	a, err := s.Get(s.ctx, address)
	if err != nil {
		s.t.Fatalf("GET %s: %v", address, err)
	}
	return a
}

// pods are those of the namespace.
func (s *space) pods() []corev1.Pod {
	s.t.Helper()
	list, err := s.Kube.CoreV1().Pods(s.ns).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// onlyPod is the one that a Service of one instance has.
func (s *space) onlyPod() corev1.Pod {
	s.t.Helper()
	pods := s.pods()
	if len(pods) != 1 {
		s.t.Fatalf("there are %d pods, want one", len(pods))
	}
	return pods[0]
}
