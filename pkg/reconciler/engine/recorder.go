// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	kubeclient "weir.dev/pkg/client/injection/kube/client"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/injection"
	"weir.dev/pkg/kmeta"
)

// newRecorder returns the recorder of ctx, else one that writes events as agent
// until impl has ended: the last runs have events, too. A set of fakes without a
// Kubernetes client drops them.
func newRecorder(ctx context.Context, impl *controller.Impl, agent string) record.EventRecorder {
	if recorder := controller.GetEventRecorder(ctx); recorder != nil {
		return recorder
	}
	client, ok := injection.Lookup[kubernetes.Interface](ctx, kubeclient.Key{})
	if !ok {
		return &record.FakeRecorder{}
	}
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	impl.AfterEnd(ctx, broadcaster.Shutdown)
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: agent})
}

// kindRecorder names the kind of objects that do not carry it, as those out of
// a lister do not; no global scheme needs to know them.
type kindRecorder struct {
	record.EventRecorder
	gvk schema.GroupVersionKind
}

// Event implements record.EventRecorder.
func (r kindRecorder) Event(obj runtime.Object, eventtype, reason, message string) {
	r.EventRecorder.Event(r.typed(obj), eventtype, reason, message)
}

// Eventf implements record.EventRecorder.
func (r kindRecorder) Eventf(obj runtime.Object, eventtype, reason, format string, args ...any) {
	r.EventRecorder.Eventf(r.typed(obj), eventtype, reason, format, args...)
}

// AnnotatedEventf implements record.EventRecorder.
func (r kindRecorder) AnnotatedEventf(obj runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any) {
	r.EventRecorder.AnnotatedEventf(r.typed(obj), annotations, eventtype, reason, format, args...)
}

func (r kindRecorder) typed(obj runtime.Object) runtime.Object {
	accessor, ok := obj.(kmeta.Accessor)
	if !ok || accessor.GroupVersionKind().Kind != "" {
		return obj
	}
	gvk := r.gvk
	if or, ok := obj.(kmeta.OwnerRefable); ok {
		gvk = or.GetGroupVersionKind()
	} else if _, _, err := scheme.Scheme.ObjectKinds(obj); err == nil {
		return obj // a kind of Kubernetes' own
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return &corev1.ObjectReference{
		APIVersion: apiVersion, Kind: kind,
		Namespace: accessor.GetNamespace(), Name: accessor.GetName(),
		UID: accessor.GetUID(), ResourceVersion: accessor.GetResourceVersion(),
	}
}
