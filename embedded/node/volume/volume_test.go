// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

type source struct {
	configMap *corev1.ConfigMap
	tokens    int
}

func (s *source) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	if s.configMap == nil || s.configMap.Name != name {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return s.configMap, nil
}

func (s *source) Secret(context.Context, string, string) (*corev1.Secret, error) {
	return &corev1.Secret{Data: map[string][]byte{"password": []byte("secret")}}, nil
}

func (s *source) Token(_ context.Context, _, account string, spec authenticationv1.TokenRequestSpec) (authenticationv1.TokenRequestStatus, error) {
	s.tokens++
	text := fmt.Sprintf("token %d of %s for %s", s.tokens, account, spec.BoundObjectRef.Name)
	return authenticationv1.TokenRequestStatus{Token: text, ExpirationTimestamp: metav1.NewTime(time.Now().Add(time.Hour))}, nil
}

// apiAccess is the volume that the service account admission gives every pod.
func apiAccess() corev1.Volume {
	return corev1.Volume{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: ptr.To[int64](3607)}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
		},
	}}}
}

func testPod(volumes ...corev1.Volume) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod"},
		Spec:       corev1.PodSpec{ServiceAccountName: "robot", Volumes: volumes, Containers: []corev1.Container{{Name: "main"}}},
	}
}

func newSet(t *testing.T, s *source) *Set {
	t.Helper()
	return NewSet(s, Place{Disk: t.TempDir(), Memory: t.TempDir()}, nil)
}

func read(t *testing.T, s *Set, v corev1.Volume, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.path(&v), name))
	if err != nil {
		t.Errorf("read: %v", err)
	}
	return string(data)
}

func TestAPIAccess(t *testing.T) {
	from := &source{configMap: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"},
		Data: map[string]string{"ca.crt": "CA", "other": "x"}}}
	s := newSet(t, from)
	now := time.Now()
	s.now = func() time.Time { return now }
	pod := testPod(apiAccess())
	if err := s.SetUp(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"token": "token 1 of robot for pod", "ca.crt": "CA", "namespace": "ns"} {
		if got := read(t, s, apiAccess(), name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(s.path(&pod.Spec.Volumes[0]), "other")); !os.IsNotExist(err) {
		t.Errorf("a key that was not asked for is there: %v", err)
	}

	before, _ := os.Readlink(filepath.Join(s.path(&pod.Spec.Volumes[0]), dataLink))
	if err := s.Refresh(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Readlink(filepath.Join(s.path(&pod.Spec.Volumes[0]), dataLink)); after != before {
		t.Error("a refresh without change wrote the files again")
	}
	now = now.Add(50 * time.Minute)
	if err := s.Refresh(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, apiAccess(), "token"); !strings.HasPrefix(got, "token 2") {
		t.Errorf("token after four fifths of its life is %q", got)
	}
}

func TestConfigMapFollowsItsObject(t *testing.T) {
	from := &source{configMap: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "1", "b": "1"}}}
	volume := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, DefaultMode: ptr.To[int32](0o640)}}}
	s := newSet(t, from)
	pod := testPod(volume)
	if err := s.SetUp(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.path(&volume), "a"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v", info, err)
	}
	from.configMap.Data = map[string]string{"a": "2", "c": "2"}
	if err := s.Refresh(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if read(t, s, volume, "a") != "2" || read(t, s, volume, "c") != "2" {
		t.Error("new content is missing")
	}
	entries, err := os.ReadDir(s.path(&volume))
	if err != nil || len(entries) != 4 {
		t.Errorf("want a, c, %s and one directory, got %v, %v", dataLink, entries, err)
	}
}

func TestProblems(t *testing.T) {
	cases := map[string]struct {
		reason string
		source corev1.VolumeSource
		want   string
		is     error
	}{
		"claim": {"what needs a driver is refused by name",
			corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}, `volume "v"`, ErrUnsupported},
		"missing": {"the pod waits for its config map",
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "no"}}}, `"no" not found`, nil},
		"missing but optional": {"then the volume is empty",
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "no"}, Optional: ptr.To(true)}}, "", nil},
		"missing key": {"the message names it",
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "nokey", Path: "p"}}}}, `no key "nokey"`, nil},
		"escape": {"a path must stay inside",
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "password", Path: "../p"}}}}, "outside", nil},
		"hostPath type": {"the kind of file is checked",
			corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev/null", Type: ptr.To(corev1.HostPathDirectory)}}, "not of type", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newSet(t, &source{}).SetUp(t.Context(), testPod(corev1.Volume{Name: "v", VolumeSource: c.source}))
			if c.want == "" {
				if err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %q", c.reason, err, c.want)
			}
		})
	}
}

func TestEmptyDirIsForEverybody(t *testing.T) {
	v := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	s := newSet(t, &source{})
	for range 2 {
		if err := s.SetUp(t.Context(), testPod(v)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(s.path(&v))
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("mode is %v, %v", info, err)
	}
}
