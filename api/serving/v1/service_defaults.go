// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/pkg/apis"
)

// SetDefaults sets the defaults of the template, and sends all traffic to the
// latest ready Revision unless it is assigned.
func (s *Service) SetDefaults(ctx context.Context) {
	ctx = apis.WithinSpec(apis.WithinParent(ctx, s.ObjectMeta))
	old, _ := apis.GetBaseline(ctx).(*Service)
	if old == nil {
		old = &Service{}
	}
	s.Spec.setDefaults(ctx, &old.Spec.ConfigurationSpec)
	if len(s.Spec.Traffic) == 0 {
		latest := true
		s.Spec.Traffic = []TrafficTarget{{LatestRevision: &latest, Percent: int64Ptr(100)}}
	}
	s.Spec.RouteSpec.SetDefaults(ctx)
}
