// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"weir.dev/api/networking"
	netv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/internal/controlplane/route/desired"
	"weir.dev/internal/controlplane/route/hosts"
	"weir.dev/pkg/controller"
)

// placeholders keeps one k8s Service a group, and none else. They lead to where the Ingress takes requests once that is
// known; what comes into the Ingress's status later has route reconciled again.
func (r *Reconciler) placeholders(ctx context.Context, route *v1.Route, names map[string]hosts.Names) error {
	entry, err := r.entry(route)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n.Service] = true
		if err := r.placeholder(ctx, route, n, entry); err != nil {
			return err
		}
	}
	selector := labels.SelectorFromSet(labels.Set{serving.RouteLabelKey: route.Name})
	all, err := r.services.Services(route.Namespace).List(selector)
	if err != nil {
		return fmt.Errorf("listing Services of Route %q: %w", route.Name, err)
	}
	for _, svc := range all {
		if wanted[svc.Name] || svc.DeletionTimestamp != nil || !metav1.IsControlledBy(svc, route) {
			continue
		}
		err := r.kube.CoreV1().Services(svc.Namespace).Delete(ctx, svc.Name, metav1.DeleteOptions{})
		if err != nil && !apierrs.IsNotFound(err) {
			return fmt.Errorf("deleting Service %q: %w", svc.Name, err)
		}
	}
	return nil
}

// placeholder gets, creates or corrects one k8s Service.
func (r *Reconciler) placeholder(ctx context.Context, route *v1.Route, n hosts.Names, entry *netv1alpha1.LoadBalancerIngressStatus) error {
	existing, err := r.services.Services(route.Namespace).Get(n.Service)
	switch {
	case apierrs.IsNotFound(err):
		return r.createPlaceholder(ctx, route, n, entry)
	case err != nil:
		return fmt.Errorf("getting Service %q: %w", n.Service, err)
	case !metav1.IsControlledBy(existing, route):
		if err := controller.AwaitCollection(existing, route); err != nil {
			return err
		}
		return r.taken(route, n, existing)
	}
	want, err := desired.Service(route, n, existing, entry)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(want, existing) {
		return nil
	}
	if _, err := r.kube.CoreV1().Services(route.Namespace).Update(ctx, want, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating Service %q: %w", n.Service, err)
	}
	return nil
}

func (r *Reconciler) createPlaceholder(ctx context.Context, route *v1.Route, n hosts.Names, entry *netv1alpha1.LoadBalancerIngressStatus) error {
	recorder := controller.GetEventRecorder(ctx)
	if entry == nil {
		entry = r.entries.of(desired.Class(route, networkOf(ctx)))
	}
	want, err := desired.Service(route, n, nil, entry)
	if err != nil {
		return err
	}
	_, err = r.kube.CoreV1().Services(route.Namespace).Create(ctx, want, metav1.CreateOptions{})
	if err != nil {
		recorder.Eventf(route, corev1.EventTypeWarning, "CreationFailed", "Failed to create placeholder service %q: %v", n.Service, err)
		return fmt.Errorf("creating Service %q: %w", n.Service, err)
	}
	recorder.Eventf(route, corev1.EventTypeNormal, "Created", "Created placeholder service %q", n.Service)
	return nil
}

// entry returns where the Ingress of route takes requests from inside the cluster, nil while that is not known.
func (r *Reconciler) entry(route *v1.Route) (*netv1alpha1.LoadBalancerIngressStatus, error) {
	ingress, err := r.ingresses.Ingresses(route.Namespace).Get(desired.IngressName(route))
	switch {
	case apierrs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("getting Ingress of Route %q: %w", route.Name, err)
	case !metav1.IsControlledBy(ingress, route) || !ingress.IsReady():
		return nil, nil
	}
	entry, err := desired.Entry(&ingress.Status)
	if err == nil {
		r.entries.learn(ingress.Annotations[networking.IngressClassAnnotationKey], entry)
	}
	return entry, err
}

// entries remembers, by class, where the Ingress that was looked at last lets requests in. Most implementations have one place
// for all: a new Service leads there from the start, and is only written again where that was wrong.
type entries struct {
	mu sync.Mutex
	by map[string]*netv1alpha1.LoadBalancerIngressStatus
}

func (e *entries) learn(class string, entry *netv1alpha1.LoadBalancerIngressStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by == nil {
		e.by = map[string]*netv1alpha1.LoadBalancerIngressStatus{}
	}
	e.by[class] = entry
}

// of is nil where nothing is known.
func (e *entries) of(class string) *netv1alpha1.LoadBalancerIngressStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.by[class]
}
