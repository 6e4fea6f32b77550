// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	servingclient "weir.dev/client/clientset/versioned/typed/serving/v1"
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

// guard is the validation of resources, and keeps people from deleting a
// Revision that requests are routed to: until its Configuration had made it
// again, they would fail. Whoever means it can force it (API specification,
// Revision: forced deletion is RECOMMENDED).
type guard struct {
	*validation.Controller

	client servingclient.ServingV1Interface // nil lets everything go
}

// Admit implements webhook.AdmissionController.
func (g guard) Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	revision := servingv1.SchemeGroupVersion.WithKind("Revision")
	if req.Operation == admissionv1.Delete && req.Kind == metav1.GroupVersionKind(revision) && g.client != nil {
		if err := g.deletion(ctx, req); err != nil {
			return webhook.MakeErrorStatus("%v", err)
		}
	}
	return g.Controller.Admit(ctx, req)
}

// deletion refuses the deletion of a Revision that a Route leads to. One whose
// owners or Routes are going as well may go.
func (g guard) deletion(ctx context.Context, req *admissionv1.AdmissionRequest) error {
	rev := &servingv1.Revision{}
	if err := json.Unmarshal(req.OldObject.Raw, rev); err != nil {
		return fmt.Errorf("decoding request failed: cannot decode the Revision: %w", err)
	}
	if rev.Labels[serving.RoutingStateLabelKey] != string(servingv1.RoutingStateActive) || rev.DeletionTimestamp != nil ||
		slices.Contains(sweepers, req.UserInfo.Username) || forced(req) {
		return nil
	}
	if going, err := g.ownersGo(ctx, rev); going || err != nil {
		return err
	}
	for name := range strings.SplitSeq(rev.Annotations[serving.RoutesAnnotationKey], ",") {
		if name == "" {
			continue
		}
		route, err := g.client.Routes(rev.Namespace).Get(ctx, name, metav1.GetOptions{})
		going, err := isGoing(route, err)
		if err != nil {
			return err
		}
		if !going && leadsTo(route, rev) {
			return fmt.Errorf("revision %q is routed to by Route %q: change its traffic first, or force the deletion (kubectl delete --force)", rev.Name, name)
		}
	}
	return nil
}

// leadsTo tells whether requests of route go to rev, or are about to. One that a
// Route only waits for, and that has not come up, is in nobody's way.
func leadsTo(route *servingv1.Route, rev *servingv1.Revision) bool {
	return rev.Status.GetCondition(servingv1.RevisionConditionReady).IsTrue() ||
		slices.ContainsFunc(slices.Concat(route.Spec.Traffic, route.Status.Traffic), func(t servingv1.TrafficTarget) bool {
			return t.RevisionName == rev.Name
		})
}

// forced tells whether there shall be no grace, which is how kubectl says --force.
func forced(req *admissionv1.AdmissionRequest) bool {
	options := &metav1.DeleteOptions{}
	err := json.Unmarshal(req.Options.Raw, options)
	return err == nil && options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0
}

// ownersGo tells whether the Revision's Configuration, or that one's Service,
// is going: the Revision is about to follow.
func (g guard) ownersGo(ctx context.Context, rev *servingv1.Revision) (bool, error) {
	owner := metav1.GetControllerOf(rev)
	if owner == nil {
		return false, nil
	}
	cfg, err := g.client.Configurations(rev.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	if going, err := isGoing(cfg, err); going || err != nil {
		return going, err
	}
	owner = metav1.GetControllerOf(cfg)
	if owner == nil {
		return false, nil
	}
	svc, err := g.client.Services(rev.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	return isGoing(svc, err)
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
