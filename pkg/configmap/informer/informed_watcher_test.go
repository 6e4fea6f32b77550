// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/configmap"
)

func newCM(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Data:       map[string]string{"k": value},
	}
}

// seen lets a test wait for deliveries.
type seen chan string

func (s seen) observe(cm *corev1.ConfigMap) { s <- cm.Name + "=" + cm.Data["k"] }

func (s seen) want(t *testing.T, want string) {
	t.Helper()
	if got := <-s; got != want {
		t.Errorf("delivered %s, want %s", got, want)
	}
}

func TestDeliveries(t *testing.T) {
	ctx := t.Context()
	kc := fake.NewSimpleClientset(newCM("there", "1"), newCM("unwatched", "x"))
	w := NewInformedWatcher(kc, "ns")
	s := make(seen, 10)
	w.Watch("there", s.observe)
	w.WatchWithDefault(*newCM("optional", "default"), s.observe)

	stop := make(chan struct{})
	if err := w.Start(stop); err != nil {
		t.Fatalf("Start: %v", err)
	}
	if len(s) != 2 {
		t.Fatalf("Start returned after %d deliveries, want both", len(s))
	}
	s.want(t, "there=1")
	s.want(t, "optional=default")

	awaitWatch(kc)
	cms := kc.CoreV1().ConfigMaps("ns")
	labelled := newCM("there", "1")
	labelled.Labels = map[string]string{"a": "b"}
	for _, step := range []func() error{
		func() error { _, err := cms.Update(ctx, labelled, metav1.UpdateOptions{}); return err }, // no news
		func() error { _, err := cms.Update(ctx, newCM("there", "2"), metav1.UpdateOptions{}); return err },
		func() error { _, err := cms.Create(ctx, newCM("optional", "mine"), metav1.CreateOptions{}); return err },
		func() error { return cms.Delete(ctx, "optional", metav1.DeleteOptions{}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	s.want(t, "there=2")
	s.want(t, "optional=mine")
	s.want(t, "optional=default")
	close(stop)
	w.Wait()
}

// awaitWatch waits until the fake client is watched: it forgets what happens
// between an informer's list and its watch.
func awaitWatch(kc *fake.Clientset) {
	for !slices.ContainsFunc(kc.Actions(), func(a clientgotesting.Action) bool { return a.GetVerb() == "watch" }) {
		runtime.Gosched()
	}
}

func TestStartFails(t *testing.T) {
	number := func(cm *corev1.ConfigMap) (int, error) { return 0, errors.New("no number") }
	tests := map[string]struct {
		reason string
		watch  func(*InformedWatcher)
		want   string
	}{
		"Missing": {
			reason: "a ConfigMap that must exist is named",
			watch:  func(w *InformedWatcher) { w.Watch("missing", func(*corev1.ConfigMap) {}) },
			want:   `"missing" not found in namespace "ns"`,
		},
		"Bad": {
			reason: "a first value that does not parse is an error, not the end of the process",
			watch: func(w *InformedWatcher) {
				configmap.NewUntypedStore("s", zap.NewNop().Sugar(), configmap.Constructors{"there": number}).WatchConfigs(w)
			},
			want: `initializing s config "there": no number`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := NewInformedWatcher(fake.NewSimpleClientset(newCM("there", "1")), "ns")
			tc.watch(w)
			stop := make(chan struct{})
			err := w.Start(stop)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: Start() = %v, want %q", tc.reason, err, tc.want)
			}
			close(stop)
			w.Wait()
		})
	}
}

func TestMisuse(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	w := NewInformedWatcher(fake.NewSimpleClientset(), "ns")
	w.WatchWithDefault(*newCM("a", "1"))
	w.WatchWithDefault(*newCM("a", "1")) // the same is fine
	mustPanic(t, "two defaults", func() { w.WatchWithDefault(*newCM("a", "2")) })
	if err := w.Start(stop); err != nil {
		t.Fatalf("Start: %v", err)
	}
	mustPanic(t, "a late observer", func() { w.Watch("b") })
	if err := w.Start(stop); err == nil {
		t.Error("Start twice was no error")
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
