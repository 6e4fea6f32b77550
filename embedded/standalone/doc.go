// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package standalone is weir up: it assembles the embedded Kubernetes, network and node with the control plane and a gateway
// in one process, starts them in dependency order and stops them in reverse. It is the only package that imports
// everything, and only embedded/cmd and tests import it. Behaviour belongs elsewhere: here are addresses, order and objects
// that must exist before the parts meet.
package standalone
