// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// limited gives the container limits and requests of its own.
func limited(cpuRequest, cpu, memory string) change {
	return container(func(c *corev1.Container) {
		c.Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpuRequest)},
			Limits: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			},
		}
	})
}

// "The platform MUST configure cgroup controllers"; a program "SHOULD" see its limits, and cannot change them.
func TestRuntimeLimitsAreVisible(t *testing.T) {
	s := parallelSpace(t)
	const v1, v2 = "/sys/fs/cgroup/", "/sys/fs/cgroup/cgroup.controllers"
	oldLimits := map[string]string{
		v1 + "memory/memory.limit_in_bytes": strconv.Itoa(128 << 20),
		v1 + "cpu/cpu.shares":               "204",
		v1 + "cpu/cpu.cfs_period_us":        "100000",
		v1 + "cpu/cpu.cfs_quota_us":         "50000",
	}
	limits := map[string]string{v1 + "memory.max": strconv.Itoa(128 << 20), v1 + "cpu.max": "50000 100000", v1 + "cpu.weight": ""}
	query := url.Values{"stat": {v2}, "read": {"/proc/self/mountinfo"}}
	for _, set := range []map[string]string{oldLimits, limits} {
		for path := range set {
			query.Add("read", path)
			query.Add("open", path)
		}
	}
	app := s.run(limited("200m", "500m", "128Mi"), asUser(0))
	got := s.inspect(app, query)
	want := oldLimits
	if got.Stat[v2].Error == "" {
		want = limits
	}
	for path, value := range want {
		f := got.Read[path]
		if text := strings.TrimSpace(f.Text); f.Error != "" || value != "" && text != value {
			t.Errorf("%s holds %q %s, want %q", path, text, f.Error, value)
		}
		if open := got.Open[path]; open.Errno != "EROFS" {
			t.Errorf("%s can be written by root: %+v", path, open)
		}
	}
	if failed := s.write(app, v1+"new", ""); failed.Errno != "EROFS" && failed.Errno != "EACCES" && failed.Errno != "EPERM" {
		t.Errorf("root can make files beside the controllers: %+v", failed)
	}
	checkReadOnlyMounts(t, got.Read["/proc/self/mountinfo"].Text, "/sys")
}

// checkReadOnlyMounts wants all mounts below a directory read-only (proc(5), mountinfo). Of several at one place the last is seen.
func checkReadOnlyMounts(t *testing.T, mountinfo, below string) {
	t.Helper()
	options := map[string]string{}
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) > 5 && strings.HasPrefix(fields[4]+"/", below+"/") {
			options[fields[4]] = fields[5]
		}
	}
	for place, set := range options {
		if !strings.HasPrefix(set+",", "ro,") {
			t.Errorf("%s is mounted with %s, want read-only", place, set)
		}
	}
	if len(options) == 0 {
		t.Errorf("nothing is mounted below %s:\n%s", below, mountinfo)
	}
}

// A program has the memory that its limit says, and is ended when it takes more; another one takes its place.
func TestRuntimeMemoryLimit(t *testing.T) {
	s := parallelSpace(t)
	app := s.run(limited("50m", "1", "100Mi"), oneAtLeast())
	s.getOK(app + "/allocate?mb=20")
	if a := s.get(app + "/allocate?mb=300"); a.Status == http.StatusOK {
		t.Error("a program has three times the memory of its limit")
	}
	s.eventually("the container was ended for its memory, and runs again", func() (bool, error) {
		for _, p := range s.pods() {
			for _, c := range p.Status.ContainerStatuses {
				if end := c.LastTerminationState.Terminated; c.Ready && end != nil {
					return end.Reason == "OOMKilled" && end.ExitCode == 137, nil
				}
			}
		}
		return false, nil
	})
	s.getOK(app + "/allocate?mb=20")
}
