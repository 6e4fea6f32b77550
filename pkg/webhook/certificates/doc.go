// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package certificates keeps a certification authority and serving certificates
// for servers whose clients are told the authority: webhooks. Directory keeps
// them in a directory, for one server; NewController in a Secret, for all
// replicas of one.
//
// No call fails while certificates are renewed. What a client trusts, the
// bundle, and what a server presents reach them by different ways, each in its
// own time; so nothing is presented that clients have not been told long before:
//
//   - Serving certificates are short-lived (7 days, renewed a day before their
//     end), and issued by an authority that stays (10 years, with its key in
//     the Secret). Renewing one changes nothing that a client was told.
//   - A new authority, because the old one ends or its key is not there (a
//     Secret that something else filled), is added to the bundle first. It
//     issues nothing for half a day: the old serving certificate is presented
//     meanwhile. Whether an authority is that old is read off itself, so that a
//     restart or another leader waits no less.
//   - An old authority stays in the bundle until it ends, which is not before
//     what it has issued ends.
//
// Only where there is no certificate that clients could accept, in a new Secret
// or after a time in which nobody renewed it, is one issued at once: there is
// nothing to lose.
package certificates
