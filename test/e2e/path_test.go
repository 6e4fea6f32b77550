// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/ptr"
	"weir.dev/test/harness"
)

func TestDeployAndCall(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", env("VERSION", "one")))
	body := w.getOK(svc.Status.URL.String()).Body
	if want := "one " + svc.Status.LatestReadyRevisionName; strings.TrimSpace(body) != want {
		t.Errorf("body %q, want %q", body, want)
	}
	if svc.Status.LatestCreatedRevisionName != svc.Status.LatestReadyRevisionName {
		t.Errorf("latest created %q, latest ready %q", svc.Status.LatestCreatedRevisionName, svc.Status.LatestReadyRevisionName)
	}
}

func TestUpdateWithoutFailedRequest(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", env("VERSION", "one")))
	stop := w.load(svc.Status.URL.String(), 4)
	svc = w.update("app", func(s *servingv1.Service) { s.Spec.Template.Spec.Containers[0].Env[0].Value = "two" })
	if !strings.HasPrefix(w.getOK(svc.Status.URL.String()).Body, "two ") {
		t.Error("Ready, but the old revision answers")
	}
	// The old revision's instances drain and go while requests still come.
	w.eventually("the old revision goes to zero", func() (bool, error) {
		for _, p := range w.pods() {
			if p.Labels["serving.knative.dev/revision"] != svc.Status.LatestReadyRevisionName {
				return false, nil
			}
		}
		return true, nil
	})
	stop()
}

// load calls a URL from several clients until the returned function is called, which fails the test if any request failed.
func (w *world) load(url string, clients int) (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	var wg sync.WaitGroup
	var requests atomic.Int64
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				a, err := w.Get(ctx, url)
				if ctx.Err() != nil {
					return
				}
				requests.Add(1)
				if err != nil || a.Status != http.StatusOK {
					w.t.Errorf("under load: status %d, body %q, error %v", a.Status, a.Body, err)
					return
				}
			}
		})
	}
	return func() {
		w.t.Helper()
		cancel()
		wg.Wait()
		w.t.Logf("%d requests", requests.Load())
		if requests.Load() == 0 {
			w.t.Error("no request was made")
		}
	}
}

func TestTrafficSplit(t *testing.T) {
	w := newWorld(t)
	first := w.deploy(probeService("app", env("VERSION", "one"))).Status.LatestReadyRevisionName
	svc := w.update("app", func(s *servingv1.Service) {
		s.Spec.Template.Spec.Containers[0].Env[0].Value = "two"
		s.Spec.Traffic = []servingv1.TrafficTarget{
			{RevisionName: first, Percent: ptr.Int64(80), LatestRevision: ptr.Bool(false)},
			{Percent: ptr.Int64(20), LatestRevision: ptr.Bool(true)},
		}
	})
	const total = 2000
	seen := map[string]int{}
	for range total {
		seen[strings.Fields(w.getOK(svc.Status.URL.String()).Body)[0]]++
	}
	if share := float64(seen["one"]) / total; share < 0.77 || share > 0.83 {
		t.Errorf("the first revision got %.3f of the requests, want 0.80 ± 0.03: %v", share, seen)
	}
	if seen["one"]+seen["two"] != total {
		t.Errorf("answers from elsewhere: %v", seen)
	}
}

func TestRollbackByTraffic(t *testing.T) {
	w := newWorld(t)
	first := w.deploy(probeService("app", env("VERSION", "one"))).Status.LatestReadyRevisionName
	svc := w.update("app", func(s *servingv1.Service) { s.Spec.Template.Spec.Containers[0].Env[0].Value = "two" })
	if !strings.HasPrefix(w.getOK(svc.Status.URL.String()).Body, "two ") {
		t.Fatal("the update is not served")
	}
	svc = w.update("app", func(s *servingv1.Service) {
		s.Spec.Traffic = []servingv1.TrafficTarget{
			{RevisionName: first, Percent: ptr.Int64(100), LatestRevision: ptr.Bool(false)},
			{LatestRevision: ptr.Bool(true), Percent: ptr.Int64(0), Tag: "next"},
		}
	})
	if !strings.HasPrefix(w.getOK(svc.Status.URL.String()).Body, "one ") {
		t.Error("after the rollback the newer revision still answers")
	}
	for _, target := range svc.Status.Traffic {
		if target.Tag != "next" {
			continue
		}
		if !strings.HasPrefix(w.getOK(target.URL.String()).Body, "two ") {
			t.Error("the tag's URL does not lead to its revision")
		}
		return
	}
	t.Error("status.traffic has no entry for the tag")
}

