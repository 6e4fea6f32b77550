// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	servingv1 "weir.dev/api/serving/v1"
)

// Command, arguments and working directory are those of the image, or of the developer.
func TestRuntimeCommandLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		with   func(*corev1.Container)
		args   []string
		cwd    string
	}{
		"args":              {"they follow the image's entrypoint", func(c *corev1.Container) { c.Args = []string{"one", "two words", "$(PORT)"} }, []string{"/app/probe", "one", "two words", "8080"}, ""},
		"command":           {"it replaces the image's", func(c *corev1.Container) { c.Command, c.Args = []string{"/app/probe", "own"}, []string{"one"} }, []string{"/app/probe", "own", "one"}, ""},
		"working directory": {"the developer's", func(c *corev1.Container) { c.WorkingDir = "/tmp" }, []string{"/app/probe"}, "/tmp"},
		"new directory":     {"one that is not in the image is made", func(c *corev1.Container) { c.WorkingDir = "/new/directory" }, []string{"/app/probe"}, "/new/directory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			got := s.inspect(s.run(container(tc.with)), nil)
			if !slices.Equal(got.Args, tc.args) || tc.cwd != "" && got.Cwd != tc.cwd {
				t.Errorf("runs %q in %s, want %q in %s: %s", got.Args, got.Cwd, tc.args, tc.cwd, tc.reason)
			}
		})
	}
}

// sidecar adds a container that listens on a port of its own.
func sidecar(svc *servingv1.Service) {
	spec := &svc.Spec.Template.Spec
	spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
	spec.Containers = append(spec.Containers, corev1.Container{
		Name: "side", Image: probeImage, Env: []corev1.EnvVar{{Name: "LISTEN_PORT", Value: "9999"}, {Name: "VERSION", Value: "side"}},
	})
}

// Containers of an instance share its network; the status tells the image of each.
func TestRuntimeSidecar(t *testing.T) {
	s := parallelSpace(t)
	svc := s.deploy(probe("app", sidecar))
	body := s.getOK(svc.Status.URL.String() + "/call?url=" + url.QueryEscape("http://localhost:9999/"))
	if !strings.HasPrefix(body, "side "+svc.Status.LatestReadyRevisionName) {
		t.Errorf("the other container answers %q", body)
	}
	var side seen
	s.getJSON(svc.Status.URL.String()+"/call?url="+url.QueryEscape("http://localhost:9999/info"), &side)
	if side.Env["PORT"] != "" || side.Env["K_SERVICE"] != "app" {
		t.Errorf("the other container's PORT is %q, its K_SERVICE %q", side.Env["PORT"], side.Env["K_SERVICE"])
	}
	status := s.revision(svc.Status.LatestReadyRevisionName).Status
	checkDigests(t, status.ContainerStatuses, "side", "user-container-0")
}

// Other containers have probes of their own where the operator allows them: an instance is ready when all of them are.
func TestRuntimeSidecarProbes(t *testing.T) {
	s := newSpace(t)
	const at = "http://localhost:9999"
	probed := func(svc *servingv1.Service) {
		sidecar(svc)
		side := &svc.Spec.Template.Spec.Containers[1]
		side.Env = append(side.Env, corev1.EnvVar{Name: "READY_AFTER", Value: "1s"})
		side.ReadinessProbe = each(httpGet("/health/ready"))
		side.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(9999)
		side.LivenessProbe = each(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(9999)}})
	}
	s.enable(probed, "multi-container-probing")
	app := s.run(probed, oneAtLeast())
	s.getOK(app + "/call?url=" + url.QueryEscape(at+"/health/ready"))
	s.getOK(app + "/call?url=" + url.QueryEscape(at+"/fall/ready?d=8s"))
	ready := func(want bool) func() (bool, error) {
		return func() (bool, error) {
			for _, c := range s.onlyPod().Status.ContainerStatuses {
				if c.Name == "side" {
					return c.Ready == want && c.RestartCount == 0, nil
				}
			}
			return false, nil
		}
	}
	s.eventually("the other container is not ready", ready(false))
	s.eventually("it is again", ready(true))
}

// Init containers run first, where the operator allows them.
func TestRuntimeInitContainer(t *testing.T) {
	s := newSpace(t)
	prepared := probe("app", volumes(map[string]corev1.VolumeSource{"shared": {EmptyDir: &corev1.EmptyDirVolumeSource{}}}))
	prepared.Spec.Template.Spec.InitContainers = []corev1.Container{{
		Name: "prepare", Image: probeImage, Args: []string{"write", "/shared/file", "prepared"},
		VolumeMounts: []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}},
	}}
	s.enable(func(svc *servingv1.Service) { svc.Spec = prepared.Spec }, "kubernetes.podspec-init-containers")
	svc := s.deploy(prepared)
	const path = "/v/shared/file"
	if f := s.inspect(svc.Status.URL.String(), url.Values{"read": {path}}).Read[path]; f.Text != "prepared" {
		t.Errorf("the file of the init container: %+v", f)
	}
	checkDigests(t, s.revision(svc.Status.LatestReadyRevisionName).Status.InitContainerStatuses, "prepare")
}

// checkDigests wants the statuses to tell the images of containers by their digests.
func checkDigests(t *testing.T, statuses []servingv1.ContainerStatus, names ...string) {
	t.Helper()
	if len(statuses) != len(names) {
		t.Errorf("statuses %+v, want those of %q", statuses, names)
	}
	for _, st := range statuses {
		if !slices.Contains(names, st.Name) || !strings.Contains(st.ImageDigest, "@sha256:") {
			t.Errorf("status %+v, want one of %q with a digest", st, names)
		}
	}
}
