// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned"
)

// "This Role should be sufficient to develop, deploy, and manage a set of serving applications within a single namespace."
func TestRBACProfile(t *testing.T) {
	s := newSpace(t)
	s.grantDeveloper("dora")
	dora := s.as("dora")
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

// Kubernetes' own roles know of serving: who may edit a namespace deploys, who may view it looks.
func TestKubernetesRoles(t *testing.T) {
	s := newSpace(t)
	erin, vera := s.as("erin"), s.as("vera")
	s.bind("erin", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"})
	s.bind("vera", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"})
	s.eventually("who may edit deploys", func() (bool, error) {
		_, err := erin.ServingV1().Services(s.ns).Create(s.ctx, hello("app"), metav1.CreateOptions{})
		return err == nil, err
	})
	revision := s.ready("app").Status.LatestReadyRevisionName
	s.eventually("who may view looks", func() (bool, error) {
		_, err := vera.ServingV1().Revisions(s.ns).Get(s.ctx, revision, metav1.GetOptions{})
		return err == nil, err
	})
	if err := vera.ServingV1().Services(s.ns).Delete(s.ctx, "app", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may view deletes: %v, want Forbidden", err)
	}
	patch := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	if _, err := erin.ServingV1().Revisions(s.ns).Patch(s.ctx, revision, types.MergePatchType, patch, metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may edit changes a Revision: %v, want Forbidden", err)
	}
	if err := erin.ServingV1().Services(s.ns).Delete(s.ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Errorf("who may edit deletes: %v", err)
	}
}

// as is a client of somebody else.
func (s *space) as(user string) versioned.Interface {
	s.t.Helper()
	cfg := rest.CopyConfig(s.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	client, err := versioned.NewForConfig(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// bind gives a user a role in the namespace.
func (s *space) bind(user string, role rbacv1.RoleRef) {
	s.t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    role,
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := s.Kube.RbacV1().RoleBindings(s.ns).Create(s.ctx, binding, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
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
	s.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
}
