// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned/fake"
	"weir.dev/client/clientset/versioned/scheme"
	fakeclient "weir.dev/client/injection/client/fake"
	serviceinformer "weir.dev/client/injection/informers/serving/v1/service"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	servinglisters "weir.dev/client/listers/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
	"weir.dev/pkg/system"
	systemtesting "weir.dev/pkg/system/testing"
	"weir.dev/pkg/tracker"
)

const finalizer = "services.serving.knative.dev"

// makeReconciler is a factory as authors write them.
func makeReconciler(t *testing.T, r *rtesting.TableRow) (controller.Reconciler, rtesting.ActionRecorderList, rtesting.EventList) {
	sorter := rtesting.NewObjectSorter(scheme.Scheme)
	sorter.AddObjects(r.Objects...)
	ctx := logging.WithLogger(t.Context(), logtesting.TestLogger(t))
	_, client := fakeclient.With(ctx, sorter.ObjectsForSchemeFunc(servingv1.AddToScheme)...)
	client.PrependReactor("create", "*", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		return rtesting.ValidateCreates(ctx, action)
	})
	client.PrependReactor("update", "*", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		return rtesting.ValidateUpdates(apis.AllowDifferentNamespace(ctx), action)
	})
	for _, reactor := range r.WithReactors {
		client.PrependReactor("*", "*", reactor)
	}
	events := rtesting.EventList{Recorder: record.NewFakeRecorder(100)}
	lister := servinglisters.NewServiceLister(sorter.IndexerForObjectType(&servingv1.Service{}))
	rec := servicereconciler.NewReconciler(ctx, logtesting.TestLogger(t), client, lister, events.Recorder, r.OtherTestData["reconciler"].(servicereconciler.Interface))
	return rec, rtesting.ActionRecorderList{client}, events
}

func with(r servicereconciler.Interface) map[string]interface{} {
	return map[string]interface{}{"reconciler": r}
}

// ready is a Service as plain leaves it.
func ready(name string) *servingv1.Service {
	o := service(name)
	reconciler.PreProcessReconcile(context.Background(), o)
	_ = (&plain{}).ReconcileKind(context.Background(), o)
	reconciler.PostProcessReconcile(context.Background(), o, service(name))
	return o
}

func finalizing(o *servingv1.Service, deleted bool) *servingv1.Service {
	o.Finalizers = []string{finalizer}
	if deleted {
		now := metav1.Now()
		o.DeletionTimestamp = &now
	}
	return o
}

func patchFinalizers(finalizers string) []clientgotesting.PatchActionImpl {
	return []clientgotesting.PatchActionImpl{clientgotesting.NewPatchAction(servingv1.SchemeGroupVersion.WithResource("services"), "ns", "name",
		types.MergePatchType, []byte(`{"metadata":{"finalizers":[`+finalizers+`],"resourceVersion":""}}`))}
}

func statusUpdate(o *servingv1.Service) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: o}}
}

// TestTable: what one run of a key writes and records.
func TestTable(t *testing.T) {
	failure := errors.New("failure")
	warning := reconciler.NewEvent(corev1.EventTypeWarning, "Odd", "is %s", "odd")
	normal := reconciler.NewEvent(corev1.EventTypeNormal, "Done", "is done")
	updated := rtesting.Eventf("Normal", "FinalizerUpdate", "Updated %q finalizers", "name")
	ignoreTimes := []cmp.Option{cmpopts.IgnoreTypes(apis.VolatileTime{})}
	table := rtesting.TableTest{
		{Name: "there is nothing to do", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{})},
		{
			Name: "the status is written", Key: "ns/name", Objects: []runtime.Object{service("name")}, OtherTestData: with(&plain{}),
			WantStatusUpdates: statusUpdate(ready("name")), CmpOpts: ignoreTimes, Ctx: t.Context(), SkipNamespaceValidation: true,
		}, {
			Name: "the status cannot be written", Key: "ns/name", Objects: []runtime.Object{service("name")}, OtherTestData: with(&plain{}),
			WithReactors: []clientgotesting.ReactionFunc{rtesting.InduceFailure("update", "services")}, WantErr: true,
			WantStatusUpdates: statusUpdate(ready("name")),
			WantEvents:        []string{rtesting.Eventf("Warning", "UpdateFailed", `Failed to update status for "name": inducing failure for update services`)},
		},
		{Name: "an event is success", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{warning}), WantEvents: []string{"Warning Odd is odd"}},
		{Name: "a wrapped event is an error", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{fmt.Errorf("why: %w", warning)}), WantEvents: []string{"Warning Odd is odd"}, WantErr: true},
		{Name: "an error is recorded", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{failure}), WantEvents: []string{"Warning InternalError failure"}, WantErr: true},
		{Name: "skipped", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{controller.NewSkipKey("ns/name")}), WantErr: true},
		{Name: "asked to run again", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&plain{controller.NewRequeueImmediately()}), WantErr: true},
		{Name: "the finalizer is added", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&full{}), WantPatches: patchFinalizers(`"` + finalizer + `"`), WantEvents: []string{updated}},
		{
			Name: "the finalizer cannot be added", Key: "ns/name", Objects: []runtime.Object{ready("name")}, OtherTestData: with(&full{}), WantPatches: patchFinalizers(`"` + finalizer + `"`), WantErr: true,
			WithReactors: []clientgotesting.ReactionFunc{rtesting.InduceFailure("patch", "services")},
			WantEvents:   []string{rtesting.Eventf("Warning", "FinalizerUpdateFailed", `Failed to update finalizers for "name": inducing failure for patch services`)},
		},
		{Name: "finalized", Key: "ns/name", Objects: []runtime.Object{finalizing(ready("name"), true)}, OtherTestData: with(&full{finalEvent: normal}), WantPatches: patchFinalizers(""), WantEvents: []string{updated, "Normal Done is done"}},
		{Name: "not finalized yet", Key: "ns/name", Objects: []runtime.Object{finalizing(ready("name"), true)}, OtherTestData: with(&full{finalEvent: warning}), WantEvents: []string{"Warning Odd is odd"}},
		{Name: "finalizing fails", Key: "ns/name", Objects: []runtime.Object{finalizing(ready("name"), true)}, OtherTestData: with(&full{finalEvent: failure}), WantEvents: []string{"Warning InternalError failure"}, WantErr: true},
		{
			Name: "gone", Key: "ns/name", OtherTestData: with(&full{}),
			PostConditions: []func(*testing.T, *rtesting.TableRow){func(t *testing.T, r *rtesting.TableRow) {
				if got := r.OtherTestData["reconciler"].(*full).deleted; r.Reconciler == nil || got != key("ns", "name") {
					t.Errorf("the deletion that was observed is of %v", got)
				}
			}},
		},
	}
	table.Test(t, makeReconciler)
}

