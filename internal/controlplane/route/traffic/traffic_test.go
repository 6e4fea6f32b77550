// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/networking"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/ptr"
)

// world is what Lookup finds.
type world struct {
	configurations map[string]*v1.Configuration
	revisions      map[string]*v1.Revision
	err            error
}

func (w world) lookup() Lookup {
	return Lookup{
		Configuration: func(name string) (*v1.Configuration, error) { return find(w, w.configurations, name) },
		Revision:      func(name string) (*v1.Revision, error) { return find(w, w.revisions, name) },
	}
}

func find[T any](w world, all map[string]T, name string) (T, error) {
	v, ok := all[name]
	switch {
	case w.err != nil:
		return v, w.err
	case !ok:
		return v, apierrs.NewNotFound(serving.Resource("things"), name)
	}
	return v, nil
}

func status(ready corev1.ConditionStatus) []apis.Condition {
	return []apis.Condition{{Type: apis.ConditionReady, Status: ready}}
}

func revision(ready corev1.ConditionStatus, changes ...func(*v1.Revision)) *v1.Revision {
	rev := &v1.Revision{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{serving.ServiceLabelKey: "svc"}}}
	rev.Status.Conditions = status(ready)
	for _, change := range changes {
		change(rev)
	}
	return rev
}

func configuration(latestReady string, ready corev1.ConditionStatus) *v1.Configuration {
	c := &v1.Configuration{}
	c.Status.LatestReadyRevisionName = latestReady
	c.Status.Conditions = status(ready)
	return c
}

func usual() world {
	return world{
		configurations: map[string]*v1.Configuration{
			"app":    configuration("app-2", corev1.ConditionTrue),
			"young":  configuration("", corev1.ConditionUnknown),
			"broken": configuration("", corev1.ConditionFalse),
			"ghost":  configuration("gone", corev1.ConditionTrue),
		},
		revisions: map[string]*v1.Revision{
			"app-1":    revision(corev1.ConditionTrue),
			"app-2":    revision(corev1.ConditionTrue),
			"starting": revision(corev1.ConditionUnknown),
			"failed":   revision(corev1.ConditionFalse),
			"foreign":  revision(corev1.ConditionTrue, func(rev *v1.Revision) { rev.Name, rev.Labels[serving.ServiceLabelKey] = "foreign", "other" }),
			"bare":     revision(corev1.ConditionTrue, func(rev *v1.Revision) { rev.Name, rev.Labels = "bare", nil }),
			"grpc": revision(corev1.ConditionTrue, func(rev *v1.Revision) {
				rev.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "h2c"}}}}
			}),
		},
	}
}

func route(traffic ...v1.TrafficTarget) *v1.Route {
	return &v1.Route{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{serving.ServiceLabelKey: "svc"}},
		Spec:       v1.RouteSpec{Traffic: traffic},
	}
}

func fixed(revision string, percent int64, tag string) v1.TrafficTarget {
	return v1.TrafficTarget{RevisionName: revision, Percent: ptr.Int64(percent), Tag: tag}
}

func latest(configuration string, percent int64, tag string) v1.TrafficTarget {
	return v1.TrafficTarget{ConfigurationName: configuration, Percent: ptr.Int64(percent), Tag: tag}
}

func target(revision string, percent int64, tag string) Target {
	return Target{RevisionName: revision, Percent: percent, Tag: tag, Protocol: networking.ProtocolHTTP1}
}

func latestTarget(percent int64, tag string) Target {
	t := target("app-2", percent, tag)
	t.ConfigurationName, t.LatestRevision = "app", true
	return t
}