func TestColdStartHoldsRequests(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", env("START_DELAY", "500ms")))
	w.waitZero()
	const callers = 50
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			a, err := w.Get(w.ctx, svc.Status.URL.String())
			if err != nil || a.Status != http.StatusOK {
				t.Errorf("status %d, body %q, error %v", a.Status, a.Body, err)
			}
		})
	}
	wg.Wait()
}

func TestConcurrencyOneIsNeverExceeded(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", annotate("autoscaling.knative.dev/max-scale", "3"), func(s *servingv1.Service) {
		s.Spec.Template.Spec.ContainerConcurrency = ptr.Int64(1)
	}))
	url := svc.Status.URL.String()
	var wg sync.WaitGroup
	var instances sync.Map
	for range 12 {
		wg.Go(func() {
			for range 10 {
				a, err := w.Get(w.ctx, url+"/load?d=20ms")
				if err != nil || a.Status != http.StatusOK {
					t.Errorf("status %d, body %q, error %v", a.Status, a.Body, err)
					return
				}
				instances.Store(checkLoad(t, a.Body), true)
			}
		})
	}
	wg.Wait()
	seen := 0
	instances.Range(func(any, any) bool { seen++; return true })
	t.Logf("%d instances", seen)
}

// checkLoad fails the test if the instance that answered ever had more than one request; it gives the instance's name.
func checkLoad(t *testing.T, body string) string {
	var load struct {
		Most     int
		Instance string
	}
	if err := json.Unmarshal([]byte(body), &load); err != nil {
		t.Errorf("%v in %q", err, body)
	} else if load.Most != 1 {
		t.Errorf("instance %s had %d requests at once", load.Instance, load.Most)
	}
	return load.Instance
}

func TestPodCallsServiceByItsAddress(t *testing.T) {
	w := newWorld(t)
	callee := w.deploy(probeService("callee", env("VERSION", "callee")))
	caller := w.deploy(probeService("caller"))
	w.eventually("the callee goes to zero", func() (bool, error) {
		for _, p := range w.pods() {
			if p.Labels["serving.knative.dev/service"] == "callee" {
				return false, nil
			}
		}
		return true, nil
	})
	a := w.getOK(caller.Status.URL.String() + "/call?url=" + callee.Status.Address.URL.String())
	if !strings.HasPrefix(a.Body, "callee ") {
		t.Errorf("body %q", a.Body)
	}
}

