// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster is a whole Kubernetes control plane in one process: etcd, kube-apiserver, the built-in controllers that
// Weir's embedded mode needs and the scheduler, each constructed from its own packages (never from its command, whose
// signal handlers and logging set-up may run only once per process), plus the certificates and the kubeconfig to reach it.
//
// It knows nothing of Knative, so it also serves integration tests as their API server. It must import no other package of
// Weir; embedded/standalone and tests import it.
package cluster
