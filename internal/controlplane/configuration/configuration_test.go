// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"testing"
	"time"

	apierrs "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	configurationreconciler "weir.dev/client/injection/reconciler/serving/v1/configuration"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/pkg/controller"
	logtesting "weir.dev/pkg/logging/testing"
	rtesting "weir.dev/pkg/reconciler/testing"
)

// status is a change to a Configuration.
func status(changes ...func(*v1.ConfigurationStatus)) func(*v1.Configuration) {
	return func(c *v1.Configuration) {
		c.Status.ObservedGeneration = c.Generation
		c.Status.InitializeConditions()
		for _, change := range changes {
			change(&c.Status)
		}
	}
}

func created(name string) func(*v1.ConfigurationStatus) {
	return func(s *v1.ConfigurationStatus) { s.SetLatestCreatedRevisionName(name) }
}

func ready(name string) func(*v1.ConfigurationStatus) {
	return func(s *v1.ConfigurationStatus) { s.SetLatestReadyRevisionName(name) }
}

func generation(n int64) func(*v1.Configuration) {
	return func(c *v1.Configuration) { c.Generation = n }
}

// born is what a Revision looks like when it is created.
func born(rev *v1.Revision) {
	rev.UID, rev.Generation = "", 0
}

func byo(name string) func(*v1.Configuration) {
	return func(c *v1.Configuration) { c.Spec.Template.Name = name }
}

func named(name string) func(*v1.Revision) {
	return func(rev *v1.Revision) { rev.Name = name }
}

