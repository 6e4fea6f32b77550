// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package convergence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis"
)

// atRest holds that everything is as the present specs define, and says what is not.
func (w *witness) atRest(ctx context.Context) error {
	list, err := w.Serving.ServingV1().Services(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	errs, there := []error{}, map[types.UID]bool{}
	for i := range list.Items {
		svc := &list.Items[i]
		there[svc.UID] = true
		if err := w.asDefined(ctx, svc, list.Items); err != nil {
			errs = append(errs, fmt.Errorf("service %s: %w (%+v)", svc.Name, err, svc.Status.Conditions))
		}
	}
	return errors.Join(append(errs, w.noOrphans(ctx, there))...)
}

// asDefined holds svc against its spec, as the specification says that it comes out.
func (w *witness) asDefined(ctx context.Context, svc *servingv1.Service, all []servingv1.Service) error {
	if svc.Status.ObservedGeneration != svc.Generation {
		return fmt.Errorf("generation %d, observed %d", svc.Generation, svc.Status.ObservedGeneration)
	}
	config, err := w.Serving.ServingV1().Configurations(w.namespace).Get(ctx, svc.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	latest, err := w.Serving.ServingV1().Revisions(w.namespace).Get(ctx, config.Status.LatestCreatedRevisionName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("latest created: %w", err)
	}
	if got, want := latest.Spec.Containers[0].Env, svc.Spec.Template.Spec.Containers[0].Env; got[0] != want[0] {
		return fmt.Errorf("the latest Revision has %v, the template %v", got, want)
	}
	if svc.Spec.Template.Spec.Containers[0].Image == missing {
		return expect(svc, servingv1.ServiceConditionConfigurationsReady, false)
	}
	if err := expect(svc, servingv1.ServiceConditionConfigurationsReady, true); err != nil {
		return err
	}
	if !w.routable(ctx, svc) || w.yields(svc, all) {
		return expect(svc, servingv1.ServiceConditionRoutesReady, false)
	}
	if err := expect(svc, servingv1.ServiceConditionReady, true); err != nil {
		return err
	}
	return w.call(ctx, svc)
}

// expect holds that a condition is True, or False with a reason.
func expect(svc *servingv1.Service, name apis.ConditionType, want bool) error {
	c := svc.Status.GetCondition(name)
	if c.IsTrue() == want && c.IsFalse() == !want && (want || c.Reason != "") {
		return nil
	}
	return fmt.Errorf("%s is %+v, want %v", name, c, want)
}

// routable says whether all that the traffic of svc names can serve.
func (w *witness) routable(ctx context.Context, svc *servingv1.Service) bool {
	for _, t := range svc.Spec.Traffic {
		if t.RevisionName == "" {
			continue
		}
		rev, err := w.Serving.ServingV1().Revisions(w.namespace).Get(ctx, t.RevisionName, metav1.GetOptions{})
		if err != nil || rev.Status.GetCondition(servingv1.RevisionConditionReady).IsFalse() {
			return false
		}
	}
	return true
}

// yields says whether svc wants a host that another Service has. Which of the two has it depends on who came first to it, so
// that the one that says that it lost is believed, and the other one must be served.
func (w *witness) yields(svc *servingv1.Service, all []servingv1.Service) bool {
	if svc.Status.GetCondition(servingv1.ServiceConditionRoutesReady).GetReason() != servingv1.ReasonHostConflict {
		return false
	}
	for i := range all {
		other := &all[i]
		if other.Name != svc.Name && claim(svc, other) {
			return other.Status.GetCondition(servingv1.ServiceConditionRoutesReady).GetReason() != servingv1.ReasonHostConflict
		}
	}
	return false
}

// claim says whether two Services want the same host, by what they say or by what they serve still.
func claim(a, b *servingv1.Service) bool {
	tags := func(svc *servingv1.Service) map[string]bool {
		hosts := map[string]bool{svc.Name: true}
		for _, t := range append(svc.Spec.Traffic, svc.Status.Traffic...) {
			if t.Tag != "" {
				hosts[t.Tag+"-"+svc.Name] = true
			}
		}
		return hosts
	}
	of := tags(b)
	for host := range tags(a) {
		if of[host] {
			return true
		}
	}
	return false
}

// noOrphans holds that nothing is left of Services that went.
func (w *witness) noOrphans(ctx context.Context, there map[types.UID]bool) error {
	var errs []error
	check := func(kind string, obj metav1.Object, uid string) {
		if uid != "" && !there[types.UID(uid)] {
			errs = append(errs, fmt.Errorf("%s %s is left of a Service that went", kind, obj.GetName()))
		}
	}
	revisions, err := w.Serving.ServingV1().Revisions(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range revisions.Items {
		check("Revision", &revisions.Items[i], revisions.Items[i].Labels[serving.ServiceUIDLabelKey])
	}
	deployments, err := w.Kube.AppsV1().Deployments(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range deployments.Items {
		check("Deployment", &deployments.Items[i], deployments.Items[i].Labels[serving.ServiceUIDLabelKey])
	}
	routes, err := w.Serving.ServingV1().Routes(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range routes.Items {
		check("Route", &routes.Items[i], string(metav1.GetControllerOf(&routes.Items[i]).UID))
	}
	return errors.Join(errs...)
}

// quiet returns when nothing was written for a while.
func (w *witness) quiet(ctx context.Context) error {
	const calm = 3 * time.Second
	last, since := map[string]string{}, time.Now()
	for {
		now, err := w.versions(ctx)
		switch {
		case err != nil:
			return err
		case !maps.Equal(now, last):
			last, since = now, time.Now()
		case time.Since(since) > calm:
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("somebody writes without end")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// versions maps the objects of ours to their resource versions.
func (w *witness) versions(ctx context.Context) (map[string]string, error) {
	client, err := metadata.NewForConfig(w.Config)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, resource := range []schema.GroupVersionResource{
		servingv1.SchemeGroupVersion.WithResource("services"), servingv1.SchemeGroupVersion.WithResource("configurations"),
		servingv1.SchemeGroupVersion.WithResource("revisions"), servingv1.SchemeGroupVersion.WithResource("routes"),
		networkingv1alpha1.SchemeGroupVersion.WithResource("ingresses"), autoscalingv1alpha1.SchemeGroupVersion.WithResource("podautoscalers"),
	} {
		list, err := client.Resource(resource).Namespace(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			versions[resource.Resource+" "+list.Items[i].Name] = list.Items[i].ResourceVersion
		}
	}
	return versions, nil
}
