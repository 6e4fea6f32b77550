// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned"
)

// "This Role should be sufficient to develop, deploy, and manage a set of serving applications within a single namespace."
func TestRBACProfile(t *testing.T) {
	s := newSpace(t)
	s.grantDeveloper("dora")
	cfg := rest.CopyConfig(s.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "dora", Groups: []string{"system:authenticated"}}
	dora, err := versioned.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	services := dora.ServingV1().Services(s.ns)
	created, err := services.Create(s.ctx, hello("app"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := created.Annotations["serving.knative.dev/creator"]; got != "dora" {
		t.Errorf("creator %q, want the user", got)
	}
	svc := s.ready("app")
	s.update("app", func(svc *servingv1.Service) { svc.Labels = map[string]string{"a": "b"} })
	if _, err := dora.ServingV1().Revisions(s.ns).Get(s.ctx, svc.Status.LatestReadyRevisionName, metav1.GetOptions{}); err != nil {
		t.Errorf("get a Revision: %v", err)
	}
	if _, err := dora.ServingV1().Routes(s.ns).List(s.ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("list Routes: %v", err)
	}
	rev := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
	rev.Spec = hello("").Spec.Template.Spec
	if _, err := dora.ServingV1().Revisions(s.ns).Create(s.ctx, rev, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("create a Revision: %v, want Forbidden", err)
	}
	if err := services.Delete(s.ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete the Service: %v", err)
	}
}

// grantDeveloper gives a user the role that the specification prints.
func (s *space) grantDeveloper(user string) {
	s.t.Helper()
	rbac := s.Kube.RbacV1()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "knative-developer"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"serving.knative.dev"}, Resources: []string{"services"},
				Verbs: []string{"get", "list", "create", "update", "delete"}},
			{APIGroups: []string{"serving.knative.dev"}, Resources: []string{"configurations", "routes", "revisions"},
				Verbs: []string{"get", "list"}},
		},
	}
	if _, err := rbac.Roles(s.ns).Create(s.ctx, role, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := rbac.RoleBindings(s.ns).Create(s.ctx, binding, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}
