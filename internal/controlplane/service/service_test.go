// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	v1 "weir.dev/api/serving/v1"
	servicereconciler "weir.dev/client/injection/reconciler/serving/v1/service"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/internal/controlplane/service/follow"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	"weir.dev/pkg/ptr"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// status is a change to a Service.
func status(changes ...func(*v1.ServiceStatus)) func(*v1.Service) {
	return func(svc *v1.Service) {
		svc.Status.ObservedGeneration = svc.Generation
		svc.Status.InitializeConditions()
		for _, change := range changes {
			change(&svc.Status)
		}
	}
}

func url(host string) *apis.URL { return apis.HTTP(host) }

// readyConfiguration says that the named Revision is created and ready.
func readyConfiguration(latest string) func(*v1.Configuration) {
	return func(c *v1.Configuration) {
		c.Status.ObservedGeneration = c.Generation
		c.Status.SetLatestCreatedRevisionName(latest)
		c.Status.SetLatestReadyRevisionName(latest)
	}
}

// readyRoute says that the named Revision is programmed.
func readyRoute(revision string) func(*v1.Route) {
	return func(r *v1.Route) {
		r.Status.ObservedGeneration = r.Generation
		r.Status.URL = url("app.example.com")
		r.Status.Traffic = []v1.TrafficTarget{{RevisionName: revision, LatestRevision: ptr.Bool(true), Percent: ptr.Int64(100)}}
		r.Status.MarkTrafficAssigned()
		r.Status.MarkTLSNotEnabled("off")
		r.Status.Conditions = append(r.Status.Conditions, apis.Condition{Type: v1.RouteConditionIngressReady, Status: "True"})
		r.Status.MarkTrafficAssigned()
	}
}

// fresh is what a child looks like when it is created.
func fresh[T metaObject](obj T) T {
	obj.SetUID("")
	obj.SetGeneration(0)
	return obj
}

type metaObject interface {
	SetUID(uid types.UID)
	SetGeneration(int64)
}

// done are the fields of a Service whose children are ready.
func done(revision string) func(*v1.ServiceStatus) {
	return func(s *v1.ServiceStatus) {
		s.PropagateConfigurationStatus(&fixture.Configuration("app", readyConfiguration(revision)).Status)
		s.PropagateRouteStatus(&fixture.Route("app", readyRoute(revision)).Status)
	}
}

