// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"weir.dev/api/autoscaling"
	"weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/serving"
	"weir.dev/client/clientset/versioned"
	weirclient "weir.dev/client/injection/client/fake"
	_ "weir.dev/client/injection/informers/autoscaling/v1alpha1/podautoscaler/fake" // the informer
	"weir.dev/internal/feed/feedpb"
	kubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	_ "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment/fake"   // the informer
	_ "weir.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered/fake" // the informer
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/ptr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a controller on fake clients in a bubble of fake time, with one revision.
type world struct {
	t          *testing.T
	ctx        context.Context
	autoscaler *Autoscaler
	kube       kubernetes.Interface
	weir       versioned.Interface

	mu       sync.Mutex
	gateways map[string]*feedpb.RevisionStats // what each reports every second
}

const uid = "rev-uid"

// run calls f in a world whose revision has annotations and starts with a Deployment of replicas.
func run(t *testing.T, annotations map[string]string, replicas int32, f func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
		ctx, informers := injection.Fake.SetupInformers(ctx, &rest.Config{})
		w := &world{
			t: t, ctx: ctx, autoscaler: New(), kube: kubeclient.Get(ctx), weir: weirclient.Get(ctx),
			gateways: map[string]*feedpb.RevisionStats{"g": {}},
		}
		impl := w.autoscaler.NewController(ctx, configmap.NewStaticWatcher(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "config-autoscaler"}, Data: map[string]string{
				"scale-to-zero-grace-period": "5s", "allow-zero-initial-scale": "true",
			},
		}))
		w.create(annotations, replicas)
		wait, err := controller.RunInformers(ctx.Done(), informers...)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for _, part := range []func(context.Context) error{impl.Run, w.autoscaler.Run, w.report} {
			group.Go(func() {
				if err := part(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		f(w)
		cancel()
		group.Wait()
		wait()
	})
}

// create makes the objects that the Revision's reconciler would.
func (w *world) create(annotations map[string]string, replicas int32) {
	labels := map[string]string{serving.RevisionLabelKey: "hello-00001", serving.RevisionUID: uid}
	all := map[string]string{autoscaling.ClassAnnotationKey: autoscaling.KPA, autoscaling.MetricAnnotationKey: autoscaling.Concurrency}
	for k, v := range annotations {
		all[autoscaling.GroupName+"/"+k] = v
	}
	_, err := w.kube.AppsV1().Deployments("ns").Create(w.ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hello-00001-deployment", Labels: labels},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, ProgressDeadlineSeconds: ptr.Int32(60)},
	}, metav1.CreateOptions{})
	w.check(err)
	_, err = w.weir.AutoscalingV1alpha1().PodAutoscalers("ns").Create(w.ctx, &v1alpha1.PodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hello-00001", Labels: labels, Annotations: all},
		Spec: v1alpha1.PodAutoscalerSpec{ScaleTargetRef: corev1.ObjectReference{
			APIVersion: "apps/v1", Kind: "Deployment", Name: "hello-00001-deployment",
		}},
	}, metav1.CreateOptions{})
	w.check(err)
}

// report plays the gateways.
func (w *world) report(ctx context.Context) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			w.mu.Lock()
			for name, stats := range w.gateways {
				stats.Namespace, stats.Revision, stats.Uid, stats.PeriodNs = "ns", "hello-00001", uid, int64(time.Second)
				w.autoscaler.Report(name, &feedpb.GatewayReport{Gateway: name, Ready: true, Stats: []*feedpb.RevisionStats{stats}})
			}
			w.mu.Unlock()
		}
	}
}

// load makes a gateway report that concurrency from now on.
func (w *world) load(name string, concurrency float64) {
	w.say(name, &feedpb.RevisionStats{AverageConcurrency: concurrency, InFlight: uint32(concurrency)})
}

// say makes a gateway report stats from now on; nil makes it silent.
func (w *world) say(name string, stats *feedpb.RevisionStats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stats == nil {
		delete(w.gateways, name)
		return
	}
	w.gateways[name] = stats
}

// annotate sets an annotation of the PodAutoscaler, or removes it.
func (w *world) annotate(key, value string) {
	w.t.Helper()
	pas := w.weir.AutoscalingV1alpha1().PodAutoscalers("ns")
	pa, err := pas.Get(w.ctx, "hello-00001", metav1.GetOptions{})
	w.check(err)
	pa.Annotations[key] = value
	if value == "" {
		delete(pa.Annotations, key)
	}
	_, err = pas.Update(w.ctx, pa, metav1.UpdateOptions{})
	w.check(err)
}

func (w *world) poke(waiting uint32) {
	w.autoscaler.Report("g", &feedpb.GatewayReport{Gateway: "g", Ready: true, Pokes: []*feedpb.Poke{
		{Namespace: "ns", Revision: "hello-00001", Uid: uid, Waiting: waiting},
	}})
}

// pods makes exactly the named pods exist, ready.
func (w *world) pods(names ...string) {
	w.t.Helper()
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	list, err := w.kube.CoreV1().Pods("ns").List(w.ctx, metav1.ListOptions{})
	w.check(err)
	for _, pod := range list.Items {
		if !want[pod.Name] {
			w.check(w.kube.CoreV1().Pods("ns").Delete(w.ctx, pod.Name, metav1.DeleteOptions{}))
		}
		delete(want, pod.Name)
	}
	for name := range want {
		_, err := w.kube.CoreV1().Pods("ns").Create(w.ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{
				serving.RevisionLabelKey: "hello-00001", serving.RevisionUID: uid,
			}},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}, metav1.CreateOptions{})
		w.check(err)
	}
}

// after lets time pass and then expects a scale and a state.
func (w *world) after(d time.Duration, reason string, scale int32, status corev1.ConditionStatus, why string) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	if got := w.scale(); got != scale {
		w.t.Errorf("%s: scale %d, want %d", reason, got, scale)
	}
	pa, err := w.weir.AutoscalingV1alpha1().PodAutoscalers("ns").Get(w.ctx, "hello-00001", metav1.GetOptions{})
	w.check(err)
	c := pa.Status.GetCondition(v1alpha1.PodAutoscalerConditionActive)
	if c == nil || c.Status != status || c.Reason != why {
		w.t.Errorf("%s: Active is %+v, want %s %q", reason, c, status, why)
	}
}

func (w *world) scale() int32 {
	d, err := w.kube.AppsV1().Deployments("ns").Get(w.ctx, "hello-00001-deployment", metav1.GetOptions{})
	w.check(err)
	return replicas(d)
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// writes counts the writes to the API.
func (w *world) writes() int {
	n := 0
	for _, a := range slices.Concat(kubeclient.Get(w.ctx).Actions(), weirclient.Get(w.ctx).Actions()) {
		if !slices.Contains([]string{"get", "list", "watch"}, a.GetVerb()) {
			n++
		}
	}
	return n
}
