// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers the API server's admission and conversion requests
// over TLS. Server is the server itself, for any listener and certificate.
// Webhook is that server as controller processes run it: set up by the Options
// of the context, with the certificate of a Secret.
//
// The packages below it are the controllers that it serves, and those that keep
// the Secret (certificates) and the registrations with the API server right
// (registration). It knows no kind of its own.
package webhook
