// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// "Conditions with a status of False SHOULD provide additional details": every Unknown says why, too, and ends in True or
// False by the progress deadline, whatever it waits for.
func TestEveryUnknownSaysWhyAndEnds(t *testing.T) {
	t.Parallel()
	absent := corev1.LocalObjectReference{Name: "absent"}
	cases := map[string]struct {
		reason string
		ready  bool
		change change
	}{
		"good":         {"comes up", true, func(*servingv1.Service) {}},
		"wrong port":   {"listens elsewhere than asked for", false, variable("LISTEN_PORT", "9999")},
		"slow":         {"listens long after the deadline", false, variable("START_DELAY", "1h")},
		"never ready":  {"a probe that the program refuses", false, readiness(each(httpGet("/sleep")))},
		"no ConfigMap": {"a volume that never comes", false, volumes(map[string]corev1.VolumeSource{"v": {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: absent}}})},
		"no Secret":    {"a volume that never comes", false, volumes(map[string]corev1.VolumeSource{"v": {Secret: &corev1.SecretVolumeSource{SecretName: "absent"}}})},
		"no image":     {"an image that nobody has", false, container(func(c *corev1.Container) { c.Image = "weir.local/absent" })},
		"no account":   {"a ServiceAccount that does not exist", false, func(svc *servingv1.Service) { svc.Spec.Template.Spec.ServiceAccountName = "absent" }},
		"too large":    {"no node has that much", false, container(func(c *corev1.Container) { c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("5k")} })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			unexplained := s.watchConditions()
			svc := probe("app", tc.change)
			if !tc.ready { // what works may take longer on a slow machine
				annotation("serving.knative.dev/progress-deadline", "3s")(svc)
			}
			s.createService(svc)
			svc, err := s.AwaitService(s.ctx, s.ns, "app", "decided", func(svc *servingv1.Service) bool { return !undecided(svc.Status.Status) })
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if svc.IsReady() != tc.ready {
				t.Errorf("%s: Ready is %v, want %v", tc.reason, svc.IsReady(), tc.ready)
			}
			if c := s.revision("app-00001").Status.GetCondition(servingv1.RevisionConditionReady); c.IsUnknown() {
				t.Errorf("the Service has ended, its Revision has not: %+v", c)
			}
			for _, u := range unexplained() {
				t.Error(u)
			}
		})
	}
}

// undecided says whether a condition that counts is neither True nor False.
func undecided(status duckv1.Status) bool {
	return len(status.Conditions) == 0 || slices.ContainsFunc(status.Conditions, func(c apis.Condition) bool {
		return c.IsUnknown() && c.Severity == apis.ConditionSeverityError
	})
}

// watchConditions watches all that has conditions. What it returns stops that and gives what was Unknown without a reason or
// False without a reason and a message.
func (s *space) watchConditions() (unexplained func() []string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	api := s.Serving.ServingV1()
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		found []string
	)
	for _, start := range []func(context.Context, metav1.ListOptions) (watch.Interface, error){
		api.Services(s.ns).Watch, api.Configurations(s.ns).Watch, api.Revisions(s.ns).Watch, api.Routes(s.ns).Watch,
	} {
		w, err := start(ctx, metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		all.Go(func() {
			for event := range w.ResultChan() {
				mu.Lock()
				found = append(found, unexplainedIn(event.Object)...)
				mu.Unlock()
			}
		})
	}
	return func() []string {
		cancel()
		all.Wait()
		return slices.Compact(slices.Sorted(slices.Values(found)))
	}
}

func unexplainedIn(obj runtime.Object) (found []string) {
	shaped, ok := obj.(duckv1.KRShaped)
	if !ok {
		return nil
	}
	for _, c := range shaped.GetStatus().Conditions {
		if (c.IsUnknown() && c.Reason == "") || (c.IsFalse() && (c.Reason == "" || c.Message == "")) {
			found = append(found, fmt.Sprintf("%T %s: condition %s is %s, %q: %q", obj, shaped.GetName(), c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return found
}

// Unschedulable is a failure at once, or, where nodes come when they are needed, a wait until the progress deadline.
func TestUnschedulable(t *testing.T) {
	s := newSpace(t)
	large := container(func(c *corev1.Container) { c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("5k")} })
	s.fails(probe("now", large), "Unschedulable", "cpu")

	schedulable := func(always string) {
		if err := s.SetConfig(s.ctx, "config-deployment", map[string]string{"pod-is-always-schedulable": always}); err != nil {
			t.Fatal(err)
		}
	}
	schedulable("true") // no parallel test runs meanwhile
	defer schedulable("false")
	svc := probe("later", large, annotation("serving.knative.dev/progress-deadline", "6s"))
	s.createService(svc)
	waits, fails := false, false
	_, err := s.AwaitService(s.ctx, s.ns, "later", "failed, after it waited", func(svc *servingv1.Service) bool {
		ready := svc.Status.GetCondition(servingv1.ServiceConditionReady)
		waits = waits || ready.IsUnknown() && strings.Contains(ready.GetMessage(), "cpu")
		fails = ready.IsFalse()
		return fails
	})
	if err != nil || !waits {
		t.Errorf("waited: %v, %v", waits, err)
	}
}

// A Revision that was never ready gives its instances up when there is a newer one: it does not stand in that one's way, and
// can be deleted.
func TestSupersededRevisionsMakeRoom(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.quota("1")
	s.fails(probe("app", variable("CRASH", "3")), "ExitCode3", "crashing with 3")
	s.update("app", func(svc *servingv1.Service) { svc.Spec.Template.Spec.Containers[0].Env = nil })
	svc := s.ready("app")
	if got, want := svc.Status.LatestReadyRevisionName, "app-00002"; got != want {
		t.Fatalf("latest ready %q, want %q", got, want)
	}
	if err := s.Serving.ServingV1().Revisions(s.ns).Delete(s.ctx, "app-00001", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete the failed one: %v", err)
	}
	// The newest may fail, too: the one before keeps serving, and the failed one can be deleted.
	if err := s.Kube.CoreV1().ResourceQuotas(s.ns).Delete(s.ctx, "pods", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.update("app", func(svc *servingv1.Service) { variable("CRASH", "4")(svc) })
	s.eventually("the newest fails", func() (bool, error) {
		svc, err := s.Serving.ServingV1().Services(s.ns).Get(s.ctx, "app", metav1.GetOptions{})
		return err == nil && svc.Status.GetCondition(servingv1.ServiceConditionReady).IsFalse(), err
	})
	s.getOK(svc.Status.URL.String())
	if err := s.Serving.ServingV1().Revisions(s.ns).Delete(s.ctx, "app-00003", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete the newest, which failed: %v", err)
	}
}

// What the quota refuses is told at once, in the Service.
func TestQuotaIsTold(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.quota("0")
	s.fails(probe("app"), "FailedCreate", "exceeded quota")
	svc, err := s.AwaitService(s.ctx, s.ns, "app", "failed", func(svc *servingv1.Service) bool {
		return svc.Status.GetCondition(servingv1.ServiceConditionReady).IsFalse()
	})
	if err != nil || !strings.Contains(svc.Status.GetCondition(servingv1.ServiceConditionReady).Message, "exceeded quota") {
		t.Errorf("the Service says %+v, %v", svc.Status.Conditions, err)
	}
}
