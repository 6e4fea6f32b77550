// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/ptr"
)

var (
	_ apis.Defaultable   = (*Service)(nil)
	_ apis.Validatable   = (*Service)(nil)
	_ apis.HasSpec       = (*Service)(nil)
	_ kmeta.OwnerRefable = (*Service)(nil)
	_ duckv1.KRShaped    = (*Service)(nil)

	_ apis.Defaultable   = (*Configuration)(nil)
	_ apis.Validatable   = (*Configuration)(nil)
	_ apis.HasSpec       = (*Configuration)(nil)
	_ kmeta.OwnerRefable = (*Configuration)(nil)
	_ duckv1.KRShaped    = (*Configuration)(nil)

	_ apis.Defaultable   = (*Revision)(nil)
	_ apis.Validatable   = (*Revision)(nil)
	_ kmeta.OwnerRefable = (*Revision)(nil)
	_ duckv1.KRShaped    = (*Revision)(nil)

	_ apis.Defaultable   = (*Route)(nil)
	_ apis.Validatable   = (*Route)(nil)
	_ apis.HasSpec       = (*Route)(nil)
	_ kmeta.OwnerRefable = (*Route)(nil)
	_ duckv1.KRShaped    = (*Route)(nil)
)

// say is a condition in short: status, reason and message.
// untouched is a condition that nobody has said anything about.
const untouched = "Unknown Uninitialized Nothing is known yet."

func say(s *duckv1.Status, t apis.ConditionType) string {
	c := s.GetCondition(t)
	if c == nil {
		return "none"
	}
	return string(c.Status) + " " + c.Reason + " " + c.Message
}

// conditions are all conditions in short.
func conditions(s *duckv1.Status) map[apis.ConditionType]string {
	out := map[apis.ConditionType]string{}
	for _, c := range s.Conditions {
		out[c.Type] = say(s, c.Type)
	}
	return out
}

