// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package feed is the gateway's side of the feed (internal/feed/feedpb): a [Follower] takes the desired state from one
// controller and puts it in place, a [Reporter] tells every controller what the gateway serves, measures and needs.
package feed