func TestResolve(t *testing.T) {
	grpc := target("grpc", 100, "")
	grpc.Protocol = networking.ProtocolH2C
	tests := map[string]struct {
		reason string
		route  *v1.Route
		want   *Plan
	}{
		"latest": {
			reason: "a Configuration means its latest ready Revision",
			route:  route(latest("app", 100, "")),
			want:   &Plan{Targets: []Target{latestTarget(100, "")}, Groups: map[string][]Target{"": {latestTarget(100, "")}}},
		},
		"split with tags": {
			reason: "the main host has all shares, a tag its own target whole, and no share means the tag's host only",
			route:  route(fixed("app-1", 80, "current"), latest("app", 20, ""), fixed("app-2", 0, "candidate")),
			want: &Plan{
				Targets: []Target{target("app-1", 80, "current"), latestTarget(20, ""), target("app-2", 0, "candidate")},
				Groups: map[string][]Target{
					"":          {target("app-1", 80, ""), latestTarget(20, "")},
					"current":   {target("app-1", 100, "current")},
					"candidate": {target("app-2", 100, "candidate")},
				},
			},
		},
		"equal targets": {
			reason: "are one",
			route:  route(fixed("app-1", 30, ""), fixed("app-2", 40, ""), fixed("app-1", 30, "")),
			want: &Plan{
				Targets: []Target{target("app-1", 60, ""), target("app-2", 40, "")},
				Groups:  map[string][]Target{"": {target("app-1", 60, ""), target("app-2", 40, "")}},
			},
		},
		"one revision, two tags": {
			reason: "two targets, but one share of the main host",
			route:  route(fixed("app-1", 50, "a"), fixed("app-1", 50, "b")),
			want: &Plan{
				Targets: []Target{target("app-1", 50, "a"), target("app-1", 50, "b")},
				Groups: map[string][]Target{
					"": {target("app-1", 100, "")}, "a": {target("app-1", 100, "a")}, "b": {target("app-1", 100, "b")},
				},
			},
		},
		"protocol": {
			reason: "what the container speaks goes with the target",
			route:  route(fixed("grpc", 100, "")),
			want:   &Plan{Targets: []Target{grpc}, Groups: map[string][]Target{"": {grpc}}},
		},
		"route of no service": {
			reason: "may lead to anybody's Revisions of its namespace",
			route:  &v1.Route{Spec: v1.RouteSpec{Traffic: []v1.TrafficTarget{fixed("foreign", 100, "")}}},
			want: &Plan{
				Targets: []Target{target("foreign", 100, "")}, Groups: map[string][]Target{"": {target("foreign", 100, "")}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(tc.route, usual().lookup())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolveProblems(t *testing.T) {
	type condition struct {
		Status          corev1.ConditionStatus
		Reason, Message string
	}
	tests := map[string]struct {
		reason string
		route  *v1.Route
		want   condition
	}{
		"no such configuration": {
			reason: "waiting does not help",
			route:  route(latest("nobody", 100, "")),
			want:   condition{"False", "ConfigurationMissing", `Configuration "nobody" referenced in traffic not found.`},
		},
		"no such revision": {
			reason: "waiting does not help",
			route:  route(fixed("nobody", 100, "")),
			want:   condition{"False", "RevisionMissing", `Revision "nobody" referenced in traffic not found.`},
		},
		"latest ready is gone": {
			reason: "the Configuration names what somebody deleted",
			route:  route(latest("ghost", 100, "")),
			want:   condition{"False", "RevisionMissing", `Revision "gone" referenced in traffic not found.`},
		},
		"first revision starts": {
			reason: "it may become ready",
			route:  route(latest("young", 100, "")),
			want:   condition{"Unknown", "RevisionMissing", `Configuration "young" is waiting for a Revision to become ready.`},
		},
		"first revision failed": {
			reason: "it will not become ready by itself",
			route:  route(latest("broken", 100, "")),
			want:   condition{"False", "RevisionMissing", `Configuration "broken" does not have any ready Revision.`},
		},
		"revision starts": {
			reason: "it may become ready",
			route:  route(fixed("starting", 100, "")),
			want:   condition{"Unknown", "RevisionMissing", `Revision "starting" is not yet ready.`},
		},
		"revision failed": {
			reason: "it will not become ready by itself",
			route:  route(fixed("failed", 100, "")),
			want:   condition{"False", "RevisionMissing", `Revision "failed" failed to become ready.`},
		},
		"another service's": {
			reason: "a Service leads to its own Revisions only",
			route:  route(fixed("foreign", 100, "")),
			want:   condition{"False", "RevisionNotOwned", `Revision "foreign" belongs to Service "other", not Service "svc".`},
		},
		"no service's": {
			reason: "a Service leads to its own Revisions only",
			route:  route(fixed("bare", 100, "")),
			want:   condition{"False", "RevisionNotOwned", `Revision "bare" does not belong to Service "svc".`},
		},
		"several": {
			reason: "the first failure is told before what may pass",
			route:  route(fixed("app-1", 50, ""), fixed("starting", 20, ""), fixed("failed", 20, ""), fixed("nobody", 10, "")),
			want:   condition{"False", "RevisionMissing", `Revision "failed" failed to become ready.`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(tc.route, usual().lookup())
			var problem *Problem
			if !errors.As(err, &problem) {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			rs := &v1.RouteStatus{}
			problem.Mark(rs)
			got := rs.GetCondition(v1.RouteConditionAllTrafficAssigned)
			if diff := cmp.Diff(tc.want, condition{got.Status, got.Reason, got.Message}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if problem.Failed != (tc.want.Status == corev1.ConditionFalse) || problem.Error() != tc.want.Message {
				t.Errorf("%s: Failed %v, error %q", tc.reason, problem.Failed, problem)
			}
		})
	}
}

func TestResolveError(t *testing.T) {
	cause := errors.New("cache is broken")
	var problem *Problem
	if _, err := Resolve(route(latest("app", 100, "")), world{err: cause}.lookup()); !errors.Is(err, cause) || errors.As(err, &problem) {
		t.Errorf("an error of looking up is nobody's fault: got %v", err)
	}
}

func TestAhead(t *testing.T) {
	w := usual()
	w.configurations["new"] = configuration("", corev1.ConditionUnknown)
	w.configurations["new"].Status.LatestCreatedRevisionName = "new-00001"
	w.revisions["new-00001"] = revision(corev1.ConditionFalse)
	w.configurations["empty"] = configuration("", corev1.ConditionUnknown)

	tests := map[string]struct {
		reason string
		target v1.TrafficTarget
		want   string // the Revision; "" is no plan
	}{
		"not ready":      {"its callers wait, or are told why it cannot start", latest("new", 100, ""), "new-00001"},
		"no Revision":    {"there is nothing to lead to", latest("empty", 100, ""), ""},
		"no such config": {"there is nothing to lead to", latest("missing", 100, ""), ""},
		"missing":        {"there is nothing to lead to", fixed("missing", 100, ""), ""},
		"named":          {"also by name", fixed("new-00001", 100, ""), "new-00001"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := Ahead(route(tc.target), w.lookup())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if plan != nil {
				got = plan.Groups[""][0].RevisionName
			}
			if got != tc.want {
				t.Errorf("leads to %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}
