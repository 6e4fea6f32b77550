// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned"
	"weir.dev/client/clientset/versioned/fake"
	"weir.dev/client/informers/externalversions"
	"weir.dev/client/injection/client"
	fakeclient "weir.dev/client/injection/client/fake"
	"weir.dev/client/injection/informers/factory"
	fakefactory "weir.dev/client/injection/informers/factory/fake"
	filteredfactory "weir.dev/client/injection/informers/factory/filtered"
	fakefilteredfactory "weir.dev/client/injection/informers/factory/filtered/fake"
	ingressinformer "weir.dev/client/injection/informers/networking/v1alpha1/ingress"
	_ "weir.dev/client/injection/informers/networking/v1alpha1/ingress/fake" // for ingressinformer
	serviceinformer "weir.dev/client/injection/informers/serving/v1/service"
	fakeserviceinformer "weir.dev/client/injection/informers/serving/v1/service/fake"
	filteredservices "weir.dev/client/injection/informers/serving/v1/service/filtered"
	fakefilteredservices "weir.dev/client/injection/informers/serving/v1/service/filtered/fake"
	ingressreconciler "weir.dev/client/injection/reconciler/networking/v1alpha1/ingress"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	servinglisters "weir.dev/client/listers/serving/v1"
	"weir.dev/pkg/apis/duck"
	"weir.dev/pkg/client/injection/ducks/duck/v1/addressable"
	fakeaddressable "weir.dev/pkg/client/injection/ducks/duck/v1/addressable/fake"
	"weir.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	_ "weir.dev/pkg/client/injection/ducks/duck/v1/podspecable/fake" // for podspecable
	kubeclient "weir.dev/pkg/client/injection/kube/client"
	_ "weir.dev/pkg/client/injection/kube/client/fake" // for kubeclient
	deploymentinformer "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment"
	_ "weir.dev/pkg/client/injection/kube/informers/apps/v1/deployment/fake" // for deploymentinformer
	kubefactory "weir.dev/pkg/client/injection/kube/informers/factory"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// What is generated for kinds; which marker makes what, and WithInformer of
// disable-informer-init, is in the golden files of pkg/codegen/generator, and
// test/codegen calls the scripts.
var (
	_ = client.Key{}
	_ = addressable.Key{}

	_ func(context.Context) versioned.Interface                                   = client.Get
	_ func(context.Context) *fake.Clientset                                       = fakeclient.Get
	_ func(context.Context, ...runtime.Object) (context.Context, *fake.Clientset) = fakeclient.With
	_ func(context.Context, string) externalversions.SharedInformerFactory        = filteredfactory.Get
	_ func(context.Context, ...string) context.Context                            = filteredfactory.WithSelectors
	_ func(context.Context) duck.InformerFactory                                  = addressable.Get
	_ func(context.Context) context.Context                                       = addressable.WithDuck

	_ servicereconciler.Interface         = (*plain)(nil)
	_ servicereconciler.Finalizer         = (*full)(nil)
	_ servicereconciler.ReadOnlyInterface = (*full)(nil)
	_ reconciler.OnDeletionInterface      = (*full)(nil)

	_ func(context.Context, servicereconciler.Interface, ...controller.OptionsFn) *controller.Impl         = servicereconciler.NewImpl
	_ func(context.Context, ingressreconciler.Interface, string, ...controller.OptionsFn) *controller.Impl = ingressreconciler.NewImpl

	_ func(context.Context, *zap.SugaredLogger, versioned.Interface, servinglisters.ServiceLister, record.EventRecorder,
		servicereconciler.Interface, ...controller.Options) controller.Reconciler = servicereconciler.NewReconciler
)

// plain is a reconciler as authors write them.
type plain struct{ event reconciler.Event }

func (r *plain) ReconcileKind(_ context.Context, o *servingv1.Service) reconciler.Event {
	manager := o.GetConditionSet().Manage(o.GetStatus())
	manager.MarkTrue(servingv1.ServiceConditionConfigurationsReady)
	manager.MarkTrue(servingv1.ServiceConditionRoutesReady)
	return r.event
}

// full is one that is all that a reconciler can be.
type full struct {
	plain
	watcher
	finalEvent reconciler.Event
	finalized  string
	observed   string
}

func (r *full) FinalizeKind(_ context.Context, o *servingv1.Service) reconciler.Event {
	r.finalized = o.Name
	return r.finalEvent
}

