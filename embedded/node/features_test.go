// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"weir.dev/embedded/node/engine"
	"weir.dev/embedded/node/nodetest"
)

func TestVolumes(t *testing.T) {
	w := newWorld(t)
	w.client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		request.Status = authenticationv1.TokenRequestStatus{Token: "the-token", ExpirationTimestamp: metav1.NewTime(time.Now().Add(time.Hour))}
		return true, request, nil
	})
	for _, object := range []runtime.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}, Data: map[string]string{"color": "blue"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"}, Data: map[string][]byte{"password": []byte("hush")}},
	} {
		if err := w.client.Tracker().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	n, _ := w.start(t)
	as := &corev1.SecurityContext{RunAsUser: ptr.To[int64](1000), RunAsNonRoot: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true),
		AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	mounts := []corev1.VolumeMount{
		{Name: "api", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
		{Name: "settings", MountPath: "/settings/color", SubPath: "color"},
		{Name: "keys", MountPath: "/keys"},
		{Name: "scratch", MountPath: "/scratch"},
		{Name: "fast", MountPath: "/fast"},
		{Name: "scratch", MountPath: "/part", SubPathExpr: "$(PART)"},
	}
	container := func(name string, args ...string) corev1.Container {
		return corev1.Container{Name: name, Image: "test", Args: args, SecurityContext: as, VolumeMounts: mounts,
			Env: []corev1.EnvVar{{Name: "PART", Value: "a/b"}}}
	}
	pod := w.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "volumes", UID: "uid-volumes"},
		Spec: corev1.PodSpec{
			NodeName: "node", RestartPolicy: corev1.RestartPolicyNever, SecurityContext: &corev1.PodSecurityContext{FSGroup: ptr.To[int64](3000)},
			InitContainers: []corev1.Container{container("first", "write", "/part/file", "from", "init")},
			Containers: []corev1.Container{container("main", "cat", "/var/run/secrets/kubernetes.io/serviceaccount/token",
				"/settings/color", "/keys/password", "/scratch/a/b/file", "/proc/self/mountinfo")},
			Volumes: []corev1.Volume{
				{Name: "api", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}}}}},
				{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
				{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys", DefaultMode: ptr.To[int32](0o400)}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "fast", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
					Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("1Mi"))}}},
			},
		},
	})
	w.await(t, pod.Name, phase(corev1.PodSucceeded))
	text := log(t, n, pod.Name, "")
	if !strings.HasPrefix(text, "the-token\nblue\nhush\nfrom init\n") {
		t.Errorf("log is:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, " /fast ") && !strings.Contains(line, "size=1024k") {
			t.Errorf("volume in memory is not bounded: %s", line)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	w.pod(t, "greedy", corev1.RestartPolicyNever, corev1.Container{Args: []string{"fill"},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}}})
	pod := w.await(t, "greedy", phase(corev1.PodFailed))
	if end := pod.Status.ContainerStatuses[0].State.Terminated; end.Reason != "OOMKilled" || end.ExitCode != 137 {
		t.Errorf("end is %+v", end)
	}
}

func TestForbiddenUser(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	w.pod(t, "root", corev1.RestartPolicyAlways, corev1.Container{Args: []string{"id"}, SecurityContext: &corev1.SecurityContext{RunAsNonRoot: ptr.To(true)}})
	pod := w.await(t, "root", func(pod *corev1.Pod) bool {
		waiting := pod.Status.ContainerStatuses
		return len(waiting) == 1 && waiting[0].State.Waiting != nil && waiting[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	if message := pod.Status.ContainerStatuses[0].State.Waiting.Message; !strings.Contains(message, "runAsNonRoot") {
		t.Errorf("message is %q", message)
	}
}

func TestProbesAndRestart(t *testing.T) {
	w := newWorld(t)
	n, _ := w.start(t)
	c := server()
	c.LivenessProbe = c.ReadinessProbe.DeepCopy()
	c.LivenessProbe.PeriodSeconds, c.LivenessProbe.FailureThreshold = 1, 1
	c.StartupProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{nodetest.Program, "stat", "/dev/null"}}}}
	w.pod(t, "web", corev1.RestartPolicyAlways, c)
	w.await(t, "web", ready)
	running, err := n.provider.byName("default", "web").Running("main")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.engine.Exec(t.Context(), running, []string{nodetest.Program, "write", "/tmp/sick", ""}, engine.Streams{}); err != nil {
		t.Fatal(err)
	}
	// The new run has a fresh file system, so it is well again.
	pod := w.await(t, "web", func(pod *corev1.Pod) bool { return ready(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1 })
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 0 {
		t.Errorf("last state is %+v", last)
	}
	if got := log(t, n, "web", "previous=true"); !strings.HasSuffix(got, "called preStop\ngot terminated\n") {
		t.Errorf("log of the run before: %q", got)
	}
}

func TestUnusualContainers(t *testing.T) {
	w := newWorld(t)
	n, _ := w.start(t)
	cases := map[string]struct {
		reason    string
		container corev1.Container
		pod       func(spec *corev1.PodSpec)
		want      string
	}{
		"terminal": {"lines end as on a terminal, and it is one",
			corev1.Container{TTY: true, Args: []string{"env"}}, nil, "TERM=xterm"},
		"host-network": {"the machine's interfaces and host name, the node's address",
			corev1.Container{Args: []string{"cat", "/proc/net/dev"}}, func(s *corev1.PodSpec) { s.HostNetwork = true }, "wt"},
		"privileged": {"may write where others may not",
			corev1.Container{Args: []string{"write", "/proc/sys/net/ipv4/ip_forward", "1"},
				SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)}}, nil, ""},
		"directory": {"a working directory need not exist",
			corev1.Container{WorkingDir: "/a/b", Args: []string{"write", "relative", "x"}}, nil, ""},
		"host-pids": {"the machine's processes",
			corev1.Container{Args: []string{"stat", "/proc/2"}}, func(s *corev1.PodSpec) { s.HostPID = true }, "/proc/2"},
		"low-port": {"any user may listen on it", corev1.Container{Args: []string{"serve", ":80", "once"},
			SecurityContext: &corev1.SecurityContext{RunAsUser: ptr.To[int64](1000)}}, nil, "serving"},
	}
	// A sandbox of its own keeps an interface of the test network in the
	// machine's namespace.
	w.pod(t, "neighbour", corev1.RestartPolicyAlways, corev1.Container{Args: []string{"wait"}})
	w.await(t, "neighbour", phase(corev1.PodRunning))
	for name, c := range cases {
		c.container.Name, c.container.Image = "main", "test"
		spec := corev1.PodSpec{NodeName: "node", RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{c.container}}
		if c.pod != nil {
			c.pod(&spec)
		}
		w.create(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}, Spec: spec})
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.await(t, name, func(pod *corev1.Pod) bool {
				return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
			})
			pod := w.await(t, name, func(*corev1.Pod) bool { return true })
			text := log(t, n, name, "")
			if pod.Status.Phase != corev1.PodSucceeded || !strings.Contains(text, c.want) {
				t.Errorf("%s: %s, log:\n%s", c.reason, describe(pod), text)
			}
		})
	}
}
