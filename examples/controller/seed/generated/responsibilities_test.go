// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generated

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	samplesv1alpha1 "weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	fakesamplesclient "weir.dev/examples/controller/pkg/client/injection/client/fake"
	_ "weir.dev/examples/controller/pkg/client/injection/informers/samples/v1alpha1/addressableservice/fake"
	addressableservicereconciler "weir.dev/examples/controller/pkg/client/injection/reconciler/samples/v1alpha1/addressableservice"
	_ "weir.dev/pkg/client/injection/kube/client/fake"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
)

const finalizer = "addressableservices.samples.weir.dev"

type object = samplesv1alpha1.AddressableService

// outcome is what one run of a key did.
type outcome struct {
	writes []string
	events []string
	err    error
}

// reconcile runs the key of o once, by a controller with those options.
func reconcile(t *testing.T, o *object, r addressableservicereconciler.Interface, options ...controller.OptionsFn) outcome {
	t.Helper()
	ctx, cancel, informers := rtesting.SetupFakeContextWithCancel(t)
	defer cancel()
	client := fakesamplesclient.Get(ctx)
	if err := client.Tracker().Add(o); err != nil {
		t.Fatal(err)
	}
	impl := addressableservicereconciler.NewImpl(ctx, r, options...)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	leader := impl.Reconciler.(reconciler.LeaderAware)
	if err := leader.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		t.Fatal(err)
	}
	out := outcome{err: impl.Reconciler.Reconcile(ctx, o.Namespace+"/"+o.Name)}
	for _, a := range client.Actions() {
		switch a.GetVerb() {
		case "get", "list", "watch":
		default:
			out.writes = append(out.writes, a.GetVerb()+" "+a.GetSubresource())
		}
	}
	recorder := controller.GetEventRecorder(ctx).(*record.FakeRecorder)
	for len(recorder.Events) > 0 {
		out.events = append(out.events, <-recorder.Events)
	}
	return out
}