func TestServiceConditions(t *testing.T) {
	ready := func(status corev1.ConditionStatus, reason, message string) duckv1.Status {
		return duckv1.Status{Conditions: duckv1.Conditions{{Type: apis.ConditionReady, Status: status, Reason: reason, Message: message}}}
	}
	tests := map[string]struct {
		reason                      string
		do                          func(*ServiceStatus)
		configuration, routes, want string
	}{
		"start": {
			reason: "nothing is known", do: func(*ServiceStatus) {},
			configuration: untouched, routes: untouched, want: untouched,
		},
		"all ready": {
			reason: "a Service is its children",
			do: func(s *ServiceStatus) {
				s.PropagateConfigurationStatus(&ConfigurationStatus{Status: ready("True", "", "")})
				s.PropagateRouteStatus(&RouteStatus{Status: ready("True", "", "")})
			},
			configuration: "True  ", routes: "True  ", want: "True  ",
		},
		"configuration failed": {
			reason: "the cause goes all the way up",
			do: func(s *ServiceStatus) {
				s.PropagateConfigurationStatus(&ConfigurationStatus{Status: ready("False", "RevisionFailed", "m %d")})
			},
			configuration: "False RevisionFailed m %d", routes: untouched, want: "False RevisionFailed m %d",
		},
		"rollout": {
			reason: "the Route's reason is the Service's",
			do: func(s *ServiceStatus) {
				s.PropagateConfigurationStatus(&ConfigurationStatus{Status: ready("True", "", "")})
				s.PropagateRouteStatus(&RouteStatus{Status: ready("Unknown", "RolloutInProgress", "r")})
			},
			configuration: "True  ", routes: "Unknown RolloutInProgress r", want: "Unknown RolloutInProgress r",
		},
		"not owned": {
			reason: "names are taken",
			do: func(s *ServiceStatus) {
				s.MarkConfigurationNotOwned("c")
				s.MarkRouteNotOwned("r")
			},
			configuration: `False NotOwned There is an existing Configuration "c" that we do not own.`,
			routes:        `False NotOwned There is an existing Route "r" that we do not own.`,
			want:          `False NotOwned There is an existing Route "r" that we do not own.`,
		},
		"not migrated": {
			reason: "the Route is behind",
			do: func(s *ServiceStatus) {
				s.PropagateConfigurationStatus(&ConfigurationStatus{Status: ready("True", "", "")})
				s.MarkRouteNotYetReady()
			},
			configuration: "True  ", routes: "Unknown TrafficNotMigrated Traffic is not yet migrated to the latest revision.",
			want: "Unknown TrafficNotMigrated Traffic is not yet migrated to the latest revision.",
		},
		"name taken": {
			reason: "a chosen name is in use", do: func(s *ServiceStatus) { s.MarkRevisionNameTaken("x") },
			configuration: untouched,
			routes:        `False RevisionNameTaken The revision name "x" is taken by a conflicting Revision, so traffic will not be migrated`,
			want:          `False RevisionNameTaken The revision name "x" is taken by a conflicting Revision, so traffic will not be migrated`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Service{}
			s.Status.InitializeConditions()
			tc.do(&s.Status)
			want := map[apis.ConditionType]string{
				ServiceConditionConfigurationsReady: tc.configuration, ServiceConditionRoutesReady: tc.routes, ServiceConditionReady: tc.want,
			}
			if diff := cmp.Diff(want, conditions(&s.Status.Status)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestServiceCopiesFields(t *testing.T) {
	s := &ServiceStatus{}
	s.PropagateConfigurationStatus(&ConfigurationStatus{ConfigurationStatusFields: ConfigurationStatusFields{
		LatestReadyRevisionName: "a", LatestCreatedRevisionName: "b",
	}})
	route := &RouteStatus{RouteStatusFields: RouteStatusFields{
		URL: apis.HTTP("h"), Address: &duckv1.Addressable{URL: apis.HTTP("i")}, Traffic: []TrafficTarget{{RevisionName: "a", Percent: ptr.Int64(100)}},
	}}
	s.PropagateRouteStatus(route)
	*route.Traffic[0].Percent = 5
	if s.LatestReadyRevisionName != "a" || s.LatestCreatedRevisionName != "b" || s.URL.String() != "http://h" ||
		s.Address.URL.String() != "http://i" || *s.Traffic[0].Percent != 100 {
		t.Errorf("want copies of all fields, got %+v", s)
	}
}

func TestConfigurationConditions(t *testing.T) {
	c := &ConfigurationStatus{}
	c.InitializeConditions()
	step := func(what, want string) {
		t.Helper()
		if got := say(&c.Status, ConfigurationConditionReady); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	c.SetLatestCreatedRevisionName("one")
	step("created", `Unknown Deploying Revision "one" is not yet ready.`)
	c.SetLatestReadyRevisionName("one")
	step("ready", "True  ")
	c.SetLatestCreatedRevisionName("one")
	step("the same again", "True  ")
	c.SetLatestCreatedRevisionName("two")
	step("the next is created", `Unknown Deploying Revision "two" is not yet ready.`)
	c.MarkLatestCreatedFailed("two", "no such image")
	step("it failed", `False RevisionFailed Revision "two" failed with message: no such image.`)
	c.MarkLatestCreatedFailed("two", "no such image.")
	step("a sentence has one full stop", `False RevisionFailed Revision "two" failed with message: no such image.`)
	c.MarkRevisionCreationFailed("forbidden.")
	step("none could be made", "False RevisionFailed Revision creation failed with message: forbidden.")
	c.MarkRevisionCreationFailed("forbidden")
	step("none could be made", "False RevisionFailed Revision creation failed with message: forbidden.")
	c.MarkLatestReadyDeleted()
	step("deleted", `False RevisionDeleted Revision "one" was deleted.`)
	if c.IsLatestReadyRevisionNameUpToDate() {
		t.Error("two is not ready")
	}
}

func TestReadyNeedsTheGeneration(t *testing.T) {
	s := &Service{}
	s.Generation = 2
	s.Status.ObservedGeneration = 1
	s.Status.PropagateConfigurationStatus(&ConfigurationStatus{})
	s.GetConditionSet().Manage(&s.Status).MarkTrue(ServiceConditionConfigurationsReady)
	s.GetConditionSet().Manage(&s.Status).MarkTrue(ServiceConditionRoutesReady)
	if s.IsReady() {
		t.Error("what was true of the last generation is not true of this one")
	}
	s.Status.ObservedGeneration = 2
	if !s.IsReady() || s.IsFailed() {
		t.Error("want ready")
	}
}

func TestRevisionFromDeployment(t *testing.T) {
	tests := map[string]struct {
		reason     string
		conditions []appsv1.DeploymentCondition
		want       string
	}{
		"nothing":     {"the Deployment was not looked at", nil, "Unknown Deploying "},
		"progressing": {"pods come", []appsv1.DeploymentCondition{{Type: "Progressing", Status: "True", Reason: "X"}}, "True  "},
		"stuck":       {"the deadline is over", []appsv1.DeploymentCondition{{Type: "Progressing", Status: "False", Reason: "ProgressDeadlineExceeded", Message: "m"}}, "False ProgressDeadlineExceeded m"},
		"unknown":     {"paused", []appsv1.DeploymentCondition{{Type: "Progressing", Status: "Unknown", Reason: "P", Message: "m"}}, "Unknown P m"},
		"quota": {
			"a refusal outweighs progress", []appsv1.DeploymentCondition{
				{Type: "Progressing", Status: "True"},
				{Type: "ReplicaFailure", Status: "True", Reason: "FailedCreate", Message: "exceeded quota: 100%"},
			}, "False FailedCreate exceeded quota: 100%",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rs := &RevisionStatus{}
			rs.InitializeConditions()
			rs.PropagateDeploymentStatus(&appsv1.DeploymentStatus{Conditions: tc.conditions})
			if got := say(&rs.Status, RevisionConditionResourcesAvailable); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRevisionFromAutoscaler(t *testing.T) {
	pa := func(do func(*autoscalingv1alpha1.PodAutoscalerStatus)) *autoscalingv1alpha1.PodAutoscalerStatus {
		s := &autoscalingv1alpha1.PodAutoscalerStatus{ServiceName: "r"}
		s.InitializeConditions()
		do(s)
		return s
	}
	up := func(s *autoscalingv1alpha1.PodAutoscalerStatus) {
		s.MarkActive()
		s.MarkSKSReady()
		s.MarkScaleTargetInitialized()
	}
	tests := map[string]struct {
		reason string
		before func(*RevisionStatus)
		pa     *autoscalingv1alpha1.PodAutoscalerStatus
		want   map[apis.ConditionType]string
	}{
		"new": {
			reason: "the autoscaler has not looked",
			pa:     &autoscalingv1alpha1.PodAutoscalerStatus{},
			want: map[apis.ConditionType]string{
				"Active": "Unknown Deploying ", "ResourcesAvailable": "Unknown Deploying ", "ContainerHealthy": untouched, "Ready": "Unknown Deploying ",
			},
		},
		"up": {
			reason: "pods that were ready had all they need",
			pa:     pa(up),
			want: map[apis.ConditionType]string{
				"Active": "True  ", "ResourcesAvailable": "True  ", "ContainerHealthy": "True  ", "Ready": "True  ",
			},
		},
		"at zero": {
			reason: "a Revision at zero is ready",
			pa: pa(func(s *autoscalingv1alpha1.PodAutoscalerStatus) {
				up(s)
				s.MarkInactive("NoTraffic", "n")
			}),
			want: map[apis.ConditionType]string{
				"Active": "False NoTraffic n", "ResourcesAvailable": "True  ", "ContainerHealthy": "True  ", "Ready": "True  ",
			},
		},
		"coming up": {
			reason: "the Deployment's progress alone is not enough",
			before: func(rs *RevisionStatus) { rs.MarkResourcesAvailableTrue() },
			pa:     pa(func(s *autoscalingv1alpha1.PodAutoscalerStatus) { s.MarkActivating("Queued", "q") }),
			want: map[apis.ConditionType]string{
				"Active": "Unknown Queued q", "ResourcesAvailable": "Unknown Deploying ", "ContainerHealthy": untouched, "Ready": "Unknown Deploying ",
			},
		},
		"never up": {
			reason: "the deadline ends the wait",
			pa:     pa(func(s *autoscalingv1alpha1.PodAutoscalerStatus) { s.MarkInactive("TimedOut", "t") }),
			want: map[apis.ConditionType]string{
				"Active":             "False TimedOut t",
				"ResourcesAvailable": "False ProgressDeadlineExceeded Initial scale was never achieved",
				"ContainerHealthy":   untouched,
				"Ready":              "False ProgressDeadlineExceeded Initial scale was never achieved",
			},
		},
		"crashed": {
			reason: "what the pods said is the cause",
			before: func(rs *RevisionStatus) {
				rs.MarkContainerHealthyFalse(ExitCodeReason(3), RevisionContainerExitingMessage("oops"))
			},
			pa: pa(func(s *autoscalingv1alpha1.PodAutoscalerStatus) { s.MarkInactive("TimedOut", "t") }),
			want: map[apis.ConditionType]string{
				"Active": "False TimedOut t", "ResourcesAvailable": untouched,
				"ContainerHealthy": "False ExitCode3 Container failed with: oops", "Ready": "False ExitCode3 Container failed with: oops",
			},
		},
		"crashed after it was up": {
			reason: "having been up does not hide it",
			before: func(rs *RevisionStatus) { rs.MarkContainerHealthyFalse("ExitCode1", "m") },
			pa:     pa(up),
			want: map[apis.ConditionType]string{
				"Active": "True  ", "ResourcesAvailable": untouched, "ContainerHealthy": "False ExitCode1 m", "Ready": "False ExitCode1 m",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rs := &RevisionStatus{}
			rs.InitializeConditions()
			if tc.before != nil {
				tc.before(rs)
			}
			rs.PropagateAutoscalerStatus(tc.pa)
			if diff := cmp.Diff(tc.want, conditions(&rs.Status)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if c := rs.GetCondition(RevisionConditionActive); c.Severity != apis.ConditionSeverityInfo {
				t.Error("Active is for information only")
			}
		})
	}
}

func TestRevisionScales(t *testing.T) {
	rs := &RevisionStatus{}
	rs.PropagateAutoscalerStatus(&autoscalingv1alpha1.PodAutoscalerStatus{ActualScale: ptr.Int32(2), DesiredScale: ptr.Int32(-1)})
	if *rs.ActualReplicas != 2 || rs.DesiredReplicas != nil {
		t.Errorf("an unknown scale is none, got %v %v", rs.ActualReplicas, rs.DesiredReplicas)
	}
}

func TestRoutingState(t *testing.T) {
	r := &Revision{}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	r.SetRoutingState(RoutingStateActive, at)
	if !r.IsReachable() || !r.GetRoutingStateModified().Equal(at) ||
		r.Annotations["serving.knative.dev/routingStateModified"] != "2026-01-02T02:04:05Z" {
		t.Errorf("got %v %v", r.Labels, r.Annotations)
	}
	r.SetRoutingState(RoutingStateActive, at.Add(time.Hour))
	if !r.GetRoutingStateModified().Equal(at) {
		t.Error("the same state again is no change")
	}
	if (&Revision{}).GetRoutingStateModified() != (time.Time{}) {
		t.Error("no time is the zero time")
	}
}

func TestRouteConditions(t *testing.T) {
	tests := map[string]struct {
		reason string
		do     func(*RouteStatus)
		which  apis.ConditionType
		want   string
	}{
		"configuration waits":   {"it will have one", func(r *RouteStatus) { r.MarkConfigurationNotReady("c") }, "AllTrafficAssigned", `Unknown RevisionMissing Configuration "c" is waiting for a Revision to become ready.`},
		"configuration failed":  {"it will have none", func(r *RouteStatus) { r.MarkConfigurationFailed("c") }, "AllTrafficAssigned", `False RevisionMissing Configuration "c" does not have any ready Revision.`},
		"configuration missing": {"it is not there", func(r *RouteStatus) { r.MarkMissingTrafficTarget("Configuration", "c") }, "AllTrafficAssigned", `False ConfigurationMissing Configuration "c" referenced in traffic not found.`},
		"revision missing":      {"it is not there", func(r *RouteStatus) { r.MarkMissingTrafficTarget("Revision", "c") }, "AllTrafficAssigned", `False RevisionMissing Revision "c" referenced in traffic not found.`},
		"revision waits":        {"it comes up", func(r *RouteStatus) { r.MarkRevisionNotReady("r") }, "AllTrafficAssigned", `Unknown RevisionMissing Revision "r" is not yet ready.`},
		"revision failed":       {"it does not", func(r *RouteStatus) { r.MarkRevisionFailed("r") }, "AllTrafficAssigned", `False RevisionMissing Revision "r" failed to become ready.`},
		"other's revision":      {"no borrowing", func(r *RouteStatus) { r.MarkRevisionNotOwned("r", "a", "b") }, "AllTrafficAssigned", `False RevisionNotOwned Revision "r" belongs to Service "a", not Service "b".`},
		"nobody's revision":     {"nor finding", func(r *RouteStatus) { r.MarkRevisionNotOwned("r", "", "b") }, "AllTrafficAssigned", `False RevisionNotOwned Revision "r" does not belong to Service "b".`},
		"host conflict":         {"the owner is named", func(r *RouteStatus) { r.MarkHostConflict("h", "ns/o") }, "IngressReady", `False HostConflict The host "h" is already used by Route "ns/o".`},
		"ingress":               {"no status yet", func(r *RouteStatus) { r.PropagateIngressStatus(networkingv1alpha1.IngressStatus{}) }, "IngressReady", "Unknown IngressNotConfigured Ingress has not yet been reconciled."},
		"rollout":               {"it goes on", func(r *RouteStatus) { r.MarkIngressRolloutInProgress() }, "IngressReady", "Unknown RolloutInProgress A gradual rollout of the latest revision(s) is in progress."},
		"tls off":               {"that is fine", func(r *RouteStatus) { r.MarkTLSNotEnabled(ExternalDomainTLSNotEnabledMessage) }, "CertificateProvisioned", "True TLSNotEnabled external-domain-tls is not enabled"},
		"downgrade":             {"plain for now", func(r *RouteStatus) { r.MarkHTTPDowngrade("c") }, "CertificateProvisioned", "True HTTPDowngrade Certificate c is not ready downgrade HTTP."},
		"certificate":           {"on its way", func(r *RouteStatus) { r.MarkCertificateNotReady("c", "r") }, "CertificateProvisioned", "Unknown CertificateNotReady Certificate c is not ready: r"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rs := &RouteStatus{}
			rs.InitializeConditions()
			tc.do(rs)
			if got := say(&rs.Status, tc.which); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRouteReady(t *testing.T) {
	rs := &RouteStatus{}
	rs.InitializeConditions()
	ingress := networkingv1alpha1.IngressStatus{}
	ingress.InitializeConditions()
	ingress.MarkNetworkConfigured()
	ingress.MarkLoadBalancerReady(nil, nil)
	rs.PropagateIngressStatus(ingress)
	rs.MarkTrafficAssigned()
	rs.MarkTLSNotEnabled(TLSNotEnabledForClusterLocalMessage)
	if got := say(&rs.Status, RouteConditionReady); got != "True  " {
		t.Errorf("all dependents are True, got %q", got)
	}
}

func TestGetContainer(t *testing.T) {
	spec := &RevisionSpec{}
	if spec.GetContainer().Name != "" {
		t.Error("no container is an empty one")
	}
	spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b", Ports: []corev1.ContainerPort{{Name: "h2c"}}}}
	if spec.GetContainer().Name != "b" {
		t.Error("the one with the port takes the requests")
	}
	if p := (&Revision{Spec: *spec}).GetProtocol(); p != "h2c" {
		t.Errorf("got %s", p)
	}
	if p := (&Revision{}).GetProtocol(); p != "http1" {
		t.Errorf("got %s", p)
	}
}