func TestReconcile(t *testing.T) {
	conflict := apierrs.NewAlreadyExists(serving.Resource("revisions"), "app-mine").Error()
	leftBehind := func(revision string) func(*v1.ConfigurationStatus) {
		return func(s *v1.ConfigurationStatus) {
			s.MarkLatestCreatedWaiting(revision, "WaitingForDeletion", "the one of an earlier Configuration is about to be deleted.")
		}
	}
	createdEvent := rtesting.Eventf("Normal", "Created", "Created Revision %q", "app-00001")
	readyEvents := func(name string) []string {
		return []string{
			rtesting.Eventf("Normal", "ConfigurationReady", "Configuration becomes ready"),
			rtesting.Eventf("Normal", "LatestReadyUpdate", "LatestReadyRevisionName updated to %q", name),
		}
	}
	table := rtesting.TableTest{{
		Name:        "first generation",
		Key:         "ns/app",
		Objects:     []runtime.Object{fixture.Configuration("app")},
		WantCreates: []runtime.Object{fixture.Revision("app", 1, born)},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", status(created("app-00001"))),
		}},
		WantEvents: []string{createdEvent},
	}, {
		Name: "no Route leads here: the Revision is born unrouted",
		Key:  "ns/app",
		Objects: []runtime.Object{fixture.Configuration("app", func(c *v1.Configuration) {
			c.Annotations = map[string]string{"serving.knative.dev/lastModifier": "me", "mine": "stays here"}
			c.Labels["mine"] = "stays here"
			c.Spec.Template.Labels, c.Spec.Template.Annotations = map[string]string{"theirs": "x"}, map[string]string{"theirs": "y"}
		})},
		WantCreates: []runtime.Object{fixture.Revision("app", 1, born, func(rev *v1.Revision) {
			delete(rev.Annotations, "serving.knative.dev/routes")
			rev.SetRoutingState(v1.RoutingStatePending, fixture.Now)
			rev.Labels["theirs"], rev.Annotations["theirs"], rev.Annotations["serving.knative.dev/creator"] = "x", "y", "me"
		})},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", func(c *v1.Configuration) {
				c.Annotations = map[string]string{"serving.knative.dev/lastModifier": "me", "mine": "stays here"}
				c.Labels["mine"] = "stays here"
				c.Spec.Template.Labels, c.Spec.Template.Annotations = map[string]string{"theirs": "x"}, map[string]string{"theirs": "y"}
			}, status(created("app-00001"))),
		}},
		WantEvents: []string{createdEvent},
	}, {
		Name: "creation refused",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app"),
		},
		WithReactors: []clientgotesting.ReactionFunc{rtesting.InduceFailure("create", "revisions")},
		WantErr:      true,
		WantCreates:  []runtime.Object{fixture.Revision("app", 1, born)},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", status(func(s *v1.ConfigurationStatus) {
				s.MarkRevisionCreationFailed("inducing failure for create revisions")
			})),
		}},
		WantEvents: []string{
			rtesting.Eventf("Warning", "CreationFailed", "Failed to create Revision %q: inducing failure for create revisions", "app-00001"),
			rtesting.Eventf("Warning", "InternalError", "creating Revision %q: inducing failure for create revisions", "app-00001"),
		},
	}, {
		Name:    "waiting: nothing changed, nothing is written",
		Key:     "ns/app",
		Objects: []runtime.Object{fixture.Configuration("app", status(created("app-00001"))), fixture.Revision("app", 1)},
	}, {
		Name: "becomes ready",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", status(created("app-00001"))), fixture.Revision("app", 1, fixture.ReadyRevision),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", status(created("app-00001"), ready("app-00001"))),
		}},
		WantEvents: readyEvents("app-00001"),
	}, {
		Name: "ready: nothing changed, nothing is written",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", status(created("app-00001"), ready("app-00001"))), fixture.Revision("app", 1, fixture.ReadyRevision),
		},
	}, {
		Name: "failed",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", status(created("app-00001"))), fixture.Revision("app", 1, fixture.FailedRevision),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", status(created("app-00001"), func(s *v1.ConfigurationStatus) {
				s.MarkLatestCreatedFailed("app-00001", "Container failed with: boom")
			})),
		}},
		WantEvents: []string{rtesting.Eventf("Warning", "LatestCreatedFailed", "Revision %q failed: Container failed with: boom", "app-00001")},
	}, {
		Name: "failed before: no second event, nothing is written",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", status(created("app-00001"), func(s *v1.ConfigurationStatus) {
				s.MarkLatestCreatedFailed("app-00001", "Container failed with: boom")
			})),
			fixture.Revision("app", 1, fixture.FailedRevision),
		},
	}, {
		Name: "the second generation failed: the first stays latest ready",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", generation(2), status(created("app-00002"), ready("app-00001"))),
			fixture.Revision("app", 1, fixture.ReadyRevision), fixture.Revision("app", 2, fixture.FailedRevision),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", generation(2), status(created("app-00002"), ready("app-00001"), func(s *v1.ConfigurationStatus) {
				s.MarkLatestCreatedFailed("app-00002", "Container failed with: boom")
			})),
		}},
		WantEvents: []string{rtesting.Eventf("Warning", "LatestCreatedFailed", "Revision %q failed: Container failed with: boom", "app-00002")},
	}, {
		Name: "a Revision that was ready does not wake up: it stays latest ready, and that is told",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", status(created("app-00001"), ready("app-00001"))), fixture.Revision("app", 1, fixture.FailedRevision),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", status(created("app-00001"), ready("app-00001"), func(s *v1.ConfigurationStatus) {
				s.MarkLatestCreatedFailed("app-00001", "Container failed with: boom")
			})),
		}},
		WantEvents: []string{rtesting.Eventf("Warning", "LatestReadyFailed", "Revision %q failed: Container failed with: boom", "app-00001")},
	}, {
		Name: "named by its user",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", byo("app-mine")),
		},
		WantCreates: []runtime.Object{fixture.Revision("app", 1, born, named("app-mine"))},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", byo("app-mine"), status(created("app-mine"))),
		}},
		WantEvents: []string{rtesting.Eventf("Normal", "Created", "Created Revision %q", "app-mine")},
	}, {
		Name: "made anew: the Revision of the Configuration before is about to go, and nothing is wrong",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app"),
			fixture.Revision("app", 1, func(rev *v1.Revision) { rev.OwnerReferences[0].UID = "earlier" }),
		},
		WithReactors: []clientgotesting.ReactionFunc{func(a clientgotesting.Action) (bool, runtime.Object, error) {
			return a.Matches("create", "revisions"), nil, apierrs.NewAlreadyExists(serving.Resource("revisions"), "app-00001")
		}},
		WantErr:           true, // asks for another run
		WantCreates:       []runtime.Object{fixture.Revision("app", 1, born)},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{Object: fixture.Configuration("app", status(leftBehind("app-00001")))}},
	}, {
		Name: "made anew, with a name of the user's choice",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", byo("app-mine")),
			fixture.Revision("app", 1, named("app-mine"), func(rev *v1.Revision) { rev.OwnerReferences[0].UID = "earlier" }),
		},
		WantErr:           true,
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{Object: fixture.Configuration("app", byo("app-mine"), status(leftBehind("app-mine")))}},
	}, {
		Name: "the name is somebody else's: told, and not tried again",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", byo("app-mine")),
			fixture.Revision("app", 1, named("app-mine"), func(rev *v1.Revision) { rev.OwnerReferences = nil }),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", byo("app-mine"), status(func(s *v1.ConfigurationStatus) { s.MarkRevisionCreationFailed(conflict) })),
		}},
	}, {
		Name: "the name is that of an own Revision with another spec",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", byo("app-mine"), generation(2), status()),
			fixture.Revision("app", 1, named("app-mine"), func(rev *v1.Revision) { rev.Spec = fixture.Spec("other") }),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", byo("app-mine"), generation(2), status(func(s *v1.ConfigurationStatus) { s.MarkRevisionCreationFailed(conflict) })),
		}},
	}, {
		Name: "back to an own Revision by its name",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", byo("app-mine"), generation(3), status(created("app-second"), ready("app-second"))),
			fixture.Revision("app", 1, named("app-mine"), fixture.ReadyRevision),
			fixture.Revision("app", 2, named("app-second"), fixture.ReadyRevision),
		},
		WantStatusUpdates: []clientgotesting.UpdateActionImpl{{
			Object: fixture.Configuration("app", byo("app-mine"), generation(3), status(created("app-mine"), ready("app-mine"))),
		}},
		WantEvents: []string{rtesting.Eventf("Normal", "LatestReadyUpdate", "LatestReadyRevisionName updated to %q", "app-mine")},
	}}
	table.Test(t, fixture.Factory(func(t *testing.T, w *fixture.World) controller.Reconciler {
		return configurationreconciler.NewReconciler(t.Context(), logtesting.TestLogger(t), w.Client, w.Configurations(), w.Recorder,
			&Reconciler{client: w.Client, revisions: w.Revisions(), now: func() time.Time { return fixture.Now }})
	}))
}