func TestReconcile(t *testing.T) {
	labelled := func(svc *v1.Service) {
		svc.Labels, svc.Annotations = map[string]string{"team": "a"}, map[string]string{
			"note": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}", "serving.knative.dev/rollout-duration": "10s",
		}
	}
	byo := func(svc *v1.Service) { svc.Spec.Template.Name = "app-mine" }
	byoConfig := func(c *v1.Configuration) { c.Spec.Template.Name = "app-mine" }
	stranger := func(rev *v1.Revision) { rev.Name, rev.OwnerReferences = "app-mine", nil }

	table := rtesting.TableTest{{
		Name: "no such Service",
		Key:  "ns/nothing",
	}, {
		Name:    "new: both children are made",
		Key:     "ns/app",
		Objects: []runtime.Object{fixture.Service("app", labelled)},
		WantCreates: []runtime.Object{
			fresh(fixture.Configuration("app", func(c *v1.Configuration) {
				c.Labels["team"], c.Annotations["note"] = "a", "x"
			})),
			fresh(fixture.Route("app", func(r *v1.Route) {
				r.Labels["team"] = "a"
				r.Annotations = map[string]string{"note": "x", "serving.knative.dev/rollout-duration": "10s"}
			})),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", labelled, status(func(s *v1.ServiceStatus) {
				s.MarkConfigurationNotReconciled()
				s.MarkRouteNotReconciled()
			})),
		}},
		WantEvents: []string{
			rtesting.Eventf("Normal", "Created", "Created Configuration %q", "app"),
			rtesting.Eventf("Normal", "Created", "Created Route %q", "app"),
		},
	}, {
		Name: "ready: statuses are mirrored",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app"), fixture.Configuration("app", readyConfiguration("app-00001")),
			fixture.Route("app", readyRoute("app-00001")),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{Object: fixture.Service("app", status(done("app-00001")))}},
	}, {
		Name: "nothing changed: nothing is written",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))), fixture.Configuration("app", readyConfiguration("app-00001")),
			fixture.Route("app", readyRoute("app-00001")),
		},
	}, {
		Name: "changed by hand: children are as the Service says, again",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001"), func(c *v1.Configuration) {
				c.Labels["extra"] = "x"
				c.Annotations["serving.knative.dev/routes"] = "other"
			}),
			fixture.Route("app", readyRoute("app-00001"), func(r *v1.Route) { r.Spec.Traffic[0].Percent = ptr.Int64(50) }),
		},
		WantUpdates: []clientgotesting.UpdateActionImpl{
			{Object: fixture.Configuration("app", readyConfiguration("app-00001"), func(c *v1.Configuration) {
				c.Annotations["serving.knative.dev/routes"] = "app,other"
			})},
			{Object: fixture.Route("app", readyRoute("app-00001"))},
		},
	}, {
		Name: "Configuration behind",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001"), func(c *v1.Configuration) { c.Generation = 2 }),
			fixture.Route("app", readyRoute("app-00001")),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) { s.MarkConfigurationNotReconciled() })),
		}},
	}, {
		Name: "Route behind",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))), fixture.Configuration("app", readyConfiguration("app-00001")),
			fixture.Route("app", readyRoute("app-00001"), func(r *v1.Route) { r.Generation = 2 }),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) { s.MarkRouteNotReconciled() })),
		}},
	}, {
		Name: "Route ready with the Revision before",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))), fixture.Configuration("app", readyConfiguration("app-00002")),
			fixture.Route("app", readyRoute("app-00001")),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) {
				s.LatestCreatedRevisionName, s.LatestReadyRevisionName = "app-00002", "app-00002"
				s.MarkRouteNotYetReady()
			})),
		}},
	}, {
		Name: "failed Configuration",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001"), func(c *v1.Configuration) {
				c.Status.MarkLatestCreatedFailed("app-00001", "boom")
			}),
			fixture.Route("app", readyRoute("app-00001")),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) {
				c := fixture.Configuration("app", readyConfiguration("app-00001"))
				c.Status.MarkLatestCreatedFailed("app-00001", "boom")
				s.PropagateConfigurationStatus(&c.Status)
			})),
		}},
	}, {
		Name: "failed Configuration, and a Route that therefore has nothing to lead to: Ready names the cause",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001"), func(c *v1.Configuration) {
				c.Status.MarkLatestCreatedFailed("app-00001", "boom")
			}),
			fixture.Route("app", readyRoute("app-00001"), func(r *v1.Route) { r.Status.MarkConfigurationFailed("app") }),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) {
				c := fixture.Configuration("app", readyConfiguration("app-00001"))
				c.Status.MarkLatestCreatedFailed("app-00001", "boom")
				r := fixture.Route("app", readyRoute("app-00001"))
				r.Status.MarkConfigurationFailed("app")
				s.PropagateRouteStatus(&r.Status)
				s.PropagateConfigurationStatus(&c.Status)
				if ready := s.GetCondition("Ready"); !strings.Contains(ready.Message, "boom") {
					t.Fatalf("Ready says %q", ready.Message)
				}
			})),
		}},
	}, {
		Name: "somebody else's Configuration is left alone",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app"), fixture.Configuration("app", func(c *v1.Configuration) { c.OwnerReferences = nil }),
		},
		WantErr: true,
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(func(s *v1.ServiceStatus) { s.MarkConfigurationNotOwned("app") })),
		}},
		WantEvents: []string{rtesting.Eventf("Warning", "InternalError", "Service \"app\" does not own Configuration \"app\"")},
	}, {
		Name: "somebody else's Route is left alone",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))), fixture.Configuration("app", readyConfiguration("app-00001")),
			fixture.Route("app", func(r *v1.Route) { r.OwnerReferences = nil }),
		},
		WantErr: true,
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(done("app-00001"), func(s *v1.ServiceStatus) { s.MarkRouteNotOwned("app") })),
		}},
		WantEvents: []string{rtesting.Eventf("Warning", "InternalError", "Service \"app\" does not own Route \"app\"")},
	}, {
		Name: "revision name taken: the Route is left alone",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", byo), fixture.Configuration("app", byoConfig, readyConfiguration("app-00001")),
			fixture.Revision("app", 7, stranger),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", byo, status(func(s *v1.ServiceStatus) {
				s.PropagateConfigurationStatus(&fixture.Configuration("app", readyConfiguration("app-00001")).Status)
				s.MarkRevisionNameTaken("app-mine")
			})),
		}},
	}, {
		Name: "revision named, Configuration behind: the Route waits",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", byo), fixture.Configuration("app", byoConfig),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", byo, status(func(s *v1.ServiceStatus) { s.MarkConfigurationNotReconciled() })),
		}},
	}, {
		Name:         "creation refused",
		Key:          "ns/app",
		Objects:      []runtime.Object{fixture.Service("app")},
		WithReactors: []clientgotesting.ReactionFunc{rtesting.InduceFailure("create", "configurations")},
		WantErr:      true,
		WantCreates:  []runtime.Object{fresh(fixture.Configuration("app"))},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Service("app", status(), func(svc *v1.Service) {
				ready := svc.Status.GetCondition("Ready")
				ready.Reason, ready.Message = "NewObservedGenFailure", "unsuccessfully observed a new generation"
				svc.GetConditionSet().Manage(&svc.Status).SetCondition(*ready)
			}),
		}},
		WantEvents: []string{
			rtesting.Eventf("Warning", "CreationFailed", "Failed to create Configuration %q: inducing failure for create configurations", "app"),
			rtesting.Eventf("Warning", "InternalError", "creating Configuration %q: inducing failure for create configurations", "app"),
		},
	}}
	table.Test(t, factory(follower{}))
}

