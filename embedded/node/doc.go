// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package node is the node agent of the embedded mode: it registers this machine
// as a node, runs the pods bound to it as containers, and serves their logs and
// commands, as a kubelet does. The node library of virtual-kubelet follows the
// API; everything below a pod is this package's own (see pod, engine).
//
// It needs an API client, an image store and a network, and must not know the
// API server, built-in controllers or anything of Knative. Only
// embedded/standalone and tests import it.
//
// Containers outlive the process: everything needed to find them again lies
// below the data directory, after which all names in the kernel are made.
package node
