// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/pkg/apis"
)

// SetDefaults sets the defaults of the traffic.
func (r *Route) SetDefaults(ctx context.Context) {
	r.Spec.SetDefaults(apis.WithinSpec(apis.WithinParent(ctx, r.ObjectMeta)))
}

// SetDefaults sets the defaults of the targets. Only a Service knows where
// traffic goes that nobody assigned.
func (rs *RouteSpec) SetDefaults(ctx context.Context) {
	for i := range rs.Traffic {
		rs.Traffic[i].SetDefaults(ctx)
	}
}

// SetDefaults makes a target without a Revision follow the latest one, and
// gives it no requests unless it asks for some.
func (tt *TrafficTarget) SetDefaults(context.Context) {
	if tt.LatestRevision == nil {
		latest := tt.RevisionName == ""
		tt.LatestRevision = &latest
	}
	if tt.Percent == nil {
		tt.Percent = int64Ptr(0)
	}
}
