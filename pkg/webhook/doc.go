// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers the API server's admission requests over TLS: the
// server, and under it the controllers that default and validate resources and
// validate ConfigMaps. It knows no kind of its own and does not register itself
// with an API server; that is its user's business.
package webhook