func (r *full) ObserveKind(_ context.Context, o *servingv1.Service) reconciler.Event {
	r.observed = o.Name
	return nil
}

type byClass struct{}

func (byClass) ReconcileKind(context.Context, *networkingv1alpha1.Ingress) reconciler.Event {
	return nil
}

// TestAccessors: each gives what its package is for, once a context, and fakes
// give the same.
func TestAccessors(t *testing.T) {
	ctx, cs := fakeclient.With(t.Context(), service("there"))
	ctx = filteredfactory.WithSelectors(ctx, "a=b", "c=d")
	ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})
	for name, same := range map[string]bool{
		"client":        client.Get(ctx) == versioned.Interface(cs) && fakeclient.Get(ctx) == cs,
		"factory":       factory.Get(ctx) == fakefactory.Get(ctx),
		"informer":      serviceinformer.Get(ctx).Informer().GetIndexer() == fakeserviceinformer.Get(ctx).Informer().GetIndexer(),
		"ofFactory":     factory.Get(ctx).Serving().V1().Services().Informer().GetIndexer() == serviceinformer.Get(ctx).Informer().GetIndexer(),
		"filtered":      filteredservices.Get(ctx, "a=b").Informer().GetIndexer() == fakefilteredservices.Get(ctx, "a=b").Informer().GetIndexer(),
		"filteredOwn":   filteredservices.Get(ctx, "a=b").Informer().GetIndexer() != filteredservices.Get(ctx, "c=d").Informer().GetIndexer(),
		"filteredOfAll": filteredfactory.Get(ctx, "a=b") == fakefilteredfactory.Get(ctx, "a=b"),
		"duck":          addressable.Get(ctx) == fakeaddressable.Get(ctx),
		"duckOwn":       podspecable.Get(podspecable.WithDuck(ctx)) != podspecable.Get(ctx),
		"kubernetes":    kubeclient.Get(ctx) == kubeclient.Get(ctx),
		"kubernetesOwn": kubefactory.Get(ctx).Apps().V1().Deployments().Informer().GetIndexer() == deploymentinformer.Get(ctx).Informer().GetIndexer(),
	} {
		if !same {
			t.Error(name)
		}
	}
}

// TestNewImpl: names of queues, options and classes.
func TestNewImpl(t *testing.T) {
	ctx, _ := rtesting.SetupFakeContext(t)
	called := 0
	impl := servicereconciler.NewImpl(ctx, &plain{}, func(impl *controller.Impl) controller.Options {
		called++
		return controller.Options{ConfigStore: store("store"), FinalizerName: "finalizer", AgentName: "agent", Concurrency: 5}
	})
	t.Cleanup(impl.WorkQueue().ShutDown)
	if impl.Name != "weir.dev.test.kit.surface_test.plain" || called != 1 {
		t.Errorf("the queue is %s, options were made %d times", impl.Name, called)
	}
	if impl.Concurrency != 5 {
		t.Errorf("the options' concurrency counts here, got %d", impl.Concurrency)
	}
	two := func(*controller.Impl) controller.Options { return controller.Options{} }
	if !panics(func() { servicereconciler.NewImpl(ctx, &plain{}, two, two) }) {
		t.Error("there is at most one options function")
	}
	classy := ingressreconciler.NewImpl(ctx, byClass{}, "class")
	t.Cleanup(classy.WorkQueue().ShutDown)
	if ingressreconciler.ClassAnnotationKey != "networking.knative.dev/ingress.class" {
		t.Errorf("the class is in %s", ingressreconciler.ClassAnnotationKey)
	}
	if _, ok := classy.Reconciler.(reconciler.LeaderAware); !ok {
		t.Error("what is generated is leader-aware")
	}
	ingress := &networkingv1alpha1.Ingress{}
	ingress.Namespace, ingress.Name = "ns", "other"
	ingress.Annotations = map[string]string{ingressreconciler.ClassAnnotationKey: "other class"}
	if err := ingressinformer.Get(ctx).Informer().GetStore().Add(ingress); err != nil {
		t.Fatal(err)
	}
	row := rtesting.TableRow{Name: "another class", Key: "ns/other"}
	row.Test(t, func(*testing.T, *rtesting.TableRow) (controller.Reconciler, rtesting.ActionRecorderList, rtesting.EventList) {
		return classy.Reconciler, rtesting.ActionRecorderList{fakeclient.Get(ctx)}, rtesting.EventList{Recorder: record.NewFakeRecorder(10)}
	})
}

