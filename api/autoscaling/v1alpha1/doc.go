// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the contract between Revisions and whatever scales them.
//
// +k8s:deepcopy-gen=package
// +groupName=autoscaling.internal.knative.dev
package v1alpha1
