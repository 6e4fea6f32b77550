// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package conversion converts resources between the versions of their kinds,
// each by way of one version, the hub: a version knows how it becomes the hub's
// and how it is made of it. It keeps the kinds' CRDs saying so.
package conversion
