// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/configmap/informer"
	cmtesting "weir.dev/pkg/configmap/testing"
	logtesting "weir.dev/pkg/logging/testing"
)

var (
	_ configmap.Watcher           = (*configmap.ManualWatcher)(nil)
	_ configmap.DefaultingWatcher = configmap.NewStaticWatcher()
	_ configmap.DefaultingWatcher = (*informer.InformedWatcher)(nil)
)

// deliveries records what an observer is given.
func deliveries() (configmap.Observer, <-chan *corev1.ConfigMap) {
	c := make(chan *corev1.ConfigMap, 10)
	return func(cm *corev1.ConfigMap) { c <- cm }, c
}

func receive(t *testing.T, from <-chan *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	select {
	case cm := <-from:
		return cm
	case <-time.After(patience):
		t.Fatal("nothing is delivered")
		return nil
	}
}

// TestInformedWatcher: everything that is watched was delivered when Start
// returns, and a default stands in for what is not there, or no more.
func TestInformedWatcher(t *testing.T) {
	defaulted := configMap("defaulted", map[string]string{"from": "cluster"})
	kube := fake.NewClientset(configMap("there", nil), defaulted)
	requirement, err := labels.NewRequirement("unwanted", selection.DoesNotExist, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := informer.NewInformedWatcher(kube, "ns", *requirement)
	there, gotThere := deliveries()
	both, gotDefaulted := deliveries()
	w.Watch("there", there)
	w.WatchWithDefault(*configMap("defaulted", map[string]string{"from": "program"}), both)
	stop := make(chan struct{})
	if err := w.Start(stop); err != nil {
		t.Fatal(err)
	}
	defer w.Wait()
	defer close(stop)
	if len(gotThere) != 1 || len(gotDefaulted) < 1 {
		t.Fatalf("Start returned after %d and %d deliveries", len(gotThere), len(gotDefaulted))
	}
	for receive(t, gotDefaulted).Data["from"] != "cluster" {
		continue // the default may come first
	}
	// The fake forgets what happens between an informer's list and its watch.
	await(t, "the informer watches", func() bool {
		return slices.ContainsFunc(kube.Actions(), func(a clientgotesting.Action) bool { return a.GetVerb() == "watch" })
	})
	if err := kube.CoreV1().ConfigMaps("ns").Delete(t.Context(), "defaulted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if cm := receive(t, gotDefaulted); cm.Data["from"] != "program" {
		t.Errorf("after the deletion it is %v", cm.Data)
	}
}

func TestMissingConfigMap(t *testing.T) {
	w := informer.NewInformedWatcherFromFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0), "ns")
	w.Watch("missing")
	stop := make(chan struct{})
	if err := w.Start(stop); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("Start: %v, want an error that names what is missing", err)
	}
	close(stop)
	w.Wait()
}

func TestOtherWatchers(t *testing.T) {
	observer, got := deliveries()
	static := configmap.NewStaticWatcher(configMap("static", nil))
	static.Watch("static", observer)
	if err := static.Start(nil); err != nil || len(got) != 1 {
		t.Errorf("the static watcher: %v, %d deliveries", err, len(got))
	}
	if !panics(func() { static.Watch("unknown", observer) }) {
		t.Error("a fixed set does not hold what it does not hold")
	}
	<-got
	manual := &configmap.ManualWatcher{Namespace: "ns"}
	manual.Watch("manual", observer)
	if err := manual.Start(nil); err != nil {
		t.Fatal(err)
	}
	manual.OnChange(configMap("manual", nil))
	manual.OnChange(configMap("other", nil))
	manual.OnChange(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "manual"}})
	if len(got) != 1 {
		t.Errorf("the manual watcher: %d deliveries", len(got))
	}
}

// size is the content of a ConfigMap.
type size struct{ N int }

func newSize(cm *corev1.ConfigMap) (*size, error) {
	s := &size{}
	return s, configmap.Parse(cm.Data, configmap.AsInt("n", &s.N))
}

func TestUntypedStore(t *testing.T) {
	var stored []interface{}
	record := func(_ string, value interface{}) { stored = append(stored, value) }
	store := configmap.NewUntypedStore("sizes", logtesting.TestLogger(t), configmap.Constructors{"size": newSize},
		record, configmap.TypeFilter(&size{})(record), configmap.TypeFilter(0, "")(func(string, interface{}) { t.Error("it is neither") }))
	watcher := &configmap.ManualWatcher{Namespace: "ns"}
	store.WatchConfigs(watcher)
	if store.UntypedLoad("size") != nil {
		t.Error("there is no value to begin with")
	}
	if !panics(func() { store.OnConfigChanged(configMap("size", map[string]string{"n": "none"})) }) {
		t.Error("without a first value there is nothing to run with")
	}
	watcher.OnChange(configMap("size", map[string]string{"n": "1"}))
	watcher.OnChange(configMap("size", map[string]string{"n": "none"})) // logged, and nothing else
	if d := cmp.Diff(&size{N: 1}, store.UntypedLoad("size")); d != "" {
		t.Errorf("the last good value (-want +got):\n%s", d)
	}
	if len(stored) != 2 {
		t.Errorf("the observers saw %d values", len(stored))
	}
}

func TestValidateConstructor(t *testing.T) {
	tests := map[string]struct {
		constructor interface{}
		ok          bool
	}{
		"Pointer":  {newSize, true},
		"Value":    {func(*corev1.ConfigMap) (size, error) { return size{}, nil }, true},
		"NoError":  {func(*corev1.ConfigMap) *size { return nil }, false},
		"Strings":  {func(map[string]string) (*size, error) { return nil, nil }, false},
		"NoFunc":   {size{}, false},
		"TwoAsked": {func(_, _ *corev1.ConfigMap) (*size, error) { return nil, nil }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := configmap.ValidateConstructor(tc.constructor); (err == nil) != tc.ok {
				t.Errorf("ValidateConstructor: %v", err)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "key"), []byte("value"), 0o600), os.Mkdir(filepath.Join(dir, "..data"), 0o700)); err != nil {
		t.Fatal(err)
	}
	got, err := configmap.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"key": "value"}, got); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
}

// TestExample: CRC-32 of the trimmed text, whose newlines are written out.
func TestExample(t *testing.T) {
	if configmap.ExampleKey != "_example" || configmap.ExampleChecksumAnnotation != "knative.dev/example-checksum" {
		t.Errorf("the example is at %s and %s", configmap.ExampleKey, configmap.ExampleChecksumAnnotation)
	}
	// python3 -c "import zlib; print('%08x' % zlib.crc32(rb'a\nb'))"
	for _, text := range []string{"a\nb", "\na\n\n\nb\n", `a\nb`} {
		if got := configmap.Checksum(text); got != "9fbadef3" {
			t.Errorf("Checksum(%q) = %s", text, got)
		}
	}
	real, example := cmtesting.ConfigMapsFromTestFile(t, "config-example", "real")
	if d := cmp.Diff(map[string]string{"real": "1"}, real.Data); d != "" {
		t.Errorf("the ConfigMap (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"documented": "2"}, example.Data); d != "" {
		t.Errorf("its example (-want +got):\n%s", d)
	}
	if d := cmp.Diff(real, cmtesting.ConfigMapFromTestFile(t, "config-example", "real")); d != "" {
		t.Errorf("the ConfigMap alone (-want +got):\n%s", d)
	}
}