// follower answers the same for each Service.
type follower follow.Stamps

func (f follower) Stamps(_ context.Context, _ *v1.Service, _ *v1.Configuration, latest *v1.Revision) follow.Stamps {
	if latest == nil {
		f.Annotations = nil
	}
	return follow.Stamps(f)
}

func (f follower) OnDone(func(types.NamespacedName)) {}

func factory(f follower) rtesting.Factory {
	return fixture.Factory(func(t *testing.T, w *fixture.World) controller.Reconciler {
		return servicereconciler.NewReconciler(t.Context(), logtesting.TestLogger(t), w.Client, w.Services(), w.Recorder, &Reconciler{
			client: w.Client, configurations: w.Configurations(), routes: w.Routes(), revisions: w.Revisions(), follow: f,
		})
	})
}

// What the template is stamped with is in the Configuration only, and the Service is looked at again without an error.
func TestFollow(t *testing.T) {
	stamped := func(c *v1.Configuration) {
		c.Spec.Template.Annotations = map[string]string{"weir.dev/config-hash": "abc"}
	}
	f := follower{Annotations: map[string]string{"weir.dev/config-hash": "abc"}, Again: time.Minute, Problems: []string{"it"}}
	problem := rtesting.Eventf("Warning", "FollowFailed", "Cannot look up it")
	ready := fixture.Revision("app", 1, fixture.ReadyRevision)
	table := rtesting.TableTest{{
		Name: "changed",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001")), fixture.Route("app", readyRoute("app-00001")), ready,
		},
		WantUpdates: []clientgotesting.UpdateActionImpl{{Object: fixture.Configuration("app", readyConfiguration("app-00001"), stamped)}},
		WantErr:     true, // asks for another run
		WantEvents:  []string{problem},
	}, {
		Name: "stamped already: nothing changed, nothing is written",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Service("app", status(done("app-00001"))),
			fixture.Configuration("app", readyConfiguration("app-00001"), stamped), fixture.Route("app", readyRoute("app-00001")), ready,
		},
		WantErr:    true,
		WantEvents: []string{problem},
	}}
	table.Test(t, factory(f))
}

func TestShares(t *testing.T) {
	pinned := func(revision, tag string, percent int64) v1.TrafficTarget {
		return v1.TrafficTarget{RevisionName: revision, Tag: tag, Percent: ptr.Int64(percent)}
	}
	tests := map[string]struct {
		reason       string
		spec, status []v1.TrafficTarget
		want         bool
	}{
		"latest":     {"what follows the Configuration is at its latest", []v1.TrafficTarget{{ConfigurationName: "app", Percent: ptr.Int64(100)}}, []v1.TrafficTarget{pinned("r2", "", 100)}, true},
		"behind":     {"the Revision before", []v1.TrafficTarget{{ConfigurationName: "app", Percent: ptr.Int64(100)}}, []v1.TrafficTarget{pinned("r1", "", 100)}, false},
		"merged":     {"equal targets are programmed as one", []v1.TrafficTarget{pinned("r1", "", 50), pinned("r1", "", 50)}, []v1.TrafficTarget{pinned("r1", "", 100)}, true},
		"no percent": {"is none", []v1.TrafficTarget{{RevisionName: "r1", Tag: "a"}}, []v1.TrafficTarget{pinned("r1", "a", 0)}, true},
		"tag":        {"counts", []v1.TrafficTarget{pinned("r1", "a", 0)}, []v1.TrafficTarget{pinned("r1", "b", 0)}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			route := fixture.Route("app", func(r *v1.Route) { r.Spec.Traffic, r.Status.Traffic = tc.spec, tc.status })
			if got := migrated(route, "r2"); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
