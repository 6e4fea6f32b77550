// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/clientset/versioned/typed/serving/v1"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

// sweepers are who deletes what nobody wants any more: what they delete is
// going, whoever still refers to it.
var sweepers = []string{
	"system:serviceaccount:kube-system:generic-garbage-collector",
	"system:serviceaccount:kube-system:namespace-controller",
	"system:kube-controller-manager", // both, where they have no accounts of their own
}

// deletion keeps people from deleting a Revision that requests are routed to:
// until the Configuration had made it again, they would fail.
type deletion struct {
	client servingclient.ServingV1Interface
}

// revision refuses the deletion of a Revision that a Route leads to. One whose
// owners or Routes are going as well may go.
func (d deletion) revision(ctx context.Context, rev *unstructured.Unstructured) error {
	if rev.GetLabels()[serving.RoutingStateLabelKey] != string(servingv1.RoutingStateActive) ||
		rev.GetDeletionTimestamp() != nil || sweeps(apis.GetUserInfo(ctx)) {
		return nil
	}
	if going, err := d.ownersGo(ctx, rev); going || err != nil {
		return err
	}
	for name := range strings.SplitSeq(rev.GetAnnotations()[serving.RoutesAnnotationKey], ",") {
		if name == "" {
			continue
		}
		route, err := d.client.Routes(rev.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
		going, err := isGoing(route, err)
		if err != nil {
			return err
		}
		if !going {
			return fmt.Errorf("revision %q is routed to by Route %q: change its traffic first", rev.GetName(), name)
		}
	}
	return nil
}

// ownersGo tells whether the Revision's Configuration, or that one's Service,
// is going: the Revision is about to follow.
func (d deletion) ownersGo(ctx context.Context, rev *unstructured.Unstructured) (bool, error) {
	owner := metav1.GetControllerOf(rev)
	if owner == nil {
		return false, nil
	}
	cfg, err := d.client.Configurations(rev.GetNamespace()).Get(ctx, owner.Name, metav1.GetOptions{})
	if going, err := isGoing(cfg, err); going || err != nil {
		return going, err
	}
	owner = metav1.GetControllerOf(cfg)
	if owner == nil {
		return false, nil
	}
	svc, err := d.client.Services(rev.GetNamespace()).Get(ctx, owner.Name, metav1.GetOptions{})
	return isGoing(svc, err)
}

func sweeps(user *authenticationv1.UserInfo) bool {
	return user != nil && slices.Contains(sweepers, user.Username)
}

// isGoing tells whether what was read is not there or being deleted.
func isGoing(o metav1.Object, err error) (bool, error) {
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("finding out who uses the Revision: %w", err)
	}
	return o.GetDeletionTimestamp() != nil, nil
}

// callbacks are what is looked at besides the objects themselves.
func callbacks(client servingclient.ServingV1Interface) []map[schema.GroupVersionKind]validation.Callback {
	if client == nil {
		return nil
	}
	return []map[schema.GroupVersionKind]validation.Callback{{
		servingv1.SchemeGroupVersion.WithKind("Revision"): validation.NewCallback(deletion{client}.revision, webhook.Delete),
	}}
}
