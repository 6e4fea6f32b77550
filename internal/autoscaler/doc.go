// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package autoscaler scales revisions of class kpa.autoscaling.knative.dev by what their gateways measure.
//
// An Autoscaler receives the gateways' reports (it is the feed's Receiver), keeps a loop per PodAutoscaler that decides
// every two seconds with package decide, and reconciles PodAutoscalers: it scales the Deployment and says in the status
// what it did. Only loops of revisions with instances or requests are visited by a tick, so idle revisions cost nothing.
// A wake-up from zero does not wait for a tick: it is decided and written at once; the reconciler follows.
//
// Every replica of the controller keeps the loops, so that a new leader has full windows; only the leader writes.
package autoscaler
