// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"weir.dev/pkg/controller"
	"weir.dev/pkg/tracker"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func labelled(name string) *corev1.Pod {
	p := pod(name)
	p.Labels = map[string]string{"a": "b"}
	return p
}

// writeEverything makes one write of each sort.
func writeEverything(ctx context.Context, kc kubernetes.Interface) {
	pods := kc.CoreV1().Pods("ns")
	_, _ = pods.Create(ctx, pod("new"), metav1.CreateOptions{})
	_, _ = pods.Update(ctx, labelled("there"), metav1.UpdateOptions{})
	_, _ = pods.UpdateStatus(ctx, labelled("there"), metav1.UpdateOptions{})
	_, _ = pods.Patch(ctx, "there", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	_ = pods.Delete(ctx, "there", metav1.DeleteOptions{})
	_ = pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "a=b"})
	_, _ = pods.Get(ctx, "there", metav1.GetOptions{})
	_, _ = pods.List(ctx, metav1.ListOptions{})
}

func everything() TableRow {
	podsResource := corev1.SchemeGroupVersion.WithResource("pods")
	deletion := clientgotesting.NewDeleteAction(podsResource, "ns", "there")
	collection := clientgotesting.NewDeleteCollectionAction(podsResource, "ns", metav1.ListOptions{LabelSelector: "a=b"})
	return TableRow{
		Key:                   "ns/there",
		Objects:               []runtime.Object{pod("there")},
		WantCreates:           []runtime.Object{pod("new")},
		WantUpdates:           []clientgotesting.UpdateActionImpl{{Object: labelled("there")}},
		WantStatusUpdates:     []clientgotesting.UpdateActionImpl{{Object: labelled("there")}},
		WantPatches:           []clientgotesting.PatchActionImpl{clientgotesting.NewPatchAction(podsResource, "ns", "there", types.MergePatchType, []byte(`{}`))},
		WantDeletes:           []clientgotesting.DeleteActionImpl{deletion},
		WantDeleteCollections: []clientgotesting.DeleteCollectionActionImpl{collection},
		WantEvents:            []string{Eventf("Normal", "Done", "all of %d", 3)},
	}
}

// TestCompare: a row that wants just what is done has no problem, and each
// thing that it leaves out is one.
func TestCompare(t *testing.T) {
	tests := map[string]struct {
		leaveOut func(*TableRow)
		want     string
	}{
		"Nothing":           {func(*TableRow) {}, ""},
		"Create":            {func(r *TableRow) { r.WantCreates = nil }, "unexpected creates"},
		"Update":            {func(r *TableRow) { r.WantUpdates = nil }, "unexpected updates"},
		"StatusUpdate":      {func(r *TableRow) { r.WantStatusUpdates = nil }, "unexpected status updates"},
		"Patch":             {func(r *TableRow) { r.WantPatches = nil }, "unexpected patches"},
		"Delete":            {func(r *TableRow) { r.WantDeletes = nil }, "unexpected deletes"},
		"DeleteCollection":  {func(r *TableRow) { r.WantDeleteCollections = nil }, "unexpected deletes of collections"},
		"Event":             {func(r *TableRow) { r.WantEvents = nil }, "unexpected events"},
		"ChangedObject":     {func(r *TableRow) { r.Objects[0] = labelled("there") }, "must not be changed"},
		"OtherNamespace":    {func(r *TableRow) { r.Key = "other/there" }, `in namespace "ns", want "other"`},
		"OtherNamespaceToo": {func(r *TableRow) { r.Key = "other/there"; r.SkipNamespaceValidation = true }, ""},
		"TooMuchWanted":     {func(r *TableRow) { r.WantEvents = append(r.WantEvents, "Normal Other x") }, "unexpected events"},
	}
	kc := fake.NewSimpleClientset(pod("there"))
	writeEverything(t.Context(), kc)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			row := everything()
			before := copies(row.Objects)
			tc.leaveOut(&row)
			problems := strings.Join(row.compare(outcome{
				actions: ActionRecorderList{kc}, events: []string{"Normal Done all of 3"}, before: before,
			}), "\n")
			if (problems == "") != (tc.want == "") || !strings.Contains(problems, tc.want) {
				t.Errorf("problems are %q, want %q", problems, tc.want)
			}
		})
	}
}

type reconcilerFunc func(ctx context.Context, key string) error

func (f reconcilerFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

// TestTable runs a table: the factory gets the row, and post-conditions what
// the factory made.
func TestTable(t *testing.T) {
	row := everything()
	row.Name, row.WantErr = "everything", true
	checked := false
	row.PostConditions = []func(*testing.T, *TableRow){func(_ *testing.T, r *TableRow) { checked = r.Reconciler != nil }}
	TableTest{row}.Test(t, func(_ *testing.T, r *TableRow) (controller.Reconciler, ActionRecorderList, EventList) {
		kc := fake.NewSimpleClientset(r.Objects...)
		recorder := record.NewFakeRecorder(10)
		return reconcilerFunc(func(ctx context.Context, _ string) error {
			writeEverything(ctx, kc)
			recorder.Eventf(pod("there"), "Normal", "Done", "all of %d", 3)
			return errors.New("wanted")
		}), ActionRecorderList{kc}, EventList{Recorder: recorder}
	})
	if !checked {
		t.Error("the post-condition did not see the reconciler")
	}
}

func TestInduceFailure(t *testing.T) {
	tests := map[string]struct {
		verb, resource    string
		wantMain, wantSub bool
	}{
		"Resource":    {"update", "pods", true, true},
		"SubResource": {"update", "pods/status", false, true},
		"OtherVerb":   {"create", "pods", false, false},
		"Other":       {"update", "services", false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kc := fake.NewSimpleClientset(pod("there"))
			kc.PrependReactor("*", "*", InduceFailure(tc.verb, tc.resource))
			_, err := kc.CoreV1().Pods("ns").Update(t.Context(), pod("there"), metav1.UpdateOptions{})
			_, errSub := kc.CoreV1().Pods("ns").UpdateStatus(t.Context(), pod("there"), metav1.UpdateOptions{})
			if (err != nil) != tc.wantMain || (errSub != nil) != tc.wantSub {
				t.Errorf("update: %v, of status: %v", err, errSub)
			}
		})
	}
}

func TestGenerateName(t *testing.T) {
	kc := fake.NewSimpleClientset()
	PrependGenerateNameReactor(&kc.Fake)
	p := pod("")
	p.GenerateName = "pod-"
	got, err := kc.CoreV1().Pods("ns").Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil || got.Name != "pod-00001" {
		t.Errorf("created %q, error %v", got.Name, err)
	}
}

func TestSorter(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	sorter := NewObjectSorter(scheme)
	sorter.AddObjects(pod("a"), pod("b"), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
	if got := sorter.ObjectsForSchemeFunc(corev1.AddToScheme); len(got) != 3 {
		t.Errorf("got %d objects", len(got))
	}
	if got := sorter.IndexerForObjectType(&corev1.Pod{}).ListKeys(); len(got) != 2 {
		t.Errorf("pods are %v", got)
	}
}

func TestFakeTracker(t *testing.T) {
	f := &FakeTracker{}
	ref := tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "a"}
	if err := f.TrackReference(ref, pod("observer")); err != nil {
		t.Fatal(err)
	}
	target := pod("a")
	target.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	if got := f.GetObservers(target); len(got) != 1 || got[0].Name != "observer" {
		t.Errorf("observers are %v", got)
	}
	f.OnDeletedObserver(pod("observer"))
	if got := f.References(); len(got) != 0 {
		t.Errorf("references are %v", got)
	}
}
