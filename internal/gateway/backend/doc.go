// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package backend holds requests and instances together: for each revision (or plain Service) the instances that can take
// a request, the slots that they have left, and the queue of the requests that wait for one.
//
// It decides when and where a request goes; how its bytes move is the business of package forward, and what asks an
// instance whether it serves is package probe. The feed changes backends, the forwarder uses them; nobody else does.
package backend
