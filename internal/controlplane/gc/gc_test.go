// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/fixture"
	"weir.dev/pkg/controller"
	rtesting "weir.dev/pkg/reconciler/testing"
)

var now = time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)

// revision was made and last routed to that many hours ago.
func revision(name string, made, active int, changes ...func(*v1.Revision)) *v1.Revision {
	rev := &v1.Revision{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(now.Add(-time.Duration(made) * time.Hour)),
		Labels: map[string]string{}, Annotations: map[string]string{},
	}}
	rev.SetRoutingState(v1.RoutingStateReserve, now.Add(-time.Duration(active)*time.Hour))
	for _, change := range changes {
		change(rev)
	}
	return rev
}

func in(state v1.RoutingState) func(*v1.Revision) {
	return func(rev *v1.Revision) { rev.Labels["serving.knative.dev/routingState"] = string(state) }
}

func kept(rev *v1.Revision) { rev.Annotations["serving.knative.dev/no-gc"] = "true" }

func keptLoudly(rev *v1.Revision) { rev.Annotations["serving.knative.dev/no-gc"] = "True" }

func TestCollect(t *testing.T) {
	rules := func(createAge, activeAge time.Duration, least, most int64) *config.GC {
		return &config.GC{
			RetainSinceCreateTime: createAge, RetainSinceLastActiveTime: activeAge,
			MinNonActiveRevisions: least, MaxNonActiveRevisions: most,
		}
	}
	const off = config.Disabled
	tests := map[string]struct {
		reason string
		rules  *config.GC
		all    []*v1.Revision
		want   []string
	}{
		"stale": {
			reason: "past both ages, the one longest out of use first",
			rules:  rules(10*time.Hour, 5*time.Hour, 0, off),
			all:    []*v1.Revision{revision("a", 20, 6), revision("b", 20, 7), revision("young", 9, 6), revision("recent", 20, 4)},
			want:   []string{"b", "a"},
		},
		"in use": {
			reason: "routed to, perhaps soon, pinned by its user, or the latest ready",
			rules:  rules(time.Hour, time.Hour, 0, 0),
			all: []*v1.Revision{
				revision("active", 20, 20, in(v1.RoutingStateActive)), revision("pending", 20, 20, in(v1.RoutingStatePending)),
				revision("unset", 20, 20, in("")), revision("kept", 20, 20, kept), revision("loud", 20, 20, keptLoudly),
				revision("latest", 20, 20),
			},
		},
		"least": {
			reason: "that many stay whatever their age",
			rules:  rules(time.Hour, time.Hour, 2, off),
			all:    []*v1.Revision{revision("a", 20, 20), revision("b", 20, 19), revision("c", 20, 18)},
			want:   []string{"a"},
		},
		"most": {
			reason: "above that the oldest go whatever their age",
			rules:  rules(off, off, 0, 1),
			all:    []*v1.Revision{revision("c", 3, 3), revision("a", 5, 5), revision("b", 4, 4)},
			want:   []string{"a", "b"},
		},
		"latest": {
			reason: "one is what the Route leads to, the other would be made again",
			rules:  rules(time.Hour, time.Hour, 0, 0),
			all:    []*v1.Revision{revision("latest", 20, 20), revision("newest", 20, 20), revision("a", 20, 20)},
			want:   []string{"a"},
		},
		"both": {
			reason: "stale ones first, then the oldest down to the most",
			rules:  rules(10*time.Hour, off, 0, 1),
			all:    []*v1.Revision{revision("a", 20, 1), revision("b", 5, 5), revision("c", 4, 4)},
			want:   []string{"a", "b"},
		},
		"off": {
			reason: "nothing is stale and nothing too many",
			rules:  rules(off, off, 0, off),
			all:    []*v1.Revision{revision("a", 1000, 1000)},
		},
		"never routed": {
			reason: "its age counts",
			rules:  rules(off, 5*time.Hour, 0, off),
			all:    []*v1.Revision{revision("a", 6, 0, func(rev *v1.Revision) { delete(rev.Annotations, "serving.knative.dev/routingStateModified") })},
			want:   []string{"a"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			latest := v1.ConfigurationStatusFields{LatestReadyRevisionName: "latest", LatestCreatedRevisionName: "newest"}
			for _, rev := range collect(tc.rules, latest, tc.all, now) {
				got = append(got, rev.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSettings goes from the operator's keys, or the annotation, to what stays of five unrouted Revisions. The number in
// their names is how many hours ago they were made, and last routed to.
func TestSettings(t *testing.T) {
	tests := map[string]struct {
		reason string
		data   map[string]string
		retain string // the annotation; "" is none
		want   []string
	}{
		"defaults":             {"twenty stay in any case", nil, "", nil},
		"least only":           {"the ages of the defaults count: two days, and fifteen hours", map[string]string{"min-non-active-revisions": "0"}, "", []string{"r100", "r50"}},
		"most only":            {"it cannot be under the least of the defaults", map[string]string{"max-non-active-revisions": "20"}, "", nil},
		"least and most":       {"both", map[string]string{"min-non-active-revisions": "3", "max-non-active-revisions": "4"}, "", []string{"r100", "r50"}},
		"least, most disabled": {"the ages count alone", map[string]string{"min-non-active-revisions": "1", "max-non-active-revisions": "disabled"}, "", []string{"r100", "r50"}},
		"no age of creation": {
			"that of last use counts alone",
			map[string]string{"min-non-active-revisions": "0", "retain-since-create-time": "disabled"}, "",
			[]string{"r100", "r50", "r20"},
		},
		"no age of last use": {
			"that of creation counts alone",
			map[string]string{"min-non-active-revisions": "0", "retain-since-last-active-time": "Disabled"}, "",
			[]string{"r100", "r50"},
		},
		"no ages": {
			"none is too old, but there are too many",
			map[string]string{"retain-since-create-time": "disabled", "retain-since-last-active-time": "disabled", "min-non-active-revisions": "0", "max-non-active-revisions": "4"}, "",
			[]string{"r100"},
		},
		"nothing": {
			"nothing is too old nor too many",
			map[string]string{"retain-since-create-time": "disabled", "retain-since-last-active-time": "disabled", "min-non-active-revisions": "0", "max-non-active-revisions": "disabled"}, "",
			nil,
		},
		"at once":         {"the least is over the ages, the most over all", map[string]string{"min-non-active-revisions": "0", "max-non-active-revisions": "0"}, "", []string{"r100", "r50", "r20", "r2", "r1"}},
		"retain":          {"its owner's word counts instead", nil, "2", []string{"r100", "r50", "r20"}},
		"retain more":     {"also against the operator's", map[string]string{"min-non-active-revisions": "0", "max-non-active-revisions": "0"}, "4", []string{"r100"}},
		"retain all":      {"none goes", map[string]string{"min-non-active-revisions": "0", "max-non-active-revisions": "0"}, "all", nil},
		"retain none":     {"all go that may", nil, "0", []string{"r100", "r50", "r20", "r2", "r1"}},
		"retain nonsense": {"admission refuses it; the operator's rules count", nil, "few", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rules, err := config.NewGC(&corev1.ConfigMap{Data: tc.data})
			if err != nil {
				t.Fatal(err)
			}
			cfg := &v1.Configuration{}
			if tc.retain != "" {
				cfg.Annotations = map[string]string{"weir.dev/retain-revisions": tc.retain}
			}
			all := []*v1.Revision{
				revision("r1", 1, 1), revision("r2", 2, 2), revision("r20", 20, 20), revision("r50", 50, 50), revision("r100", 100, 100),
				revision("kept", 1000, 1000, kept), revision("routed", 1000, 1000, in(v1.RoutingStateActive)), revision("new", 0, 0, in(v1.RoutingStatePending)),
			}
			var got []string
			for _, rev := range collect(rulesFor(cfg, rules), cfg.Status.ConfigurationStatusFields, all, now) {
				got = append(got, rev.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	old := func(rev *v1.Revision) {
		rev.SetRoutingState(v1.RoutingStateReserve, fixture.Now.Add(-1000*time.Hour))
		rev.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-1000 * time.Hour))
	}
	foreign := func(rev *v1.Revision) { rev.OwnerReferences = nil }
	ready := func(c *v1.Configuration) { c.Status.SetLatestReadyRevisionName("app-00004") }
	removed := clientgotesting.DeleteActionImpl{Name: "app-00001"}
	removed.Namespace, removed.Resource.Resource = fixture.Namespace, "revisions"
	rules, err := config.NewGC(&corev1.ConfigMap{Data: map[string]string{"min-non-active-revisions": "1"}})
	if err != nil {
		t.Fatal(err)
	}

	rtesting.TableTest{{
		Name: "no such Configuration",
		Key:  "ns/nothing",
	}, {
		Name: "what is too old goes, what is somebody else's stays",
		Key:  "ns/app",
		Objects: []runtime.Object{
			fixture.Configuration("app", ready), fixture.Revision("app", 1, old), fixture.Revision("app", 2, old, foreign),
			fixture.Revision("app", 3, old, kept), fixture.Revision("app", 4, old),
		},
		WantDeletes: []clientgotesting.DeleteActionImpl{removed},
	}, {
		Name:         "deletion fails",
		Key:          "ns/app",
		Objects:      []runtime.Object{fixture.Configuration("app", ready), fixture.Revision("app", 1, old), fixture.Revision("app", 2, old, foreign)},
		WithReactors: []clientgotesting.ReactionFunc{rtesting.InduceFailure("delete", "revisions")},
		WantErr:      true,
		WantDeletes:  []clientgotesting.DeleteActionImpl{removed},
	}}.Test(t, fixture.Factory(func(_ *testing.T, w *fixture.World) controller.Reconciler {
		return &Reconciler{
			client: w.Client, configurations: w.Configurations(), revisions: w.Revisions(),
			config: settings{rules}, now: func() time.Time { return fixture.Now },
		}
	}))
}

// settings is a store of fixed rules.
type settings struct{ rules *config.GC }

func (s settings) ToContext(ctx context.Context) context.Context {
	c := config.Default()
	c.GC = s.rules
	return config.ToContext(ctx, c)
}
