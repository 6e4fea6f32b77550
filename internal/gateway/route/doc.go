// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package route decides where a request goes: an immutable table in, the head of a request in, a target out.
//
// It is pure: no clock, no goroutine, no lock, nothing but the standard library, so that it can be proved alone. What a
// target is, it does not know (the type parameter T); what changes from request to request (the next card of a weighted
// split) is injected as a [Deck]. Only packages of the gateway import it.
package route
