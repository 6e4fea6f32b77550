// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package forward serves requests: it asks the routing table where each goes, takes a slot there, hands it to the instance
// and brings the answer back, within the limits on time. Which headers are dropped, set and kept is written in
// docs/spec/headers.md. What a free slot is, package backend decides; how bytes move, package peer.
package forward
