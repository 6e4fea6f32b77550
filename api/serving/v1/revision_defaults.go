// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/api/config"
	"weir.dev/api/serving/podspec"
	"weir.dev/pkg/apis"
)

// SetDefaults sets defaults on creation; afterwards a Revision is what it was.
func (r *Revision) SetDefaults(ctx context.Context) {
	if apis.IsInUpdate(ctx) {
		podspec.AvoidNulls(&r.Spec.PodSpec)
		return
	}
	r.Spec.SetDefaults(apis.WithinParent(ctx, r.ObjectMeta))
}

// SetDefaults sets the defaults of the template's spec.
func (rt *RevisionTemplateSpec) SetDefaults(ctx context.Context) { rt.Spec.SetDefaults(ctx) }

// SetDefaults sets the pod's defaults, the limit of requests and the timeouts.
func (rs *RevisionSpec) SetDefaults(ctx context.Context) {
	d := config.FromContextOrDefaults(ctx).Defaults
	if rs.TimeoutSeconds == nil || *rs.TimeoutSeconds == 0 {
		rs.TimeoutSeconds = int64Ptr(d.RevisionTimeoutSeconds)
	}
	if rs.ContainerConcurrency == nil {
		rs.ContainerConcurrency = int64Ptr(d.ContainerConcurrency)
	}
	rs.ResponseStartTimeoutSeconds = rs.shorter(rs.ResponseStartTimeoutSeconds, d.RevisionResponseStartTimeoutSeconds)
	rs.IdleTimeoutSeconds = rs.shorter(rs.IdleTimeoutSeconds, d.RevisionIdleTimeoutSeconds)
	podspec.SetDefaults(ctx, &rs.PodSpec)
}

// shorter returns a timeout as it is, or the default where that is less than
// the timeout of the whole request.
func (rs *RevisionSpec) shorter(timeout *int64, def int64) *int64 {
	if timeout == nil && def != 0 && def < *rs.TimeoutSeconds {
		return int64Ptr(def)
	}
	return timeout
}

func int64Ptr(n int64) *int64 { return &n }
