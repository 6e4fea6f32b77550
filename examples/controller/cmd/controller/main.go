// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command controller runs the example's controllers.
package main

import (
	// The set of controllers this process will run.
	"weir.dev/examples/controller/pkg/reconciler/addressableservice"

	// This defines the shared main for injected controllers.
	"weir.dev/pkg/injection/sharedmain"
)

func main() {
	sharedmain.Main("controller", addressableservice.NewController)
}