func TestLatestReady(t *testing.T) {
	tests := map[string]struct {
		reason   string
		recorded string
		name     string
		all      []*v1.Revision
		want     string
	}{
		"newest":     {reason: "of the ready ones", recorded: "app-00001", all: []*v1.Revision{fixture.Revision("app", 1, fixture.ReadyRevision), fixture.Revision("app", 2, fixture.ReadyRevision), fixture.Revision("app", 3)}, want: "app-00002"},
		"never back": {reason: "an older one that is ready changes nothing", recorded: "app-00002", all: []*v1.Revision{fixture.Revision("app", 1, fixture.ReadyRevision), fixture.Revision("app", 2, fixture.FailedRevision)}},
		"gone":       {reason: "what the status names was deleted: the search covers all", recorded: "app-00002", all: []*v1.Revision{fixture.Revision("app", 1, fixture.ReadyRevision)}, want: "app-00001"},
		"future":     {reason: "newer than the Configuration that we see", all: []*v1.Revision{fixture.Revision("app", 9, fixture.ReadyRevision)}},
		"named":      {reason: "the template's name goes before all", recorded: "app-00003", name: "app-00001", all: []*v1.Revision{fixture.Revision("app", 1, fixture.ReadyRevision), fixture.Revision("app", 3, fixture.ReadyRevision)}, want: "app-00001"},
		"nobody":     {reason: "none is ready", all: []*v1.Revision{fixture.Revision("app", 1)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config := fixture.Configuration("app", generation(5), byo(tc.name))
			config.Status.LatestReadyRevisionName = tc.recorded
			got := ""
			if rev := latestReady(config, tc.all); rev != nil {
				got = rev.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
