// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is an example of a controller of one's own, made with the
// kit: docs/kit.md of Weir goes through it.
package controller

import _ "weir.dev/pkg/hack" // the scripts of hack/update-codegen.sh
