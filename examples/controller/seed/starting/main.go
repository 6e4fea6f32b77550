// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command starting is the section "Starting controllers".
package main

import (
	// The set of controllers this process will run.
	bar "weir.dev/examples/controller/seed/building"
	blah "weir.dev/examples/controller/seed/informers"

	// This defines the shared main for injected controllers.
	"weir.dev/pkg/injection/sharedmain"
)

func main() {
	sharedmain.Main("componentname",
		bar.NewController,
		blah.NewController,
	)
}
