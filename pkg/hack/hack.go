// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package hack carries the scripts that generate code for API groups:
// generate-groups.sh (deep copies, clients, listers, informers) and
// generate-knative.sh (injection). Importing it keeps them in a vendor
// directory; nothing else does.
package hack
