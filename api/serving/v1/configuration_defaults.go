// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/api/serving/podspec"
	"weir.dev/pkg/apis"
)

// SetDefaults sets the defaults of the template.
func (c *Configuration) SetDefaults(ctx context.Context) {
	ctx = apis.WithinParent(ctx, c.ObjectMeta)
	old, _ := apis.GetBaseline(ctx).(*Configuration)
	if old == nil {
		old = &Configuration{}
	}
	c.Spec.setDefaults(apis.WithinSpec(ctx), &old.Spec)
}

// SetDefaults sets the defaults of the template.
func (cs *ConfigurationSpec) SetDefaults(ctx context.Context) { cs.Template.SetDefaults(ctx) }

// setDefaults sets the defaults of the template unless it keeps the name that
// was chosen for the old one. Such a template must not change, so other
// defaults than before must not touch it.
func (cs *ConfigurationSpec) setDefaults(ctx context.Context, old *ConfigurationSpec) {
	if cs.Template.Name != "" && cs.Template.Name == old.Template.Name {
		podspec.AvoidNulls(&cs.Template.Spec.PodSpec)
		return
	}
	cs.SetDefaults(ctx)
}
