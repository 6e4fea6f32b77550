// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
)

// "Failures of the developer's process MUST reach a log that developers see"; an instance that cannot start "SHOULD" make its
// Revision failed.
func TestRuntimeFailures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		changes []change
		as      string
		message string
	}{
		"exit code":           {"the code tells the developer most", []change{variable("CRASH", "5")}, "ExitCode5", "crashing with 5"},
		"success":             {"a program that ends is no server, whatever its code", []change{variable("CRASH", "0")}, "", ""},
		"termination message": {"what the program left for its user", []change{variable("CRASH", "7"), variable("CRASH_MESSAGE", "no such database")}, "ExitCode7", "no such database"},
		"another message path": {"the place is the developer's choice", []change{variable("CRASH", "7"), container(func(c *corev1.Container) {
			c.TerminationMessagePath = "/tmp/message"
		})}, "ExitCode7", "crashing with 7"},
		"nothing said": {"even then there is a message", []change{variable("CRASH", "9"), container(func(c *corev1.Container) {
			c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
		})}, "ExitCode9", ""},
		"out of memory": {"more than the limit, at its start", []change{variable("ALLOCATE", "300"), limited("50m", "1", "64Mi")}, "ExitCode137", "OOMKilled"},
		"no such program": {"the start itself fails", []change{container(func(c *corev1.Container) {
			c.Command = []string{"/no/such/program"}
		})}, "", "/no/such/program"},
		"no such directory": {"the program has nowhere to be", []change{container(func(c *corev1.Container) {
			c.Command, c.WorkingDir = []string{"/app/probe"}, "/dev/null/nowhere"
		})}, "", "/dev/null"},
		"no such ConfigMap": {"what it needs is not there", []change{container(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}}}
		}), annotation("serving.knative.dev/progress-deadline", "5s")}, "", "absent"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			s.fails(probe("app", tc.changes...), tc.as, tc.message)
		})
	}
}

// fails deploys a Service and waits until its Revision has failed, for a reason ("" for any) and with a message that has a text.
func (s *space) fails(svc *servingv1.Service, reason, text string) {
	s.t.Helper()
	s.createService(svc)
	var ready *apis.Condition
	s.eventually("the Revision has failed", func() (bool, error) {
		revisions, err := s.Serving.ServingV1().Revisions(s.ns).List(s.ctx, metav1.ListOptions{})
		if err != nil || len(revisions.Items) == 0 {
			return false, err
		}
		ready = revisions.Items[0].Status.GetCondition(servingv1.RevisionConditionReady)
		return ready.IsFalse(), nil
	})
	if ready.Reason == "" || reason != "" && ready.Reason != reason {
		s.t.Errorf("the Revision fails for the reason %q, want %q: %s", ready.Reason, reason, ready.Message)
	}
	if ready.Message == "" || !strings.Contains(ready.Message, text) {
		s.t.Errorf("the Revision's message is %q, want %q in it", ready.Message, text)
	}
}
