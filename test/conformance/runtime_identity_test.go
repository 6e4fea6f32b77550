// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// "The runtime MUST provide the inbound port … in the environment variable PORT"; K_REVISION, K_CONFIGURATION and K_SERVICE tell who
// it is.
func TestRuntimeEnvironment(t *testing.T) {
	s := parallelSpace(t)
	svc := s.deploy(probe("app", container(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 8801}} })))
	env := s.info(svc.Status.URL.String()).Env
	for name, want := range map[string]string{
		"PORT": "8801", "K_SERVICE": "app", "K_CONFIGURATION": "app", "K_REVISION": svc.Status.LatestReadyRevisionName,
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
}

// "The identity that was asked for MUST be used"; else the image's is kept.
func TestRuntimeUser(t *testing.T) {
	t.Parallel()
	const built = 65532 // the user of images that are built from source
	cases := map[string]struct {
		reason   string
		change   change
		uid, gid int
	}{
		"image's":   {"the image says who it runs as", func(*servingv1.Service) {}, built, built},
		"asked for": {"R13", asUser(2020), 2020, 0},
		"group": {"the group is asked for alone", container(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{RunAsGroup: ptr.Int64(3030)}
		}), built, 3030},
		"root": {"a user may ask for it where nothing forbids it", asUser(0), 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			if got := s.inspect(s.run(tc.change), nil); got.UID != tc.uid || got.GID != tc.gid {
				t.Errorf("runs as %d:%d, want %d:%d: %s", got.UID, got.GID, tc.uid, tc.gid, tc.reason)
			}
		})
	}
}

// "An identity that is not valid SHOULD be refused", one that the container must not have fails it.
func TestRuntimeIllegalUser(t *testing.T) {
	s := parallelSpace(t)
	_, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, probe("app", asUser(-10)), metav1.CreateOptions{})
	if err == nil {
		t.Error("user -10 was accepted")
	}
	s.fails(probe("app", container(func(c *corev1.Container) {
		c.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.Int64(0), RunAsNonRoot: ptr.Bool(true)}
	})), "", "root")
}