// TestNotLeading: who does not lead looks on, or does nothing.
func TestNotLeading(t *testing.T) {
	ctx, cs := fakeclient.With(t.Context())
	ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})
	informer := serviceinformer.Get(ctx)
	if err := informer.Informer().GetStore().Add(service("name")); err != nil {
		t.Fatal(err)
	}
	logger, events, looking := zap.NewNop().Sugar(), record.NewFakeRecorder(10), &full{}
	observer := servicereconciler.NewReconciler(ctx, logger, cs, informer.Lister(), events, looking)
	if err := observer.Reconcile(ctx, "ns/name"); err != nil || looking.observed != "name" {
		t.Errorf("observed %q, %v", looking.observed, err)
	}
	if err := observer.Reconcile(ctx, "ns/gone"); err != nil || looking.deleted != key("ns", "gone") {
		t.Errorf("observed the deletion of %v, %v", looking.deleted, err)
	}
	idle := servicereconciler.NewReconciler(ctx, logger, cs, informer.Lister(), events, &plain{})
	if err := idle.Reconcile(ctx, "ns/name"); !controller.IsSkipKey(err) {
		t.Errorf("got %v, want the key skipped", err)
	}
	var writes []string
	for _, action := range cs.Actions() {
		writes = append(writes, action.GetVerb())
	}
	if d := cmp.Diff([]string(nil), writes); d != "" || len(events.Events) != 0 {
		t.Errorf("who does not lead never writes (-want +got):\n%s", d)
	}
}

// TestOptionsOfReconcilers: what options change of a run and of promotions.
func TestOptionsOfReconcilers(t *testing.T) {
	ctx, cs := fakeclient.With(t.Context(), service("name"))
	ctx, _ = injection.Fake.SetupInformers(ctx, &rest.Config{})
	informer := serviceinformer.Get(ctx)
	for _, name := range []string{"name", "unwanted"} {
		if err := informer.Informer().GetStore().Add(service(name)); err != nil {
			t.Fatal(err)
		}
	}
	var promoted, demoted []string
	rec := servicereconciler.NewReconciler(ctx, zap.NewNop().Sugar(), cs, informer.Lister(), record.NewFakeRecorder(10), &full{}, controller.Options{
		ConfigStore:   store("store"),
		FinalizerName: "mine.example.com", UseServerSideApplyForFinalizers: true, FinalizerFieldManager: "manager", ForceApplyFinalizers: true,
		SkipStatusUpdates: true,
		PromoteFilterFunc: reconciler.NameFilterFunc("name"),
		PromoteFunc:       func(b reconciler.Bucket) { promoted = append(promoted, b.Name()) },
		DemoteFunc:        func(b reconciler.Bucket) { demoted = append(demoted, b.Name()) },
	})
	var enqueued []types.NamespacedName
	leader := rec.(reconciler.LeaderAware)
	if err := leader.Promote(reconciler.UniversalBucket(), func(_ reconciler.Bucket, k types.NamespacedName) { enqueued = append(enqueued, k) }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]types.NamespacedName{key("ns", "name")}, enqueued); d != "" {
		t.Errorf("enqueued at the promotion (-want +got):\n%s", d)
	}
	if err := rec.Reconcile(ctx, "ns/name"); err != nil {
		t.Error(err)
	}
	var patches []string
	for _, action := range cs.Actions() {
		switch a := action.(type) {
		case clientgotesting.PatchActionImpl:
			patches = append(patches, string(a.GetPatchType()))
			if !strings.Contains(string(a.GetPatch()), `["mine.example.com"]`) || a.PatchOptions.FieldManager != "manager" || !*a.PatchOptions.Force {
				t.Errorf("the patch is %s, %+v", a.GetPatch(), a.PatchOptions)
			}
		case clientgotesting.UpdateActionImpl:
			t.Errorf("no status is to be written: %v", a.GetObject())
		}
	}
	if d := cmp.Diff([]string{string(types.ApplyPatchType)}, patches); d != "" {
		t.Errorf("patches (-want +got):\n%s", d)
	}
	leader.Demote(reconciler.UniversalBucket())
	if len(promoted) != 1 || len(demoted) != 1 {
		t.Errorf("promoted %v, demoted %v", promoted, demoted)
	}
}
