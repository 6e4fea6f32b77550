// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmeta

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// The labels of children by what they were made for: which owner, and which
// version or generation of it.
const (
	controllerLabelKey = "controller"
	versionLabelKey    = "version"
	generationLabelKey = "generation"
)

// MakeVersionLabels are the labels of what was made for this resource version
// of the owner.
func MakeVersionLabels(owner metav1.ObjectMetaAccessor) labels.Set {
	return labelsOf(owner, versionLabelKey, owner.GetObjectMeta().GetResourceVersion())
}

// MakeVersionLabelSelector selects what was made for this resource version of
// the owner.
func MakeVersionLabelSelector(owner metav1.ObjectMetaAccessor) labels.Selector {
	return MakeVersionLabels(owner).AsSelector()
}

// MakeOldVersionLabelSelector selects what was made for other resource versions
// of the owner.
func MakeOldVersionLabelSelector(owner metav1.ObjectMetaAccessor) labels.Selector {
	return others(MakeVersionLabels(owner), versionLabelKey)
}

// MakeGenerationLabels are the labels of what was made for this generation of
// the owner.
func MakeGenerationLabels(owner metav1.ObjectMetaAccessor) labels.Set {
	return labelsOf(owner, generationLabelKey, strconv.FormatInt(owner.GetObjectMeta().GetGeneration(), 10))
}

// MakeGenerationLabelSelector selects what was made for this generation of the
// owner.
func MakeGenerationLabelSelector(owner metav1.ObjectMetaAccessor) labels.Selector {
	return MakeGenerationLabels(owner).AsSelector()
}

// MakeOldGenerationLabelSelector selects what was made for other generations of
// the owner.
func MakeOldGenerationLabelSelector(owner metav1.ObjectMetaAccessor) labels.Selector {
	return others(MakeGenerationLabels(owner), generationLabelKey)
}

func labelsOf(owner metav1.ObjectMetaAccessor, key, value string) labels.Set {
	return labels.Set{controllerLabelKey: string(owner.GetObjectMeta().GetUID()), key: value}
}

// others selects what has the same owner, and the label key with another value.
func others(current labels.Set, key string) labels.Selector {
	return labels.NewSelector().Add(
		requirement(controllerLabelKey, selection.Equals, current[controllerLabelKey]),
		requirement(key, selection.Exists),
		requirement(key, selection.NotEquals, current[key]),
	)
}

// requirement takes values that the API server made, which are label values.
func requirement(key string, op selection.Operator, values ...string) labels.Requirement {
	r, err := labels.NewRequirement(key, op, values)
	if err != nil {
		panic(err)
	}
	return *r
}
