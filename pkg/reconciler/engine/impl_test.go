// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	duckv1 "weir.dev/pkg/apis/duck/v1"
	fakekubeclient "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
)

// TestPromotion: what is enqueued when this replica begins to lead.
func TestPromotion(t *testing.T) {
	named := func(o *duckv1.KResource, name string) *duckv1.KResource { o.Name = name; return o }
	s := newSetup(nil, returns(nil))
	classes(s)
	s.config.Kind.List = func(labels.Selector) ([]*duckv1.KResource, error) {
		return []*duckv1.KResource{
			named(class(thing(), "ours"), "a"), named(class(thing(), "theirs"), "b"), named(class(thing(), "ours"), "skip"),
		}, nil
	}
	var promoted, demoted []string
	s.config.Options = controller.Options{
		PromoteFunc:       func(b reconciler.Bucket) { promoted = append(promoted, b.Name()) },
		DemoteFunc:        func(b reconciler.Bucket) { demoted = append(demoted, b.Name()) },
		PromoteFilterFunc: func(obj any) bool { return obj.(*duckv1.KResource).Name != "skip" },
	}
	r := New(s.config)
	var enqueued []string
	err := r.Promote(reconciler.UniversalBucket(), func(_ reconciler.Bucket, key types.NamespacedName) {
		enqueued = append(enqueued, key.String())
	})
	if err != nil {
		t.Fatalf("Promote: %v", err)
	}
	r.Demote(reconciler.UniversalBucket())
	if d := cmp.Diff([]string{"ns/a"}, enqueued); d != "" {
		t.Errorf("enqueued (-want +got):\n%s", d)
	}
	if len(promoted) != 1 || len(demoted) != 1 {
		t.Errorf("promoted %v, demoted %v, want one each", promoted, demoted)
	}
}

type namedReconciler struct{ reconcileFunc }

func TestNewImpl(t *testing.T) {
	s := newSetup(thing(), nil)
	ctx := controller.WithEventRecorder(t.Context(), s.recorder)
	var given *controller.Impl
	impl := NewImpl(ctx, s.config.Kind, &namedReconciler{returns(nil)}, "ours", []controller.OptionsFn{
		func(impl *controller.Impl) controller.Options {
			given = impl
			return controller.Options{FinalizerName: "f", Concurrency: 7}
		},
	})
	defer impl.WorkQueue().ShutDown()
	if given != impl {
		t.Error("the options function did not get the controller")
	}
	if got, want := impl.Name, "weir.dev.pkg.reconciler.engine.namedReconciler"; got != want {
		t.Errorf("name is %q, want %q", got, want)
	}
	if impl.Concurrency != 7 {
		t.Errorf("concurrency is %d, want 7", impl.Concurrency)
	}
	if r := impl.Reconciler.(*Reconciler[*duckv1.KResource]); r.finalizer != "f" {
		t.Errorf("finalizer is %q", r.finalizer)
	}
}

func TestTooManyOptions(t *testing.T) {
	s := newSetup(thing(), returns(nil))
	none := func(*controller.Impl) controller.Options { return controller.Options{} }
	for name, f := range map[string]func(){
		"NewImpl": func() {
			NewImpl(t.Context(), s.config.Kind, returns(nil), "", []controller.OptionsFn{none, none})
		},
		"NewReconciler": func() { NewReconciler(s.config, make([]controller.Options, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took two options", name)
				}
			}()
			f()
		}()
	}
}

// TestEventsReachTheAPI: events of kinds that no scheme knows name their object.
func TestEventsReachTheAPI(t *testing.T) {
	ctx, kube := fakekubeclient.With(t.Context())
	recorder := kindRecorder{
		EventRecorder: newRecorder(ctx, &controller.Impl{}, "thing-controller"),
		gvk:           newSetup(nil, nil).config.Kind.GVK,
	}
	recorder.Eventf(thing(), corev1.EventTypeNormal, "Done", "all of %d", 3)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod"}}
	recorder.Event(pod, corev1.EventTypeNormal, "Done", "it")

	got := awaitEvents(kube, 2)
	want := []string{
		"Pod v1 ns/pod Done it by thing-controller",
		"Thing test.weir.dev/v1 ns/thing Done all of 3 by thing-controller",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func awaitEvents(kube *fake.Clientset, n int) []string {
	var events []string
	for len(events) < n {
		events = nil
		list, _ := kube.Tracker().List(corev1.SchemeGroupVersion.WithResource("events"), corev1.SchemeGroupVersion.WithKind("Event"), "ns")
		for _, e := range list.(*corev1.EventList).Items {
			o := e.InvolvedObject
			events = append(events, o.Kind+" "+o.APIVersion+" "+o.Namespace+"/"+o.Name+" "+e.Reason+" "+e.Message+" by "+e.Source.Component)
		}
	}
	slices.Sort(events)
	return events
}

func TestRecorderOfContext(t *testing.T) {
	mine := record.NewFakeRecorder(1)
	ctx := controller.WithEventRecorder(t.Context(), mine)
	if newRecorder(ctx, &controller.Impl{}, "agent") != record.EventRecorder(mine) {
		t.Error("the recorder of the context is not used")
	}
	// Neither a recorder nor a client: events are dropped, nothing breaks.
	newRecorder(t.Context(), &controller.Impl{}, "agent").Event(&corev1.Pod{}, "Normal", "Reason", "message")
}
