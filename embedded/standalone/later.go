// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import "context"

// serveNetwork and startNode follow with the network's and the node's own commits.
func (w *Weir) serveNetwork(context.Context) error { return nil }

func (w *Weir) startNode(context.Context) error { return nil }