func TestDeletionRemovesEverything(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app"))
	if err := w.Serving.ServingV1().Services(w.ns).Delete(w.ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("everything is gone", func() (bool, error) { return w.leftovers() == "", nil })
	if a := w.get(svc.Status.URL.String()); a.Status != http.StatusNotFound {
		t.Errorf("the host of a deleted Service answers %d, want 404", a.Status)
	}
}

// leftovers names one object of the namespace that a Service makes, "" where there is none.
func (w *world) leftovers() string {
	w.t.Helper()
	list := metav1.ListOptions{}
	serving := w.Serving.ServingV1()
	kinds := map[string]func() (int, error){
		"configuration": func() (int, error) {
			l, err := serving.Configurations(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
		"route":    func() (int, error) { l, err := serving.Routes(w.ns).List(w.ctx, list); return len(l.Items), err },
		"revision": func() (int, error) { l, err := serving.Revisions(w.ns).List(w.ctx, list); return len(l.Items), err },
		"ingress": func() (int, error) {
			l, err := w.Serving.NetworkingV1alpha1().Ingresses(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
		"podautoscaler": func() (int, error) {
			l, err := w.Serving.AutoscalingV1alpha1().PodAutoscalers(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
		"deployment": func() (int, error) {
			l, err := w.Kube.AppsV1().Deployments(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
		"replicaset": func() (int, error) {
			l, err := w.Kube.AppsV1().ReplicaSets(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
		"pod": func() (int, error) { l, err := w.Kube.CoreV1().Pods(w.ns).List(w.ctx, list); return len(l.Items), err },
		"service": func() (int, error) {
			l, err := w.Kube.CoreV1().Services(w.ns).List(w.ctx, list)
			return len(l.Items), err
		},
	}
	for kind, count := range kinds {
		n, err := count()
		if err != nil {
			w.t.Fatalf("list %s: %v", kind, err)
		}
		if n > 0 {
			return kind
		}
	}
	return ""
}

func TestKilledContainerIsHealed(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", annotate("autoscaling.knative.dev/min-scale", "1")))
	url := svc.Status.URL.String()
	w.get(url + "/exit?code=3") // ends the process; the answer is an error of the gateway
	w.eventually("the container runs again", func() (bool, error) {
		for _, p := range w.pods() {
			for _, c := range p.Status.ContainerStatuses {
				if c.RestartCount > 0 && c.Ready {
					return true, nil
				}
			}
		}
		return false, nil
	})
	w.getOK(url)
}

func TestBrokenRevisionsSayWhy(t *testing.T) {
	cases := map[string]struct {
		reason string
		svc    *servingv1.Service
		want   []string // one of these in reason or message of the Service's Ready condition
	}{
		"wrong image": {
			reason: "the registry's answer names the image",
			svc: probeService("app", func(s *servingv1.Service) {
				s.Spec.Template.Spec.Containers[0].Image = "weir.local/does-not-exist"
			}),
			want: []string{"does-not-exist"},
		},
		"crash at start": {
			reason: "the exit code tells the developer more than a time-out",
			svc:    probeService("app", env("CRASH", "42")),
			want:   []string{"42"},
		},
		"wrong port": {
			reason: "a program on another port than PORT never becomes ready",
			svc:    probeService("app", env("LISTEN_PORT", "9999"), annotate("serving.knative.dev/progress-deadline", "10s")),
			want:   []string{"ProgressDeadlineExceeded", "probe", "8080"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(tc.svc)
			svc, err := w.AwaitService(w.ctx, w.ns, "app", "all conditions False", func(s *servingv1.Service) bool {
				for _, t := range []apis.ConditionType{"ConfigurationsReady", "RoutesReady", "Ready"} {
					if c := s.Status.GetCondition(t); c == nil || c.Status != corev1.ConditionFalse {
						return false
					}
				}
				return true
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, w.describe())
			}
			text := svc.Status.GetCondition("Ready").Reason + " " + svc.Status.GetCondition("Ready").Message
			found := false
			for _, want := range tc.want {
				found = found || strings.Contains(text, want)
			}
			if !found {
				t.Errorf("Ready=False says %q, want one of %q: %s", text, tc.want, tc.reason)
			}
			w.expectRefusal(svc.Status.URL.String())
		})
	}
}

func TestCallersOfABrokenRevisionGetAnAnswer(t *testing.T) {
	w := newWorld(t)
	svc := w.deploy(probeService("app", func(s *servingv1.Service) {
		s.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
			ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
		}}
	}, func(*servingv1.Service) { w.configMap("settings", map[string]string{"VERSION": "one"}) }))
	w.waitZero()
	// What the instance needs goes away while there is none.
	if err := w.Kube.CoreV1().ConfigMaps(w.ns).Delete(w.ctx, "settings", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	a := w.expectRefusal(svc.Status.URL.String())
	if !strings.Contains(a.Body, "CreateContainerConfigError") {
		t.Errorf("the body does not name the cause: %q", a.Body)
	}
}

// expectRefusal wants callers to be told within moments, not to hang until the request's timeout.
func (w *world) expectRefusal(url string) harness.Answer {
	w.t.Helper()
	a := w.get(url)
	if a.Status != http.StatusServiceUnavailable {
		w.t.Errorf("GET %s: status %d after %v, want 503: %s", url, a.Status, a.Took, a.Body)
	}
	if a.Header.Get("Retry-After") == "" {
		w.t.Error("503 without Retry-After")
	}
	if !strings.Contains(a.Body, "cannot start") {
		w.t.Errorf("the body does not say what is wrong: %q", a.Body)
	}
	return a
}

func (w *world) configMap(name string, data map[string]string) {
	w.t.Helper()
	_, err := w.Kube.CoreV1().ConfigMaps(w.ns).Create(w.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data,
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestRevisionKeepsItsImage builds another program under the tag that a Revision was made from.
func TestRevisionKeepsItsImage(t *testing.T) {
	w := newWorld(t)
	if suite.Own == nil {
		t.Skip("images are built for a Weir of ours only")
	}
	const tag = "weir.local/rebuilt"
	w.build(tag, "../../examples/hello")
	svc := w.deploy(probeService("app", func(s *servingv1.Service) { s.Spec.Template.Spec.Containers[0].Image = tag }))
	url := svc.Status.URL.String()
	before := w.getOK(url).Body
	w.build(tag, "../apps/probe")
	w.waitZero()
	if after := w.getOK(url).Body; after != before {
		t.Errorf("the same Revision answers %q, then %q", before, after)
	}
	w.update("app", env("VERSION", "two"))
	w.eventually("a new Revision runs the new image", func() (bool, error) {
		a, err := w.Get(w.ctx, url)
		return err == nil && a.Status == 200 && a.Body != before, err
	})
}
