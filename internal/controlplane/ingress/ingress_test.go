// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/api/networking"
	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	ingressreconciler "weir.dev/client/injection/reconciler/networking/v1alpha1/ingress"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// gateways serve everything or nothing.
type gateways bool

func (g gateways) Served(string, string, types.UID, int64) bool { return bool(g) }
func (gateways) OnServed(func(types.NamespacedName))            {}

func ingress(changes ...func(*netv1alpha1.Ingress)) *netv1alpha1.Ingress {
	ing := &netv1alpha1.Ingress{ObjectMeta: fixture.Meta("app")}
	ing.Annotations = map[string]string{networking.IngressClassAnnotationKey: networking.WeirIngressClassName}
	ing.SetDefaults(context.Background())
	for _, change := range changes {
		change(ing)
	}
	return ing
}

func observed(ing *netv1alpha1.Ingress) {
	ing.Status.ObservedGeneration = ing.Generation
	ing.Status.InitializeConditions()
}

func served(ing *netv1alpha1.Ingress) {
	observed(ing)
	ing.Status.MarkNetworkConfigured()
	ing.Status.MarkLoadBalancerReady(at("public.svc"), at("private.svc"))
}

func waiting(ing *netv1alpha1.Ingress) {
	observed(ing)
	ing.Status.MarkLoadBalancerNotReady()
}

// since sets when the Ingress began to wait.
func since(ago time.Duration) func(*netv1alpha1.Ingress) {
	return func(ing *netv1alpha1.Ingress) {
		for i := range ing.Status.Conditions {
			ing.Status.Conditions[i].LastTransitionTime = apis.VolatileTime{Inner: metav1.NewTime(fixture.Now.Add(-ago))}
		}
	}
}

func late(ing *netv1alpha1.Ingress) {
	waiting(ing)
	ing.Status.MarkLoadBalancerFailed(ReasonNotServed, "Not all gateways, or none, took up the Ingress within 10m0s.")
}

func second(ing *netv1alpha1.Ingress) { ing.Generation = 2 }

func factory(g gateways) rtesting.Factory {
	return fixture.Factory(func(t *testing.T, w *fixture.World) controller.Reconciler {
		return ingressreconciler.NewReconciler(t.Context(), logtesting.TestLogger(t), w.Client, w.Ingresses(), w.Recorder,
			&Reconciler{gateways: g, public: "public.svc", private: "private.svc", now: func() time.Time { return fixture.Now }},
			networking.WeirIngressClassName)
	})
}

func updates(objects ...runtime.Object) []clientgotesting.UpdateActionImpl {
	all := make([]clientgotesting.UpdateActionImpl, 0, len(objects))
	for _, o := range objects {
		all = append(all, clientgotesting.UpdateActionImpl{Object: o})
	}
	return all
}

func TestServed(t *testing.T) {
	rtesting.TableTest{{
		Name:              "ready",
		Key:               "ns/app",
		Objects:           []runtime.Object{ingress(waiting)},
		WantStatusUpdates: updates(ingress(served)),
	}, {
		Name:    "nothing changed: nothing is written",
		Key:     "ns/app",
		Objects: []runtime.Object{ingress(served)},
	}, {
		Name:              "a failure ends",
		Key:               "ns/app",
		Objects:           []runtime.Object{ingress(late)},
		WantStatusUpdates: updates(ingress(served)),
	}, {
		Name: "another class is not ours",
		Key:  "ns/app",
		Objects: []runtime.Object{ingress(func(ing *netv1alpha1.Ingress) {
			ing.Annotations[networking.IngressClassAnnotationKey] = "other"
		})},
	}}.Test(t, factory(true))
}

func TestNotServed(t *testing.T) {
	rtesting.TableTest{{
		Name:              "new: waiting, and looked at again at the deadline",
		Key:               "ns/app",
		Objects:           []runtime.Object{ingress()},
		WantErr:           true,
		WantStatusUpdates: updates(ingress(waiting)),
	}, {
		Name:    "waiting: nothing changed, nothing is written",
		Key:     "ns/app",
		Objects: []runtime.Object{ingress(waiting, since(time.Minute))},
		WantErr: true,
	}, {
		Name:              "waited long enough: every Unknown ends",
		Key:               "ns/app",
		Objects:           []runtime.Object{ingress(waiting, since(10*time.Minute))},
		WantStatusUpdates: updates(ingress(late)),
	}, {
		Name:    "failed: nothing changed, nothing is written",
		Key:     "ns/app",
		Objects: []runtime.Object{ingress(late)},
	}, {
		Name:    "served once, a gateway starts: still ready",
		Key:     "ns/app",
		Objects: []runtime.Object{ingress(served)},
	}, {
		Name:    "the next generation waits",
		Key:     "ns/app",
		Objects: []runtime.Object{ingress(served, second)},
		WantErr: true,
		WantStatusUpdates: updates(ingress(served, second, func(ing *netv1alpha1.Ingress) {
			ing.Status.ObservedGeneration = 2
			ing.Status.MarkLoadBalancerNotReady()
		})),
	}}.Test(t, factory(false))
}
