// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package podspec says which pods can be revisions: the part of a pod that
// scales by requests without state, its defaults, and what is wrong with one.
// Fields behind feature flags follow the settings in the context. API versions
// that inline a PodSpec use it.
package podspec
