// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	servingv1 "weir.dev/api/serving/v1"
)

// A dry run from the server's side says what would become of the pods, too: refused by a quota, by limits, by pod security, or
// without their account. In truth such Services are taken, and their conditions tell.
func TestDryRunsTryAPod(t *testing.T) {
	cases := map[string]struct {
		prepare func(*space)
		change  func(*servingv1.RevisionSpec)
		want    string
	}{
		"quota": {func(s *space) { s.quota("0") }, func(*servingv1.RevisionSpec) {}, "exceeded quota: pods"},
		"limits": {(*space).limits, func(rs *servingv1.RevisionSpec) {
			rs.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		}, "maximum memory usage per Container is 64Mi"},
		"pod security": {(*space).restrict, func(*servingv1.RevisionSpec) {}, `violates PodSecurity "restricted`},
		"account":      {func(*space) {}, func(rs *servingv1.RevisionSpec) { rs.ServiceAccountName = "nobody" }, `serviceaccount "nobody" not found`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSpace(t)
			tc.prepare(s)
			svc := hello("app")
			tc.change(&svc.Spec.Template.Spec)
			config := &servingv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: "app"}, Spec: svc.Spec.ConfigurationSpec}
			services, configurations := s.Serving.ServingV1().Services(s.ns), s.Serving.ServingV1().Configurations(s.ns)
			s.eventually("the dry run fails", func() (bool, error) {
				_, err := services.Create(s.ctx, svc, metav1.CreateOptions{DryRun: dry})
				return refusedByDryRun(err, tc.want), nil
			})
			if _, err := configurations.Create(s.ctx, config, metav1.CreateOptions{DryRun: dry}); !refusedByDryRun(err, tc.want) {
				t.Errorf("a Configuration: %v", err)
			}
			if _, err := services.Create(s.ctx, svc, metav1.CreateOptions{}); err != nil {
				t.Errorf("in truth: %v", err)
			}
			patch := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
			if _, err := services.Patch(s.ctx, "app", types.MergePatchType, patch, metav1.PatchOptions{DryRun: dry}); !refusedByDryRun(err, tc.want) {
				t.Errorf("an update: %v", err)
			}
		})
	}
	s := newSpace(t)
	if _, err := s.Serving.ServingV1().Services(s.ns).Create(s.ctx, hello("app"), metav1.CreateOptions{DryRun: dry}); err != nil {
		t.Errorf("of a good Service: %v", err)
	}
}

func refusedByDryRun(err error, want string) bool {
	return err != nil && strings.Contains(err.Error(), "validation callback failed: dry run failed with ") &&
		strings.Contains(err.Error(), want) && strings.HasSuffix(err.Error(), ": spec.template")
}

// quota, called pods, allows so many pods in the namespace.
func (s *space) quota(pods string) {
	s.t.Helper()
	_, err := s.Kube.CoreV1().ResourceQuotas(s.ns).Create(s.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

// limits allows containers of little memory only.
func (s *space) limits() {
	s.t.Helper()
	_, err := s.Kube.CoreV1().LimitRanges(s.ns).Create(s.ctx, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "little"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

// restrict has the namespace take restricted pods only.
func (s *space) restrict() {
	s.t.Helper()
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := s.Kube.CoreV1().Namespaces().Patch(s.ctx, s.ns, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}
