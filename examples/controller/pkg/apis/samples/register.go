// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package samples names the API group of the example.
package samples

// GroupName is the API group.
const GroupName = "samples.weir.dev"