// TestFieldsOfRows uses what no row of TestTable needs.
func TestFieldsOfRows(t *testing.T) {
	client := fake.NewSimpleClientset(service("there"))
	resource := servingv1.SchemeGroupVersion.WithResource("services")
	changed := service("there")
	changed.Labels = map[string]string{"a": "b"}
	row := rtesting.TableRow{
		Key: "ns/there", Objects: []runtime.Object{service("there")},
		WantCreates:           []runtime.Object{service("new")},
		WantUpdates:           []clientgotesting.UpdateActionImpl{{Object: changed}},
		WantDeletes:           []clientgotesting.DeleteActionImpl{clientgotesting.NewDeleteAction(resource, "ns", "there")},
		WantDeleteCollections: []clientgotesting.DeleteCollectionActionImpl{clientgotesting.NewDeleteCollectionAction(resource, "ns", metav1.ListOptions{})},
	}
	row.Test(t, func(*testing.T, *rtesting.TableRow) (controller.Reconciler, rtesting.ActionRecorderList, rtesting.EventList) {
		return reconcilerFunc(func(ctx context.Context, _ string) error {
			services := client.ServingV1().Services("ns")
			_, createErr := services.Create(ctx, service("new"), metav1.CreateOptions{})
			_, updateErr := services.Update(ctx, changed, metav1.UpdateOptions{})
			return errors.Join(createErr, updateErr, services.Delete(ctx, "there", metav1.DeleteOptions{}),
				services.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
		}), rtesting.ActionRecorderList{client}, rtesting.EventList{Recorder: record.NewFakeRecorder(1)}
	})
}

// TestFakeSet: what a test of informers needs.
func TestFakeSet(t *testing.T) {
	ctx, cancel, informers := rtesting.SetupFakeContextWithCancel(t)
	lister := serviceinformer.Get(ctx).Lister()
	client := fakeclient.Get(ctx)
	hooks := rtesting.NewHooks()
	hooks.OnCreate(&client.Fake, "services", func(obj runtime.Object) rtesting.HookResult {
		return obj.(*servingv1.Service).Name == "named-00001"
	})
	hooks.OnUpdate(&client.Fake, "services", func(runtime.Object) rtesting.HookResult { return rtesting.HookComplete })
	hooks.OnDelete(&client.Fake, "services", func(name string) rtesting.HookResult { return name == "named-00001" })
	rtesting.PrependGenerateNameReactor(&client.Fake) // last, so that the hooks see the name
	wait, err := rtesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	o := service("")
	o.GenerateName = "named-"
	services := client.ServingV1().Services("ns")
	if _, err := services.Create(ctx, o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the cache has it", func() bool { _, err := lister.Services("ns").Get("named-00001"); return err == nil })
	if _, err := services.Update(ctx, service("named-00001"), metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	if err := services.Delete(ctx, "named-00001", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := hooks.WaitForHooks(patience); err != nil {
		t.Error(err)
	}
	cancel()
	wait()
}

func TestOtherHelpers(t *testing.T) {
	if got := rtesting.KeyOrDie(service("name")); got != "ns/name" {
		t.Errorf("the key is %s", got)
	}
	if got := system.Namespace(); got != systemtesting.Namespace {
		t.Errorf("the system namespace is %s", got)
	}
	fakes := &rtesting.FakeTracker{}
	ref := tracker.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "target"}
	if err := fakes.TrackReference(ref, service("observer")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]tracker.Reference{ref}, fakes.References()); d != "" {
		t.Errorf("tracked (-want +got):\n%s", d)
	}
	if got := fakes.GetObservers(pod("target")); len(got) != 1 || got[0] != key("ns", "observer") {
		t.Errorf("observers are %v", got)
	}
	// An invalid object does not pass the reactors.
	cs := kubefake.NewClientset()
	invalid := &gadget{Spec: gadgetSpec{Size: 11}}
	create := clientgotesting.NewCreateAction(gadgetKind.GroupVersion().WithResource("gadgets"), "ns", invalid)
	if handled, _, err := rtesting.ValidateCreates(t.Context(), create); !handled || err == nil {
		t.Errorf("ValidateCreates: %v, %v", handled, err)
	}
	update := clientgotesting.NewUpdateAction(gadgetKind.GroupVersion().WithResource("gadgets"), "ns", invalid)
	if handled, _, err := rtesting.ValidateUpdates(t.Context(), update); !handled || err == nil {
		t.Errorf("ValidateUpdates: %v, %v", handled, err)
	}
	actions, err := rtesting.ActionRecorderList{cs}.ActionsByVerb()
	if err != nil || len(actions.Creates) != 0 {
		t.Errorf("nobody wrote: %+v, %v", actions, err)
	}
}
