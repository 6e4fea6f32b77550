// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package peer moves one request to one instance and its response back, over connections that it keeps for the next one.
//
// It is stricter than net/http's Transport in one thing, which is why it exists: a request is sent a second time only if
// the first connection provably delivered no byte of it to the program. The parser of responses is net/http's. Where a
// request goes and how long it may take is not decided here.
package peer