// it is an object that was reconciled before.
func it(changes ...func(*object)) *object {
	o := &object{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", Generation: 1, Finalizers: []string{finalizer}}}
	o.Spec.Scheme = "http"
	o.Status.ObservedGeneration = 1
	o.Status.InitializeConditions()
	for _, change := range changes {
		change(o)
	}
	return o
}

func deleted(o *object) {
	now := metav1.Now()
	o.DeletionTimestamp = &now
}

func never(t *testing.T) func(context.Context, *object) reconciler.Event {
	return func(context.Context, *object) reconciler.Event {
		t.Error("it was called")
		return nil
	}
}

// TestResponsibilities is "Generated Reconciler Responsibilities", bullet by bullet.
func TestResponsibilities(t *testing.T) {
	errBroken := errors.New("broken")
	does := func(event reconciler.Event, changes ...func(*object)) func(context.Context, *object) reconciler.Event {
		return func(_ context.Context, o *object) reconciler.Event {
			for _, change := range changes {
				change(o)
			}
			return event
		}
	}
	found := func(o *object) { o.Status.MarkServiceFound(nil) }
	tests := map[string]struct {
		reason     string
		object     *object
		reconciler *Reconciler
		want       outcome
	}{
		"ReconcileKind": {
			reason:     "is only called if the resource's deletion timestamp is empty",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(nil), OnFinalize: never(t)},
		},
		"FinalizeKind": {
			reason:     "is called when the resource's deletion timestamp is set, and lets it go",
			object:     it(deleted),
			reconciler: &Reconciler{OnReconcile: never(t), OnFinalize: does(nil)},
			want:       outcome{writes: []string{"patch "}, events: []string{`Normal FinalizerUpdate Updated "it" finalizers`}},
		},
		"FinalizersAreUsed": {
			reason:     "implementing FinalizeKind results in finalizers on the resource",
			object:     it(func(o *object) { o.Finalizers = nil }),
			reconciler: &Reconciler{OnReconcile: does(nil)},
			want:       outcome{writes: []string{"patch "}, events: []string{`Normal FinalizerUpdate Updated "it" finalizers`}},
		},
		"SpecIsIgnored": {
			reason:     "edits of the spec are ignored",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(nil, func(o *object) { o.Spec.ServiceName = "other" })},
		},
		"MetadataIsIgnored": {
			reason:     "edits of the metadata are ignored",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(nil, func(o *object) { o.Labels = map[string]string{"a": "b"} })},
		},
		"StatusIsSynchronized": {
			reason:     "a changed status goes to the API server",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(nil, found)},
			want:       outcome{writes: []string{"update status"}},
		},
		"Error": {
			reason:     "an error is a Warning event InternalError with its body, and is returned, so that the key is queued again",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(errBroken)},
			want:       outcome{events: []string{"Warning InternalError broken"}, err: errBroken},
		},
		"Event": {
			reason:     "an event is logged with its type and reason, and is no error",
			object:     it(),
			reconciler: &Reconciler{OnReconcile: does(reconciler.NewEvent(corev1.EventTypeWarning, "Odd", "%d things", 3))},
			want:       outcome{events: []string{"Warning Odd 3 things"}},
		},
		"MoreEvents": {
			reason: "additional events go through the recorder of the context",
			object: it(),
			reconciler: &Reconciler{OnReconcile: func(ctx context.Context, o *object) reconciler.Event {
				recorder := controller.GetEventRecorder(ctx)
				recorder.Event(o, corev1.EventTypeNormal, "Extra", "one")
				return nil
			}},
			want: outcome{events: []string{"Normal Extra one"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := reconcile(t, tc.object, tc.reconciler)
			if !errors.Is(got.err, tc.want.err) || tc.want.err == nil && got.err != nil {
				t.Errorf("%s: error is %v, want %v", tc.reason, got.err, tc.want.err)
			}
			if d := cmp.Diff([][]string{tc.want.writes, tc.want.events}, [][]string{got.writes, got.events}); d != "" {
				t.Errorf("%s: writes, events (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestWithoutFinalizer: FinalizeKind is optional.
func TestWithoutFinalizer(t *testing.T) {
	ours := Bare{&Reconciler{OnReconcile: never(t)}}
	if got := reconcile(t, it(deleted), ours); len(got.writes) > 0 || got.err != nil {
		t.Errorf("wrote %v, error %v for an object whose end is not ours", got.writes, got.err)
	}
}

// TestFutureFeatures: the three that the text lists are there.
func TestFutureFeatures(t *testing.T) {
	t.Run("ConfigStore", func(t *testing.T) {
		var got any
		r := Bare{&Reconciler{OnReconcile: func(ctx context.Context, _ *object) reconciler.Event {
			got = ctx.Value(storeKey{})
			return nil
		}}}
		reconcile(t, it(), r, func(*controller.Impl) controller.Options { return controller.Options{ConfigStore: store{}} })
		if got != "configuration" {
			t.Errorf("the context of ReconcileKind has %v, want what the store put there", got)
		}
	})
	t.Run("Metadata", func(t *testing.T) {
		r := Bare{&Reconciler{OnReconcile: func(_ context.Context, o *object) reconciler.Event {
			o.Labels = map[string]string{"a": "b"}
			return nil
		}}}
		got := reconcile(t, it(), r, func(*controller.Impl) controller.Options { return controller.Options{SyncMetadata: true} })
		if d := cmp.Diff([]string{"patch "}, got.writes); d != "" {
			t.Errorf("writes (-want +got):\n%s", d)
		}
	})
	// The third, reconcilers without annotating the type: package foreign.
}

type storeKey struct{}

// store is a config store.
type store struct{}

func (store) ToContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, storeKey{}, "configuration")
}

// TestNewController: the constructor makes a controller that waits for its leader.
func TestNewController(t *testing.T) {
	ctx, _ := rtesting.SetupFakeContext(t)
	impl := NewController(ctx, configmap.NewStaticWatcher())
	if err := impl.Reconciler.Reconcile(ctx, "ns/it"); !controller.IsSkipKey(err) {
		t.Errorf("Reconcile before any promotion: %v, want the key skipped", err)
	}
	if want := "weir.dev.examples.controller.seed.generated.Reconciler"; impl.Name != want {
		t.Errorf("the queue is called %q, want %q", impl.Name, want)
	}
}
