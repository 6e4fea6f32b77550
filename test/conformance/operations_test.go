// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The tables of operations under "Resource Overview": what the developer's Role, Kubernetes' own roles and the administrator may
// do with each resource, in both versions.
func TestOperations(t *testing.T) {
	s := newSpace(t)
	s.grantDeveloper("dora")
	for user, role := range map[string]string{"vera": "view", "erin": "edit", "adam": "admin"} {
		s.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role})
	}
	revision := s.deploy(hello("app")).Status.LatestReadyRevisionName
	for user, allowed := range operationsAllowed() {
		s.awaitRole(user)
		for resource := range fourKinds {
			o := operation{space: s, client: s.dynamicAs(user), resource: resource, name: "app"}
			if resource == "revisions" {
				o.name = revision
			}
			for _, o.version = range bothVersions {
				t.Run(fmt.Sprintf("%s/%s/%s", cmp.Or(user, "administrator"), o.version, resource), func(t *testing.T) {
					o.check(t, allowed[resource])
				})
			}
		}
	}
}

// operationsAllowed lists by user ("" is the administrator) and resource which verbs are allowed; all others are forbidden.
func operationsAllowed() map[string]map[string][]string {
	look := []string{"get", "list", "watch"}
	remove := slices.Concat(look, []string{"delete", "deletecollection"})
	use := slices.Concat(remove, []string{"create", "update", "merge patch", "JSON patch", "apply"})
	all := slices.Concat(use, []string{"update status"})
	each := func(services, children, revisions []string) map[string][]string {
		return map[string][]string{"services": services, "configurations": children, "routes": children, "revisions": revisions}
	}
	return map[string]map[string][]string{
		"dora": each([]string{"get", "list", "create", "update", "delete"}, []string{"get", "list"}, []string{"get", "list"}),
		"vera": each(look, look, look),
		"erin": each(use, use, remove),
		"adam": each(use, use, remove),
		"":     each(all, all, all),
	}
}

// awaitRole waits until the API server knows of the user's role.
func (s *space) awaitRole(user string) {
	s.t.Helper()
	services := s.dynamicAs(user).Resource(resourceOf("v1", "services")).Namespace(s.ns)
	s.eventually(user+" may list", func() (bool, error) {
		_, err := services.List(s.ctx, metav1.ListOptions{})
		return err == nil, err
	})
}

// check tries every verb.
func (o operation) check(t *testing.T, allowed []string) {
	for verb, try := range verbs {
		err := try(o)
		switch may := slices.Contains(allowed, verb); {
		case may && err != nil:
			t.Errorf("%s: %v, want it allowed", verb, err)
		case !may && !apierrors.IsForbidden(err):
			t.Errorf("%s: %v, want it forbidden", verb, err)
		}
	}
}
