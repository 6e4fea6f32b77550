// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package apis holds what every API type is made of: defaulting and
// validation contracts, field errors with paths, conditions and their
// aggregation, URLs. It knows no particular kind; API packages, the
// controller kit and webhooks import it.
package apis
