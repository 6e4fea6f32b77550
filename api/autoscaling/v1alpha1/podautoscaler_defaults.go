// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"

	"weir.dev/api/autoscaling"
	"weir.dev/api/config"
)

// SetDefaults writes down the class and the metric, so that everybody reads
// the same whatever becomes the default later.
func (pa *PodAutoscaler) SetDefaults(ctx context.Context) {
	if pa.Annotations == nil {
		pa.Annotations = map[string]string{}
	}
	if _, ok := pa.Annotations[autoscaling.ClassAnnotationKey]; !ok {
		pa.Annotations[autoscaling.ClassAnnotationKey] = config.FromContextOrDefaults(ctx).Autoscaler.PodAutoscalerClass
	}
	if _, ok := pa.Annotations[autoscaling.MetricAnnotationKey]; ok {
		return
	}
	if metric := defaultMetric(pa.Class()); metric != "" {
		pa.Annotations[autoscaling.MetricAnnotationKey] = metric
	}
}

func defaultMetric(class string) string {
	switch class {
	case autoscaling.KPA:
		return autoscaling.Concurrency
	case autoscaling.HPA:
		return autoscaling.CPU
	default:
		return ""
	}
}
