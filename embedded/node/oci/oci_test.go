// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	imagev1 "github.com/google/go-containerregistry/pkg/v1"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestArgs(t *testing.T) {
	image := imagev1.Config{Entrypoint: []string{"/entry"}, Cmd: []string{"default"}}
	cases := map[string]struct {
		reason        string
		image         imagev1.Config
		command, args []string
		want          []string
	}{
		"image alone":     {"entrypoint and command", image, nil, nil, []string{"/entry", "default"}},
		"args":            {"replace the image's command", image, nil, []string{"a"}, []string{"/entry", "a"}},
		"command":         {"replaces both", image, []string{"/c"}, nil, []string{"/c"}},
		"command and arg": {"replace everything", image, []string{"/c"}, []string{"a"}, []string{"/c", "a"}},
		"nothing":         {"cannot run", imagev1.Config{}, nil, nil, nil},
	}
	for name, c := range cases {
		got, err := Args(c.image, c.command, c.args)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("%s: %s: %v (-want +got):\n%s", name, c.reason, err, diff)
		}
	}
}

func imageRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"passwd": "# users\nroot:x:0:0:root:/root:/bin/sh\napp:x:1000:1001::/home/app:/bin/sh\nbroken\n",
		"group":  "root:x:0:\napp:x:1001:\nextra:x:2000:other,app\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestResolveUser(t *testing.T) {
	yes := ptr.To(true)
	cases := map[string]struct {
		reason    string
		image     string
		pod       *corev1.PodSecurityContext
		container *corev1.SecurityContext
		want      specs.User
		fails     bool
	}{
		"none":       {reason: "root is the OCI default", want: specs.User{AdditionalGids: []uint32{0}}},
		"name":       {reason: "names are the image's", image: "app", want: specs.User{UID: 1000, GID: 1001, AdditionalGids: []uint32{1001, 2000}}},
		"name:group": {reason: "with a group", image: "app:extra", want: specs.User{UID: 1000, GID: 2000, AdditionalGids: []uint32{2000}}},
		"number":     {reason: "need not be known", image: "65532:65532", want: specs.User{UID: 65532, GID: 65532, AdditionalGids: []uint32{65532}}},
		"unknown":    {reason: "no such name", image: "nobody", fails: true},
		"no group":   {reason: "no such group", image: "app:nogroup", fails: true},
		"asked for": {reason: "R13: the container's user wins over the pod's and the image's", image: "app",
			pod: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](5)}, container: &corev1.SecurityContext{RunAsUser: ptr.To[int64](2020)},
			want: specs.User{UID: 2020, AdditionalGids: []uint32{0}}},
		"groups": {reason: "supplemental groups and the volumes' group are added",
			pod:  &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000), SupplementalGroups: []int64{7}, FSGroup: ptr.To[int64](8)},
			want: specs.User{UID: 1000, GID: 1001, AdditionalGids: []uint32{7, 8, 1001, 2000}}},
		"strict": {reason: "the image's groups can be left out", image: "app",
			pod:  &corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyStrict)},
			want: specs.User{UID: 1000, GID: 1001, AdditionalGids: []uint32{1001}}},
		"not root":     {reason: "root was forbidden", container: &corev1.SecurityContext{RunAsNonRoot: yes}, fails: true},
		"not root, is": {reason: "a name that is not root is fine", image: "app", container: &corev1.SecurityContext{RunAsNonRoot: yes}, want: specs.User{UID: 1000, GID: 1001, AdditionalGids: []uint32{1001, 2000}}},
	}
	root := imageRoot(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: c.pod}}
			got, err := ResolveUser(root, c.image, pod, &corev1.Container{SecurityContext: c.container})
			if c.fails {
				if !errors.Is(err, ErrConfig) {
					t.Errorf("%s: %v", c.reason, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", c.reason, err, diff)
			}
		})
	}
}

func TestAccountsStayInside(t *testing.T) {
	root, machine := t.TempDir(), imageRoot(t)
	if err := os.Symlink(filepath.Join(machine, "etc"), filepath.Join(root, "etc")); err != nil {
		t.Fatal(err)
	}
	accounts, err := readAccounts(root)
	if err != nil || len(accounts.users) > 0 {
		t.Errorf("users of the machine were read through a link: %d, %v", len(accounts.users), err)
	}
}

