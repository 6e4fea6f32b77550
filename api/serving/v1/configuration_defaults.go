// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"weir.dev/api/config"
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

// setDefaults sets the defaults of the template, but not of one that is what
// was stored, nor of one that keeps the name that was chosen for the old one.
// They have the defaults of their time, and other ones must not make a Revision
// of a change of a label, nor another template of one that must not change.
func (cs *ConfigurationSpec) setDefaults(ctx context.Context, old *ConfigurationSpec) {
	keepsName := cs.Template.Name != "" && cs.Template.Name == old.Template.Name
	switch {
	case apis.IsInUpdate(ctx) && equality.Semantic.DeepEqual(cs.Template, old.Template):
		podspec.AvoidNulls(&cs.Template.Spec.PodSpec)
	case keepsName:
		cs.Template.keep(ctx, &old.Template)
		podspec.AvoidNulls(&cs.Template.Spec.PodSpec)
	default:
		cs.SetDefaults(ctx)
		cs.Template.Spec.defaultServiceLinks(ctx, &old.Template.Spec)
	}
}

// defaultServiceLinks defaults in an update what is defaulted in creations
// only, unless the old template did without: a manifest that is written again
// means what it meant.
func (rs *RevisionSpec) defaultServiceLinks(ctx context.Context, old *RevisionSpec) {
	if rs.EnableServiceLinks == nil && old.EnableServiceLinks != nil {
		rs.EnableServiceLinks = config.FromContextOrDefaults(ctx).Defaults.EnableServiceLinks
	}
}
