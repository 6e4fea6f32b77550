// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the shapes that resources share: status with conditions,
// addresses, references.
//
// +k8s:deepcopy-gen=package
package v1
