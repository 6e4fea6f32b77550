// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package lineage says which Revision stands for which generation of a Configuration. Pure; the reconcilers of Services,
// Configurations, Revisions and Routes may import it.
package lineage

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"weir.dev/api/serving"
	v1 "weir.dev/api/serving/v1"
)

// Label is how the Revisions of the present generation of config are labelled.
func Label(config *v1.Configuration) string { return strconv.FormatInt(config.Generation, 10) }

// Generation returns the generation that rev was made from, 0 if it does not say.
func Generation(rev *v1.Revision) int64 {
	n, err := strconv.ParseInt(rev.Labels[serving.ConfigurationGenerationLabelKey], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Conflicts says that rev, which has the name that config's template asks for, is something else than the template: not
// config's, or made from another generation with another spec. Both specs are compared with today's defaults, so that a
// changed default is no conflict.
func Conflicts(ctx context.Context, config *v1.Configuration, rev *v1.Revision) bool {
	if !metav1.IsControlledBy(rev, config) {
		return true
	}
	if rev.Labels[serving.ConfigurationGenerationLabelKey] == Label(config) {
		return false
	}
	is, wanted := rev.DeepCopy(), &v1.Revision{Spec: *config.Spec.Template.Spec.DeepCopy()}
	is.SetDefaults(ctx)
	wanted.SetDefaults(ctx)
	return !equality.Semantic.DeepEqual(is.Spec, wanted.Spec)
}
