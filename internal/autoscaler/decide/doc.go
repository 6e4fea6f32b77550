// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package decide is the scaling decision: what gateways measured, the limits and the time go in, the desired
// scale comes out. It is the algorithm that Knative documents for its pod autoscaler (class kpa).
//
// It knows no clock, goroutine, client or Kubernetes type and imports the standard library only, so that every
// case can be replayed by a test. Package autoscaler drives it.
package decide
