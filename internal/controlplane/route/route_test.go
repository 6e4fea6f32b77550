// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	v1 "weir.dev/api/serving/v1"
	routereconciler "weir.dev/client/injection/reconciler/serving/v1/route"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/internal/controlplane/route/desired"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/internal/controlplane/route/referrers"
	"weir.dev/internal/controlplane/route/traffic"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/ptr"
	"weir.dev/pkg/reconciler"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// settings is a store of a public domain on a port of its own.
type settings struct{}

func (settings) ToContext(ctx context.Context) context.Context {
	return config.ToContext(ctx, operator())
}

func operator() *config.Config {
	c := config.Default()
	c.Network, _ = config.NewNetwork(&corev1.ConfigMap{Data: map[string]string{"external-http-port": "8080"}})
	c.Domain, _ = config.NewDomain(&corev1.ConfigMap{Data: map[string]string{"example.com": ""}})
	return c
}

var _ reconciler.ConfigStore = settings{}

// route is one with its finalizer, reconciled before.
func route(changes ...func(*v1.Route)) *v1.Route {
	return fixture.Route("app", append([]func(*v1.Route){func(r *v1.Route) {
		r.Finalizers = []string{"routes.serving.knative.dev"}
		r.Status.ObservedGeneration = r.Generation
		r.Status.InitializeConditions()
	}}, changes...)...)
}

// pinned is a Route to the first Revision whatever comes later.
func pinned(change func(*v1.Route)) *v1.Route {
	return route(change, func(r *v1.Route) {
		r.Spec.Traffic = []v1.TrafficTarget{{RevisionName: "app-00001", LatestRevision: ptr.Bool(false), Percent: ptr.Int64(100)}}
		r.Status.Traffic[0].LatestRevision = ptr.Bool(false)
	})
}

// addressed says where the Route is.
func addressed(r *v1.Route) {
	namer := hosts.New(operator(), r, nil)
	names, err := namer.Group("")
	if err != nil {
		panic(err)
	}
	r.Status.URL = names.URL
	r.Status.Address = &duckv1.Addressable{URL: namer.Address()}
}