func TestCapabilities(t *testing.T) {
	list := func(add, drop []corev1.Capability) *corev1.SecurityContext {
		return &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: add, Drop: drop}}
	}
	cases := map[string]struct {
		reason string
		set    *corev1.SecurityContext
		has    []string
		lacks  []string
		count  int
	}{
		"default":      {"as runtimes have given since Docker", nil, []string{"CAP_CHOWN"}, []string{"CAP_SYS_ADMIN"}, 14},
		"drop all":     {"the restricted profile", list(nil, []corev1.Capability{"ALL"}), nil, []string{"CAP_CHOWN"}, 0},
		"low port":     {"what is added stays", list([]corev1.Capability{"NET_BIND_SERVICE"}, []corev1.Capability{"ALL"}), []string{"CAP_NET_BIND_SERVICE"}, nil, 1},
		"with prefix":  {"both spellings", list([]corev1.Capability{"CAP_SYS_TIME"}, []corev1.Capability{"chown"}), []string{"CAP_SYS_TIME"}, []string{"CAP_CHOWN"}, 14},
		"all but":      {"", list([]corev1.Capability{"ALL"}, []corev1.Capability{"SYS_ADMIN"}), []string{"CAP_SYS_TIME"}, []string{"CAP_SYS_ADMIN", "CAP_SYS_RESOURCE"}, 39},
		"a privileged": {"everything that there is to give", &corev1.SecurityContext{Privileged: ptr.To(true)}, []string{"CAP_SYS_ADMIN"}, []string{"CAP_SYS_RESOURCE"}, 40},
	}
	// A machine without CAP_SYS_RESOURCE, bit 24.
	machine := Machine{Capabilities: Capabilities(0x1fffeffffff)}
	for name, c := range cases {
		got := capabilitiesOf(&corev1.Container{SecurityContext: c.set}, machine)
		if len(got) != c.count {
			t.Errorf("%s: %s: %d capabilities, want %d: %v", name, c.reason, len(got), c.count, got)
		}
		for _, want := range c.has {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s: %s is missing", name, c.reason, want)
			}
		}
		for _, no := range c.lacks {
			if slices.Contains(got, no) {
				t.Errorf("%s: %s: %s is there", name, c.reason, no)
			}
		}
	}
}

func quantities(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if cpu != "" {
		list[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}

func TestLimits(t *testing.T) {
	limited := corev1.ResourceRequirements{Requests: quantities("250m", "64Mi"), Limits: quantities("500m", "128Mi")}
	if diff := cmp.Diff(Limits{Shares: 256, Quota: 50_000, Period: 100_000, Memory: 128 << 20}, ContainerLimits(limited)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Limits{Shares: 2}, ContainerLimits(corev1.ResourceRequirements{})); diff != "" {
		t.Error(diff)
	}
	two := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: limited}, {Resources: limited}}}}
	if diff := cmp.Diff(Limits{Shares: 512, Quota: 100_000, Period: 100_000, Memory: 256 << 20}, PodLimits(two)); diff != "" {
		t.Error(diff)
	}
	two.Spec.Containers[1].Resources.Limits = nil
	if diff := cmp.Diff(Limits{Shares: 512}, PodLimits(two)); diff != "" {
		t.Errorf("a container without limits frees its pod of them: %s", diff)
	}
}

func request(pod *corev1.Pod) Request {
	return Request{Pod: pod, Container: &pod.Spec.Containers[0], Args: []string{"/app"}, Root: "/root",
		Sandbox: Sandbox{NetNS: "/net", IPCNS: "/ipc", UTSNS: "/uts", UnprivilegedLow: true}, Machine: Machine{Memory: 1 << 30, OOMScoreAdj: 10}}
}

func TestSpec(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	spec, err := New(request(pod))
	if err != nil {
		t.Fatal(err)
	}
	if spec.Linux.Seccomp == nil || len(spec.Linux.MaskedPaths) == 0 || spec.Process.Terminal || spec.Process.Cwd != "/" {
		t.Errorf("defaults are wrong: %+v", spec.Process)
	}
	if spec.Linux.Sysctl["net.ipv4.ip_unprivileged_port_start"] != "0" {
		t.Error("low ports need a capability")
	}
	if *spec.Process.OOMScoreAdj < 10 {
		t.Errorf("score %d is below our own", *spec.Process.OOMScoreAdj)
	}

	// Guaranteed pods would get a score that we may not give.
	pod.Status.QOSClass = corev1.PodQOSGuaranteed
	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
	spec, err = New(request(pod))
	if err != nil {
		t.Fatal(err)
	}
	if *spec.Process.OOMScoreAdj != 10 || spec.Linux.Seccomp != nil || len(spec.Linux.MaskedPaths) != 0 {
		t.Errorf("privileged: %+v", spec.Linux)
	}

	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost}}
	if _, err := New(request(pod)); !errors.Is(err, ErrConfig) {
		t.Errorf("a profile that does not exist: %v", err)
	}
	pod.Spec.Containers[0].SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined
	if spec, err := New(request(pod)); err != nil || spec.Linux.Seccomp != nil {
		t.Errorf("unconfined: %v", err)
	}
}

func TestHostNamespaces(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	req := request(pod)
	req.Sandbox = Sandbox{HostPIDs: true, UnprivilegedLow: true}
	spec, err := New(req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]specs.LinuxNamespace{{Type: specs.MountNamespace}}, spec.Linux.Namespaces); diff != "" {
		t.Error(diff)
	}
	if len(spec.Linux.Sysctl) > 0 {
		t.Error("a sysctl of the machine would be set")
	}
}
