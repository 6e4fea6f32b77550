// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"weir.dev/pkg/apis"
)

// SetDefaults sets the defaults of the template.
func (c *Configuration) SetDefaults(ctx context.Context) {
	ctx = apis.WithinParent(ctx, c.ObjectMeta)
	if old, ok := apis.GetBaseline(ctx).(*Configuration); ok && keepsName(&old.Spec, &c.Spec) {
		return
	}
	c.Spec.SetDefaults(apis.WithinSpec(ctx))
}

// SetDefaults sets the defaults of the template.
func (cs *ConfigurationSpec) SetDefaults(ctx context.Context) { cs.Template.SetDefaults(ctx) }

// keepsName says whether both templates have the same chosen name. Such a
// template must not change, so other defaults than before must not touch it.
func keepsName(old, cur *ConfigurationSpec) bool {
	return cur.Template.Name != "" && cur.Template.Name == old.Template.Name
}
