// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/client/clientset/versioned/fake"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
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
	f.revision.Status.MarkResourcesAvailableTrue()
	f.revision.Status.MarkContainerHealthyTrue()
	return f
}

// failed makes the Revision one that did not come up.
func failed(f *family) { f.revision.Status.MarkContainerHealthyFalse("ExitCode1", "it crashed") }

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
		grace  *int64
		want   string // "" lets it go
	}{
		"Routed": {
			reason: "requests would fail until it is made again",
			want:   `revision "app-00001" is routed to by Route "app": change its traffic first`,
		},
		"Failed": {
			reason: "the Route waits for it in vain, and leads elsewhere",
			change: failed,
		},
		"FailedAndNamed": {
			reason: "it cannot wake up, and is what requests are for",
			change: func(f *family) {
				failed(f)
				f.route.Spec.Traffic = []servingv1.TrafficTarget{{RevisionName: "app-00001"}}
			},
			want: `Route "app"`,
		},
		"FailedAndServed": {
			reason: "as above, and the Route leads there still",
			change: func(f *family) {
				failed(f)
				f.route.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "app-00001"}}
			},
			want: `Route "app"`,
		},
		"Forced": {
			reason: "somebody means it",
			grace:  new(int64),
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
			client := fake.NewSimpleClientset(f.stored()...).ServingV1()
			g := guard{Controller: validation.New(validation.Config{Kinds: kinds()}), client: client}
			response := g.Admit(t.Context(), &admissionv1.AdmissionRequest{
				Operation: admissionv1.Delete,
				Kind:      metav1.GroupVersionKind{Group: "serving.knative.dev", Version: "v1", Kind: "Revision"},
				UserInfo:  authenticationv1.UserInfo{Username: tc.user},
				OldObject: runtime.RawExtension{Raw: encode(t, f.revision)},
				Options:   runtime.RawExtension{Raw: encode(t, &metav1.DeleteOptions{GracePeriodSeconds: tc.grace})},
			})
			if response.Allowed != (tc.want == "") {
				t.Fatalf("%s: allowed is %v, result %v", tc.reason, response.Allowed, response.Result)
			}
			if !response.Allowed && !strings.Contains(response.Result.Message, tc.want) {
				t.Errorf("%s: refused with %q, want %q", tc.reason, response.Result.Message, tc.want)
			}
		})
	}
}

func encode(t *testing.T, o any) []byte {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