// programmed says that the latest Revision is programmed and nothing more.
func programmed(r *v1.Route) {
	addressed(r)
	r.Status.MarkTrafficAssigned()
	r.Status.MarkTLSNotEnabled(v1.ExternalDomainTLSNotEnabledMessage)
	r.Status.MarkIngressNotConfigured()
	r.Status.Traffic = []v1.TrafficTarget{{RevisionName: "app-00001", LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
}

// served says that gateways serve it.
func served(r *v1.Route) {
	programmed(r)
	r.Status.PropagateIngressStatus(ingress(fixture.ReadyIngress).Status)
}

// plan is the meaning of following a Configuration whose latest Revision is named.
func plan(revision string) *traffic.Plan {
	t := traffic.Target{RevisionName: revision, ConfigurationName: "app", LatestRevision: true, Percent: 100, Protocol: "http1"}
	return &traffic.Plan{Targets: []traffic.Target{t}, Groups: map[string][]traffic.Target{"": {t}}}
}

func names() map[string]hosts.Names {
	n, err := hosts.New(operator(), fixture.Route("app"), nil).Group("")
	if err != nil {
		panic(err)
	}
	return map[string]hosts.Names{"": n}
}

// ingress is route's for its first Revision.
func ingress(changes ...func(*netv1alpha1.Ingress)) *netv1alpha1.Ingress {
	return ingressTo("app-00001", changes...)
}

func ingressTo(revision string, changes ...func(*netv1alpha1.Ingress)) *netv1alpha1.Ingress {
	ing, err := desired.Ingress(fixture.Route("app"), operator().Network, plan(revision), names(), nil)
	if err != nil {
		panic(err)
	}
	ing.CreationTimestamp = metav1.NewTime(fixture.Now)
	for _, change := range changes {
		change(ing)
	}
	return ing
}

// existing is what an Ingress looks like that was there before.
func existing(ing *netv1alpha1.Ingress) { ing.Generation = 1 }

// born is what an object looks like that is created.
func born(ing *netv1alpha1.Ingress) { ing.CreationTimestamp = metav1.Time{} }

// placeholder is route's k8s Service.
func placeholder(entry *netv1alpha1.LoadBalancerIngressStatus) *corev1.Service {
	svc, err := desired.Service(fixture.Route("app"), names()[""], nil, entry)
	if err != nil {
		panic(err)
	}
	return svc
}

func private() *netv1alpha1.LoadBalancerIngressStatus {
	return &netv1alpha1.LoadBalancerIngressStatus{DomainInternal: "private.svc"}
}

func readyConfiguration(latest string) *v1.Configuration {
	return fixture.Configuration("app", func(c *v1.Configuration) {
		c.Status.ObservedGeneration = 1
		c.Status.SetLatestCreatedRevisionName(latest)
		c.Status.SetLatestReadyRevisionName(latest)
	})
}

func unrouted(rev *v1.Revision) {
	delete(rev.Annotations, "serving.knative.dev/routes")
	rev.SetRoutingState(v1.RoutingStatePending, fixture.Now)
}

func patch(kind, name, text string) clientgotesting.PatchActionImpl {
	p := clientgotesting.PatchActionImpl{Name: name, Patch: []byte(text)}
	p.Namespace, p.Resource.Resource = "ns", kind
	return p
}

func factory(changes ...func(*Reconciler)) rtesting.Factory {
	return fixture.Factory(func(t *testing.T, w *fixture.World) controller.Reconciler {
		refers := func(key types.NamespacedName, meta metav1.ObjectMeta) bool {
			return meta.Namespace == key.Namespace && slices.Contains(referrers.Names(meta.Annotations), key.Name)
		}
		r := &Reconciler{
			kube: w.Kube, client: w.Client, configurations: w.Configurations(), revisions: w.Revisions(),
			ingresses: w.Ingresses(), services: w.KubeServices(), tracker: &rtesting.FakeTracker{}, now: func() time.Time { return fixture.Now },
			claimants: func(host string) ([]*netv1alpha1.Ingress, error) {
				all, err := w.Ingresses().List(labels.Everything())
				return slices.DeleteFunc(all, func(ing *netv1alpha1.Ingress) bool {
					hosts, _ := hostsOf(ing)
					return !slices.Contains(hosts, host)
				}), err
			},
			referrers: &referrers.Writer{
				Client: w.Client, Revisions: w.Revisions(), Configurations: w.Configurations(),
				ReferredRevisions: func(key types.NamespacedName) ([]*v1.Revision, error) {
					all, err := w.Revisions().List(labels.Everything())
					return slices.DeleteFunc(all, func(rev *v1.Revision) bool { return !refers(key, rev.ObjectMeta) }), err
				},
				ReferredConfigurations: func(key types.NamespacedName) ([]*v1.Configuration, error) {
					all, err := w.Configurations().List(labels.Everything())
					return slices.DeleteFunc(all, func(c *v1.Configuration) bool { return !refers(key, c.ObjectMeta) }), err
				},
				Now: func() time.Time { return fixture.Now },
			},
		}
		for _, change := range changes {
			change(r)
		}
		return routereconciler.NewReconciler(t.Context(), logtesting.TestLogger(t), w.Client, w.Routes(), w.Recorder, r,
			controller.Options{ConfigStore: settings{}})
	})
}

func updates(objects ...runtime.Object) []clientgotesting.UpdateActionImpl {
	all := make([]clientgotesting.UpdateActionImpl, 0, len(objects))
	for _, o := range objects {
		all = append(all, clientgotesting.UpdateActionImpl{Object: o})
	}
	return all
}

func TestReconcile(t *testing.T) {
	createdEvents := []string{
		rtesting.Eventf("Normal", "Created", "Created placeholder service %q", "app"),
		rtesting.Eventf("Normal", "Created", "Created Ingress %q", "app"),
	}
	first := fixture.Revision("app", 1, fixture.ReadyRevision)
	second := fixture.Revision("app", 2, fixture.ReadyRevision)
	older := ingress(existing, func(ing *netv1alpha1.Ingress) {
		ing.Namespace, ing.Name = "other", "taken"
		ing.Labels = map[string]string{"serving.knative.dev/route": "theirs"}
		ing.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-time.Hour))
	})
	conflict := func(r *v1.Route) { r.Status.MarkHostConflict("app.ns", "other/theirs") }
	const activate = `{"metadata":{"annotations":{"serving.knative.dev/routes":"app","serving.knative.dev/routingStateModified":"2026-01-01T12:00:00Z"},` +
		`"labels":{"serving.knative.dev/routingState":"active"},"resourceVersion":""}}`
	const reserve = `{"metadata":{"annotations":{"serving.knative.dev/routes":null,"serving.knative.dev/routingStateModified":"2026-01-01T12:00:00Z"},` +
		`"labels":{"serving.knative.dev/routingState":"reserve"},"resourceVersion":""}}`

	rtesting.TableTest{{
		Name:              "latest Revision ready: programmed",
		Key:               "ns/app",
		Objects:           []runtime.Object{route(), readyConfiguration("app-00001"), first},
		WantCreates:       []runtime.Object{placeholder(nil), ingress(born)},
		WantStatusUpdates: updates(route(programmed)),
		WantEvents:        createdEvents,
	}, {
		Name:              "no Revision ready yet: waiting",
		Key:               "ns/app",
		Objects:           []runtime.Object{route(), fixture.Configuration("app"), fixture.Revision("app", 1)},
		WantStatusUpdates: updates(route(addressed, func(r *v1.Route) { r.Status.MarkConfigurationNotReady("app") })),
	}, {
		Name:              "gateways serve it: ready, and the name inside the cluster leads there",
		Key:               "ns/app",
		Objects:           []runtime.Object{route(programmed), readyConfiguration("app-00001"), first, placeholder(nil), ingress(existing, fixture.ReadyIngress)},
		WantUpdates:       updates(placeholder(private())),
		WantStatusUpdates: updates(route(served)),
	}, {
		Name:    "served: nothing changed, nothing is written",
		Key:     "ns/app",
		Objects: []runtime.Object{route(served), readyConfiguration("app-00001"), first, placeholder(private()), ingress(existing, fixture.ReadyIngress)},
	}, {
		Name: "next Revision ready: the Ingress follows",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00002"), first, second, placeholder(private()), ingress(existing, fixture.ReadyIngress),
		},
		WantUpdates:       updates(ingressTo("app-00002", existing, fixture.ReadyIngress)),
		WantStatusUpdates: updates(route(served, func(r *v1.Route) { r.Status.Traffic[0].RevisionName = "app-00002" })),
	}, {
		Name: "the Revision before is led to no longer: told when the new one is in place",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served, func(r *v1.Route) { r.Status.Traffic[0].RevisionName = "app-00002" }),
			readyConfiguration("app-00002"), first, second, placeholder(private()), ingressTo("app-00002", existing, fixture.ReadyIngress),
		},
		WantPatches: []clientgotesting.PatchActionImpl{patch("revisions", "app-00001", reserve)},
	}, {
		Name: "traffic pinned to an older Revision: the Service's Configuration still says that the Route leads to it",
		Key:  "ns/app",
		Objects: []runtime.Object{
			pinned(served), readyConfiguration("app-00002"), first, second, placeholder(private()), ingress(existing, fixture.ReadyIngress),
		},
		WantPatches: []clientgotesting.PatchActionImpl{patch("revisions", "app-00002", reserve)},
	}, {
		Name: "a Revision that was not led to: told first",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00001"), fixture.Revision("app", 1, unrouted, fixture.ReadyRevision),
			placeholder(private()), ingress(existing, fixture.ReadyIngress),
		},
		WantPatches: []clientgotesting.PatchActionImpl{patch("revisions", "app-00001", activate)},
	}, {
		Name: "the Revision failed: what is programmed stays",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00001"), fixture.Revision("app", 1, fixture.FailedRevision),
			placeholder(private()), ingress(existing, fixture.ReadyIngress),
		},
		WantStatusUpdates: updates(route(served, func(r *v1.Route) { r.Status.MarkRevisionFailed("app-00001") })),
	}, {
		Name: "the Ingress is of another generation: not configured",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00001"), first, placeholder(private()),
			ingress(existing, fixture.ReadyIngress, func(ing *netv1alpha1.Ingress) { ing.Generation = 2 }),
		},
		WantStatusUpdates: updates(route(served, func(r *v1.Route) { r.Status.MarkIngressNotConfigured() })),
	}, {
		Name:        "an older Route has a host: nothing is programmed",
		Key:         "ns/app",
		Objects:     []runtime.Object{route(), readyConfiguration("app-00001"), first, older},
		WantCreates: []runtime.Object{placeholder(nil)},
		WantStatusUpdates: updates(route(addressed, func(r *v1.Route) {
			r.Status.MarkTrafficAssigned()
			r.Status.MarkTLSNotEnabled(v1.ExternalDomainTLSNotEnabledMessage)
		}, conflict)),
		WantEvents: createdEvents[:1],
	}, {
		Name: "a younger Route wants a host of ours: nothing to us",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00001"), first, placeholder(private()), ingress(existing, fixture.ReadyIngress),
			func() runtime.Object {
				younger := older.DeepCopy()
				younger.CreationTimestamp = metav1.NewTime(fixture.Now.Add(time.Hour))
				return younger
			}(),
		},
	}, {
		Name: "a tag is gone: so is its name",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(served), readyConfiguration("app-00001"), first, placeholder(private()), ingress(existing, fixture.ReadyIngress),
			func() runtime.Object {
				tag := placeholder(private())
				tag.Name = "blue-app"
				return tag
			}(),
		},
		WantDeletes: []clientgotesting.DeleteActionImpl{func() clientgotesting.DeleteActionImpl {
			d := clientgotesting.DeleteActionImpl{Name: "blue-app"}
			d.Namespace, d.Resource.Resource = "ns", "services"
			return d
		}()},
	}, {
		Name: "somebody else's k8s Service is left alone",
		Key:  "ns/app",
		Objects: []runtime.Object{route(), readyConfiguration("app-00001"), first, func() runtime.Object {
			svc := placeholder(nil)
			svc.OwnerReferences = nil
			return svc
		}()},
		WantErr: true,
		WantStatusUpdates: updates(route(addressed, func(r *v1.Route) {
			r.Status.MarkTrafficAssigned()
			r.Status.MarkServiceNotOwned("app")
		})),
		WantEvents: []string{rtesting.Eventf("Warning", "InternalError", "Route %q does not own Service %q", "app", "app")},
	}, {
		Name: "another Route has our name: it has the host",
		Key:  "ns/app",
		Objects: []runtime.Object{route(), readyConfiguration("app-00001"), first, func() runtime.Object {
			svc := placeholder(nil)
			svc.OwnerReferences[0].Name, svc.OwnerReferences[0].UID = "theirs", "theirs"
			return svc
		}()},
		WantStatusUpdates: updates(route(addressed, func(r *v1.Route) {
			r.Status.MarkTrafficAssigned()
			r.Status.MarkHostConflict("app.ns.example.com", "ns/theirs")
		})),
	}, {
		Name: "somebody else's Ingress is left alone",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(), readyConfiguration("app-00001"), first, placeholder(nil), ingress(func(ing *netv1alpha1.Ingress) { ing.OwnerReferences = nil }),
		},
		WantErr: true,
		WantStatusUpdates: updates(route(addressed, func(r *v1.Route) {
			r.Status.MarkTrafficAssigned()
			r.Status.MarkTLSNotEnabled(v1.ExternalDomainTLSNotEnabledMessage)
			r.Status.MarkIngressNotOwned("app")
		})),
		WantEvents: []string{rtesting.Eventf("Warning", "InternalError", "Route %q does not own Ingress %q", "app", "app")},
	}, {
		Name: "deleted: nothing is led to by it any more",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(func(r *v1.Route) { r.DeletionTimestamp = &metav1.Time{Time: fixture.Now} }), readyConfiguration("app-00001"), first,
			fixture.Configuration("bare", func(c *v1.Configuration) {
				c.Labels, c.Annotations = nil, map[string]string{"serving.knative.dev/routes": "app,other"}
			}),
		},
		WantPatches: []clientgotesting.PatchActionImpl{
			patch("revisions", "app-00001", reserve),
			patch("configurations", "bare", `{"metadata":{"annotations":{"serving.knative.dev/routes":"other"},"resourceVersion":""}}`),
			patch("routes", "app", `{"metadata":{"finalizers":[],"resourceVersion":""}}`),
		},
		WantEvents: []string{rtesting.Eventf("Normal", "FinalizerUpdate", "Updated %q finalizers", "app")},
	}}.Test(t, factory())
}

// A new Service leads where the one before did, so that it need not be written twice.
func TestPlaceholderLeadsWhereOthersDo(t *testing.T) {
	rtesting.TableTest{{
		Name: "another Route of the class is served",
		Key:  "ns/app",
		Objects: []runtime.Object{
			route(), readyConfiguration("app-00001"), fixture.Revision("app", 1, fixture.ReadyRevision),
		},
		WantCreates:       []runtime.Object{placeholder(private()), ingress(born)},
		WantStatusUpdates: updates(route(programmed)),
		WantEvents: []string{
			rtesting.Eventf("Normal", "Created", "Created placeholder service %q", "app"),
			rtesting.Eventf("Normal", "Created", "Created Ingress %q", "app"),
		},
	}}.Test(t, factory(func(r *Reconciler) { r.entries.learn("weir.ingress.networking.knative.dev", private()) }))
}
