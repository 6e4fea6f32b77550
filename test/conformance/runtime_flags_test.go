// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// enable sets flags of config-features until the test ends, and waits until a Service that needs them is taken. They are the whole
// system's, so a test that does so is not parallel to others.
func (s *space) enable(needs change, flags ...string) {
	s.t.Helper()
	on, off := map[string]string{}, map[string]string{}
	for _, flag := range flags {
		on[flag], off[flag] = "Enabled", "Disabled"
	}
	set := func(data map[string]string, taken bool) {
		if err := s.SetConfig(s.ctx, "config-features", data); err != nil {
			s.t.Fatal(err)
		}
		s.eventually("the flags are known", func() (bool, error) {
			_, err := s.try(needs)
			return (err == nil) == taken, nil
		})
	}
	s.t.Cleanup(func() { set(off, false) })
	set(on, true)
}

// What an operator allows beyond the contract has Kubernetes' meaning.
func TestRuntimeFlags(t *testing.T) {
	s := newSpace(t)
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	quantity := func(name, of string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			Resource: of, Divisor: resource.MustParse("1")}}}
	}
	needs := func(svc *servingv1.Service) {
		volumes(map[string]corev1.VolumeSource{"empty": {EmptyDir: &corev1.EmptyDirVolumeSource{}}})(svc)
		limited("100m", "1", "128Mi")(svc)
		pod := &svc.Spec.Template.Spec.PodSpec
		pod.SecurityContext = &corev1.PodSecurityContext{
			RunAsUser: ptr.Int64(2020), FSGroup: ptr.Int64(4040), SupplementalGroups: []int64{5050},
		}
		pod.HostAliases = []corev1.HostAlias{{IP: "127.0.0.1", Hostnames: []string{"alias.example"}}}
		pod.DNSConfig = &corev1.PodDNSConfig{Searches: []string{"search.example"}}
		c := &pod.Containers[0]
		c.Env = append(c.Env, field("POD", "metadata.name"), field("IP", "status.podIP"), field("NODE", "spec.nodeName"),
			field("LABEL", "metadata.labels['serving.knative.dev/service']"), quantity("MEMORY", "limits.memory"), quantity("CPU", "requests.cpu"))
		c.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}}
	}
	s.enable(needs, "kubernetes.podspec-fieldref", "kubernetes.podspec-securitycontext", "kubernetes.podspec-hostaliases",
		"kubernetes.podspec-dnsconfig", "kubernetes.containerspec-addcapabilities")
	app := s.run(needs)
	pod := s.onlyPod()
	env := s.info(app).Env
	for name, want := range map[string]string{
		"POD": pod.Name, "IP": pod.Status.PodIP, "NODE": pod.Spec.NodeName, "LABEL": "app", "MEMORY": "134217728", "CPU": "1",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
	got := s.inspect(app, url.Values{"stat": {"/v/empty"}, "read": {"/etc/resolv.conf", "/proc/self/status"}})
	if got.UID != 2020 || !slices.Contains(got.Groups, 4040) || !slices.Contains(got.Groups, 5050) {
		t.Errorf("runs as %d of the groups %v", got.UID, got.Groups)
	}
	if dir := got.Stat["/v/empty"]; dir.GID != 4040 || !strings.HasPrefix(dir.Mode, "dgrwxrwx") {
		t.Errorf("the volume: %+v, want it of the group 4040", dir)
	}
	if !strings.Contains(got.Read["/etc/resolv.conf"].Text, " search.example") {
		t.Errorf("resolv.conf: %s", got.Read["/etc/resolv.conf"].Text)
	}
	if status := got.Read["/proc/self/status"].Text; !strings.Contains(status, "CapBnd:\t00000000a80435fb") {
		t.Errorf("the capability is not there: %s", status)
	}
	if body := s.getOK(app + "/call?url=" + url.QueryEscape("http://alias.example:8080/")); !strings.Contains(body, env["K_REVISION"]) {
		t.Errorf("by its alias the program answers %q", body)
	}
}
