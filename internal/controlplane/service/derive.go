// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package service

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
)

// makeConfiguration returns the Configuration of svc to be. existing is what is there, nil if nothing is: only the list of
// Routes in its annotations is not ours alone. stamps are annotations that the template has beside the user's.
func makeConfiguration(svc *v1.Service, existing *v1.Configuration, stamps map[string]string) *v1.Configuration {
	config := &v1.Configuration{ObjectMeta: childMeta(svc)}
	routes := ""
	if existing != nil {
		config = existing.DeepCopy()
		routes = existing.Annotations[serving.RoutesAnnotationKey]
	}
	config.Labels = kmap.Union(svc.Labels, map[string]string{
		serving.ServiceLabelKey:    svc.Name,
		serving.ServiceUIDLabelKey: string(svc.UID),
	})
	config.Annotations = kmap.ExcludeKeyList(copiedAnnotations(svc), serving.RolloutDurationAnnotation())
	config.Annotations[serving.RoutesAnnotationKey] = addName(routes, svc.Name)
	config.Spec = *svc.Spec.ConfigurationSpec.DeepCopy()
	if len(stamps) > 0 {
		config.Spec.Template.Annotations = kmap.Union(config.Spec.Template.Annotations, stamps)
	}
	return config
}

// makeRoute returns the Route of svc to be; existing is what is there, nil if nothing is.
func makeRoute(svc *v1.Service, existing *v1.Route) *v1.Route {
	route := &v1.Route{ObjectMeta: childMeta(svc)}
	if existing != nil {
		route = existing.DeepCopy()
	}
	route.Labels = kmap.Union(svc.Labels, map[string]string{serving.ServiceLabelKey: svc.Name})
	route.Annotations = copiedAnnotations(svc)
	route.Spec = *svc.Spec.RouteSpec.DeepCopy()
	for i := range route.Spec.Traffic {
		if t := &route.Spec.Traffic[i]; t.RevisionName == "" {
			t.ConfigurationName = svc.Name
		}
	}
	return route
}

func childMeta(svc *v1.Service) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            svc.Name,
		Namespace:       svc.Namespace,
		OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(svc)},
	}
}

// copiedAnnotations are those of svc but kubectl's copy of svc itself.
func copiedAnnotations(svc *v1.Service) map[string]string {
	return kmap.ExcludeKeys(svc.Annotations, corev1.LastAppliedConfigAnnotation)
}

// addName adds name to a sorted list separated by commas.
func addName(list, name string) string {
	names := strings.Split(list, ",")
	if list == "" {
		names = nil
	}
	if !slices.Contains(names, name) {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
