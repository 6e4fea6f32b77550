// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 is what users write: Service and the three kinds that it is made of. One file
// group a kind: types, defaults, validation, lifecycle (conditions). It depends on
// no client and no controller.
//
// +k8s:deepcopy-gen=package
// +groupName=serving.knative.dev
package v1
