// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package feed is the controller's side of the feed: it turns API objects into what gateways route by, streams a
// snapshot and then every change to each gateway that follows, and takes in what gateways report.
//
// Translation (translate_*.go) is pure. The store holds the translated state once for all followers; a follower is only
// a set of keys that changed since it was last told, so a slow gateway costs memory for keys, never for a backlog of
// messages, and always receives the newest value of each.
//
// It knows nothing of the autoscaler beyond the Receiver that it is given, and reads from informers only: it never
// calls the API.
package feed
