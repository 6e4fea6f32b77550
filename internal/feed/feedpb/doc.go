// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package feedpb is the feed's messages and services, generated from feed.proto: what controllers and gateways say to each other.
// Both import it; it imports nothing of ours.
package feedpb
