// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package addressableservice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	samplesv1alpha1 "weir.dev/examples/controller/pkg/apis/samples/v1alpha1"
	addressableservicereconciler "weir.dev/examples/controller/pkg/client/injection/reconciler/samples/v1alpha1/addressableservice"
	"weir.dev/examples/controller/pkg/config"
	"weir.dev/examples/controller/pkg/directory"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/reconciler"
	"weir.dev/pkg/tracker"
)

// newReconciledNormal says that an address is known.
func newReconciledNormal(namespace, name string) reconciler.Event {
	return reconciler.NewEvent(corev1.EventTypeNormal, "AddressableServiceReconciled", "AddressableService reconciled: \"%s/%s\"", namespace, name)
}

// Reconciler makes the world look as AddressableServices say.
type Reconciler struct {
	services  corev1listers.ServiceLister
	directory *directory.Directory
	tracker   tracker.Interface
}

// Check that our Reconciler implements both.
var (
	_ addressableservicereconciler.Interface = (*Reconciler)(nil)
	_ addressableservicereconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind finds the Service and says where it is.
func (r *Reconciler) ReconcileKind(ctx context.Context, o *samplesv1alpha1.AddressableService) reconciler.Event {
	ref := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: o.Namespace, Name: o.Spec.ServiceName}
	if err := r.tracker.TrackReference(ref, o); err != nil {
		return fmt.Errorf("tracking Service %q: %w", o.Spec.ServiceName, err)
	}
	key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	svc, err := r.services.Services(o.Namespace).Get(o.Spec.ServiceName)
	switch {
	case apierrors.IsNotFound(err):
		o.Status.MarkServiceMissing(o.Spec.ServiceName)
		return r.directory.Remove(ctx, key)
	case err != nil:
		return fmt.Errorf("reading Service %q: %w", o.Spec.ServiceName, err)
	}
	url := &apis.URL{Scheme: o.Spec.Scheme, Host: fmt.Sprintf("%s.%s.svc.%s", svc.Name, svc.Namespace, config.FromContext(ctx).Domain)}
	if err := r.directory.Put(ctx, key, url.String()); err != nil {
		return err
	}
	news := !o.Status.GetCondition(samplesv1alpha1.ConditionServiceFound).IsTrue()
	o.Status.MarkServiceFound(url)
	if news {
		return newReconciledNormal(o.Namespace, o.Name)
	}
	return nil
}

// FinalizeKind takes the address out of the directory.
func (r *Reconciler) FinalizeKind(ctx context.Context, o *samplesv1alpha1.AddressableService) reconciler.Event {
	return r.directory.Remove(ctx, types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
}
