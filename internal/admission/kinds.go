// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// kinds are all kinds that are defaulted and validated, in their stored
// version: the API server converts other versions before it asks.
func kinds() resourcesemantics.Kinds {
	return resourcesemantics.Kinds{
		servingv1.SchemeGroupVersion.WithKind("Service"):                 &servingv1.Service{},
		servingv1.SchemeGroupVersion.WithKind("Configuration"):           &servingv1.Configuration{},
		servingv1.SchemeGroupVersion.WithKind("Revision"):                &servingv1.Revision{},
		servingv1.SchemeGroupVersion.WithKind("Route"):                   &servingv1.Route{},
		networkingv1alpha1.SchemeGroupVersion.WithKind("Ingress"):        &networkingv1alpha1.Ingress{},
		autoscalingv1alpha1.SchemeGroupVersion.WithKind("PodAutoscaler"): &autoscalingv1alpha1.PodAutoscaler{},
	}
}
