// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the contract between Routes and whatever moves the requests.
//
// +k8s:deepcopy-gen=package
// +groupName=networking.internal.knative.dev
package v1alpha1
