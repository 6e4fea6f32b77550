// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	servingv1 "weir.dev/api/serving/v1"
)

// each is how often and how long failures count: at once.
func each(handler corev1.ProbeHandler) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 1, SuccessThreshold: 1}
}

func httpGet(path string) corev1.ProbeHandler {
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}
}

func readiness(p *corev1.Probe) change {
	return container(func(c *corev1.Container) { c.ReadinessProbe = p })
}

// "Without a probe a tcpSocket probe of the inbound port is the default, without delay."
func TestRuntimeDefaultProbe(t *testing.T) {
	s := parallelSpace(t)
	svc, err := s.try()
	if err != nil {
		t.Fatal(err)
	}
	p := svc.Spec.Template.Spec.Containers[0].ReadinessProbe
	if p == nil || p.TCPSocket == nil || p.InitialDelaySeconds != 0 {
		t.Errorf("the default probe is %+v", p)
	}
}

// "Probes target the inbound port." An instance has no request before its probe has succeeded.
func TestRuntimeReadinessProbes(t *testing.T) {
	t.Parallel()
	const late = "1s"
	probes := map[string]struct {
		reason  string
		changes []change
	}{
		"default":    {"listening late", []change{variable("START_DELAY", late)}},
		"tcpSocket":  {"the same, asked for", []change{variable("START_DELAY", late), readiness(each(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}))}},
		"httpGet":    {"listening, but not ready; a probe may name a host", []change{variable("READY_AFTER", late), readiness(each(withHost(httpGet("/health/ready"))))}},
		"continuous": {"period 0: as often as the platform likes", []change{variable("READY_AFTER", late), readiness(&corev1.Probe{ProbeHandler: httpGet("/health/ready")})}},
		"grpc": {"HTTP/2 on the same port", []change{variable("READY_AFTER", late), readiness(each(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}})),
			container(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{Name: "h2c", ContainerPort: 8080}} })}},
		"exec": {"a command of the image", []change{variable("READY_AFTER", late), readiness(each(corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"/app/probe", "get", "http://localhost:8080/health/ready"}}}))}},
		"startup": {"a slow start holds up the others", []change{variable("READY_AFTER", late), container(func(c *corev1.Container) {
			c.StartupProbe = &corev1.Probe{ProbeHandler: httpGet("/health/started"), PeriodSeconds: 1, FailureThreshold: 30}
			c.LivenessProbe = each(httpGet("/health/alive"))
		})}},
	}
	for name, tc := range probes {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			svc := s.deploy(probe("app", tc.changes...))
			if a := s.get(svc.Status.URL.String() + "/health/any"); a.Status != http.StatusOK {
				t.Errorf("Ready, but the first request is answered %d %q: %s", a.Status, a.Body, tc.reason)
			}
			for _, p := range s.pods() {
				for _, c := range p.Status.ContainerStatuses {
					if c.RestartCount > 0 {
						t.Errorf("container %s was started %d times more", c.Name, c.RestartCount)
					}
				}
			}
		})
	}
}

// withHost adds headers to a probe.
func withHost(p corev1.ProbeHandler) corev1.ProbeHandler {
	p.HTTPGet.HTTPHeaders = []corev1.HTTPHeader{{Name: "Host", Value: "probe.example"}, {Name: "X-Probe", Value: "yes"}}
	return p
}

// "Where readiness becomes false later, traffic SHOULD stop": callers wait or are told, until the instance is ready again.
func TestRuntimeReadinessIsLost(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(oneAtLeast(), readiness(each(httpGet("/health/ready"))), annotation("autoscaling.knative.dev/max-scale", "1"))
	s.getOK(app + "/fall/ready?d=15s")
	s.eventually("no request reaches the instance", func() (bool, error) {
		ctx, cancel := context.WithTimeout(s.ctx, time.Second)
		defer cancel()
		a, err := s.Get(ctx, app)
		if errors.Is(err, context.DeadlineExceeded) || a.Status == http.StatusServiceUnavailable {
			return true, nil
		}
		return false, err
	})
	s.eventually("requests reach it again", func() (bool, error) {
		a, err := s.Get(s.ctx, app)
		return a.Status == http.StatusOK, err
	})
}

// A container that fails its liveness probe is started anew.
func TestRuntimeLivenessProbes(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]corev1.ProbeHandler{
		"httpGet": httpGet("/health/alive"),
		"exec":    {Exec: &corev1.ExecAction{Command: []string{"/app/probe", "get", "http://localhost:8080/health/alive"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			app := s.run(oneAtLeast(), variable("ON_TERM", "0s"), func(svc *servingv1.Service) {
				svc.Spec.Template.Spec.Containers[0].LivenessProbe = each(handler)
			})
			s.getOK(app + "/fall/alive?d=1h")
			s.eventually("the container is started anew", func() (bool, error) {
				for _, p := range s.pods() {
					for _, c := range p.Status.ContainerStatuses {
						if c.RestartCount > 0 && c.Ready {
							return true, nil
						}
					}
				}
				return false, nil
			})
			s.getOK(app + "/health/alive")
			log, err := s.logs(s.onlyPod().Name, &corev1.PodLogOptions{Previous: true})
			if err != nil || !strings.Contains(log, "asked to end") {
				t.Errorf("the log of the run that failed: %q, %v", log, err)
			}
		})
	}
}
