// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/ptr"
)

// jwt matches a JSON web token.
const jwt = `^[\w-]+\.[\w-]+\.[\w-]+$`

// volumes gives the serving container volumes, each mounted below /v at its name.
func volumes(sources map[string]corev1.VolumeSource) change {
	return func(svc *servingv1.Service) {
		spec := &svc.Spec.Template.Spec
		for name, source := range sources {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
			spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/v/" + name})
		}
	}
}

// subPath mounts one file of a volume.
func subPath(volume, path, at string) change {
	return container(func(c *corev1.Container) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, SubPath: path, MountPath: at})
	})
}

// sources are all kinds of volumes that need no flag.
func sources() map[string]corev1.VolumeSource {
	ref := corev1.LocalObjectReference{Name: "settings"}
	key := []corev1.KeyToPath{{Key: "key", Path: "renamed/file", Mode: ptr.Int32(0o444)}}
	ofPod := func(path, field string) corev1.DownwardAPIVolumeFile {
		return corev1.DownwardAPIVolumeFile{Path: path, FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}
	}
	size := resource.MustParse("1Mi")
	return map[string]corev1.VolumeSource{
		"plain":  {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref}},
		"hidden": {Secret: &corev1.SecretVolumeSource{SecretName: "settings"}},
		"items":  {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref, Items: key}},
		"absent": {ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}, Optional: ptr.Bool(true)}},
		"empty":  {EmptyDir: &corev1.EmptyDirVolumeSource{}},
		"memory": {EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size}},
		"all": {Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: ref, Items: []corev1.KeyToPath{{Key: "key", Path: "plain"}}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: ref, Items: []corev1.KeyToPath{{Key: "key", Path: "hidden"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				ofPod("namespace", "metadata.namespace"), ofPod("labels", "metadata.labels")}}},
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "somebody"}},
		}}},
	}
}

// Files of ConfigMaps, Secrets, projections and directories of one's own are where they are mounted.
func TestRuntimeVolumes(t *testing.T) {
	s := parallelSpace(t)
	s.settings("settings")
	app := s.run(volumes(sources()), subPath("plain", "other", "/v/single"), subPath("empty", "below", "/v/below"))
	want := map[string]string{
		"/v/plain/key":          "^plain$",
		"/v/hidden/key":         "^hidden$",
		"/v/items/renamed/file": "^plain$",
		"/v/all/plain":          "^plain$",
		"/v/all/hidden":         "^hidden$",
		"/v/all/namespace":      "^" + s.ns + "$",
		"/v/all/labels":         "serving.knative.dev/service=\"app\"",
		"/v/all/token":          jwt,
		"/v/single":             "^plain too$",
	}
	query := url.Values{"list": {"/v/absent", "/v/items"}, "read": {"/proc/self/mountinfo"}}
	for path := range want {
		query.Add("read", path)
	}
	got := s.inspect(app, query)
	for path, pattern := range want {
		if f := got.Read[path]; f.Error != "" || !regexp.MustCompile(pattern).MatchString(f.Text) {
			t.Errorf("%s holds %q %s, want %s", path, f.Text, f.Error, pattern)
		}
	}
	if f := got.List["/v/absent"]; f.Error != "" || len(visible(f.Names)) > 0 {
		t.Errorf("the volume of what is optional and absent: %+v, want it empty", f)
	}
	if names := visible(got.List["/v/items"].Names); len(names) != 1 {
		t.Errorf("of the keys one was chosen, there are %v", names)
	}
	if !regexp.MustCompile(" /v/memory .* - tmpfs ").MatchString(got.Read["/proc/self/mountinfo"].Text) {
		t.Error("the directory in memory is none")
	}
	s.checkWritable(app)
}

// visible leaves out the names by which a node updates files at once.
func visible(names []string) []string {
	var list []string
	for _, name := range names {
		if !strings.HasPrefix(name, "..") {
			list = append(list, name)
		}
	}
	return list
}

// checkWritable: directories of one's own can be written, by a user other than root, and all else cannot.
func (s *space) checkWritable(app string) {
	s.t.Helper()
	for _, path := range []string{"/v/empty/new", "/v/memory/new", "/v/below/new"} {
		if failed := s.write(app, path, "kept"); failed.Error != "" {
			s.t.Errorf("write %s: %+v", path, failed)
		}
		if got := s.inspect(app, url.Values{"read": {path}}).Read[path].Text; got != "kept" {
			s.t.Errorf("%s holds %q after it was written", path, got)
		}
	}
	if got := s.inspect(app, url.Values{"read": {"/v/empty/below/new"}}).Read["/v/empty/below/new"].Text; got != "kept" {
		s.t.Errorf("what is mounted by its subPath is elsewhere: %q", got)
	}
	var full file
	if s.getJSON(app+"/write?path=/v/memory/large&mb=2", &full); full.Errno != "ENOSPC" {
		s.t.Errorf("2 MiB into a directory of 1 MiB: %+v", full)
	}
	for _, path := range []string{"/v/plain/new", "/v/hidden/new", "/v/all/new", "/v/plain/key", "/v/single"} {
		if failed := s.write(app, path, "changed"); failed.Errno != "EROFS" {
			s.t.Errorf("write %s: %+v, want a read-only file system", path, failed)
		}
	}
}

// A program has its account's token, unless it is not to.
func TestRuntimeServiceAccountToken(t *testing.T) {
	t.Parallel()
	const dir = "/var/run/secrets/kubernetes.io/serviceaccount"
	for name, mount := range map[string]*bool{"default": nil, "none": ptr.Bool(false)} {
		t.Run(name, func(t *testing.T) {
			s := parallelSpace(t)
			app := s.run(func(svc *servingv1.Service) { svc.Spec.Template.Spec.AutomountServiceAccountToken = mount })
			got := s.inspect(app, url.Values{"read": {dir + "/token", dir + "/namespace", dir + "/ca.crt"}}).Read
			if mount != nil {
				if got[dir+"/token"].Errno != "ENOENT" {
					t.Error("there is a token")
				}
				return
			}
			if !regexp.MustCompile(jwt).MatchString(got[dir+"/token"].Text) || got[dir+"/namespace"].Text != s.ns || got[dir+"/ca.crt"].Text == "" {
				t.Errorf("token, namespace, certificate: %+v", got)
			}
		})
	}
}
