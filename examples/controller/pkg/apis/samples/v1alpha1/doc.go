// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=samples.weir.dev

// Package v1alpha1 has the example's API types.
package v1alpha1
