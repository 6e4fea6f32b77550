// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package image keeps container images on this machine: it pulls, imports and
// builds them, and unpacks their layers for overlayfs.
//
// A [Store] is a directory with an OCI image layout (index.json, blobs) and one
// directory per unpacked layer. Several processes may use one store at once:
// everything is written beside its place and renamed into it, and file locks
// keep the garbage collector away from writers. Nothing is cached in memory, so
// a reader sees what another process wrote.
//
// It is one package, although a large one, because all of it works on the one
// store under its locks: whoever builds, pulls or imports ends in the same few
// steps, and the garbage collector must know what each of them may hold.
//
// The package knows nothing of pods or of Kubernetes. The node agent and the
// image commands import it.
package image
