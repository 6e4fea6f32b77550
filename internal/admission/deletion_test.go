// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned/fake"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmeta"
)

// family is a Service with all that it owns.
type family struct {
	service  *servingv1.Service
	config   *servingv1.Configuration
	route    *servingv1.Route
	revision *servingv1.Revision
}

func newFamily() *family {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "app"}
	f := &family{
		service:  &servingv1.Service{ObjectMeta: meta},
		config:   &servingv1.Configuration{ObjectMeta: meta},
		route:    &servingv1.Route{ObjectMeta: meta},
		revision: &servingv1.Revision{ObjectMeta: meta},
	}
	f.config.OwnerReferences = []metav1.OwnerReference{*kmeta.NewControllerRef(f.service)}
	f.revision.OwnerReferences = []metav1.OwnerReference{*kmeta.NewControllerRef(f.config)}
	f.revision.Name = "app-00001"
	f.revision.Labels = map[string]string{serving.RoutingStateLabelKey: string(servingv1.RoutingStateActive)}
	f.revision.Annotations = map[string]string{serving.RoutesAnnotationKey: "app"}
	return f
}

// stored are the objects that are there.
func (f *family) stored() []runtime.Object {
	var out []runtime.Object
	for _, o := range []metav1.Object{f.service, f.config, f.route} {
		if o.GetName() != "" {
			out = append(out, o.(runtime.Object))
		}
	}
	return out
}

func TestDeletionOfRevisions(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		reason string
		change func(*family)
		user   string
		want   string // "" lets it go
	}{
		"Routed": {
			reason: "requests would fail until it is made again",
			want:   `revision "app-00001" is routed to by Route "app": change its traffic first`,
		},
		"Unrouted": {
			reason: "nobody needs it",
			change: func(f *family) {
				f.revision.Labels[serving.RoutingStateLabelKey] = string(servingv1.RoutingStateReserve)
			},
		},
		"NeverReady": {
			reason: "no request reaches it, although a Route waits for it",
			change: func(f *family) {
				f.revision.Labels[serving.RoutingStateLabelKey] = string(servingv1.RoutingStatePending)
			},
		},
		"GarbageCollector": {
			reason: "its owner is gone already",
			user:   "system:serviceaccount:kube-system:generic-garbage-collector",
		},
		"NamespaceGoes": {
			reason: "so does all that is in it",
			user:   "system:serviceaccount:kube-system:namespace-controller",
		},
		"RouteGoes": {
			reason: "nobody asks for it any more",
			change: func(f *family) { f.route.DeletionTimestamp, f.route.Finalizers = &now, []string{"x"} },
		},
		"RouteGone": {
			reason: "the annotation is older than that",
			change: func(f *family) { f.route.Name = "" },
		},
		"ConfigurationGoes": {
			reason: "the Revision is about to follow",
			change: func(f *family) { f.config.DeletionTimestamp, f.config.Finalizers = &now, []string{"x"} },
		},
		"ServiceGone": {
			reason: "kubectl delete of everything takes it first",
			change: func(f *family) { f.service.Name = "" },
		},
		"AnotherRoute": {
			reason: "each Route that is there counts",
			change: func(f *family) { f.revision.Annotations[serving.RoutesAnnotationKey] = "gone,app" },
			want:   `Route "app"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFamily()
			if tc.change != nil {
				tc.change(f)
			}
			rev, err := runtime.DefaultUnstructuredConverter.ToUnstructured(f.revision)
			if err != nil {
				t.Fatal(err)
			}
			ctx := apis.WithUserInfo(context.Background(), &authenticationv1.UserInfo{Username: tc.user})
			err = deletion{fake.NewSimpleClientset(f.stored()...).ServingV1()}.revision(ctx, &unstructured.Unstructured{Object: rev})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
