// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission is the wiring of admission for Weir's kinds and settings:
// which kinds, under which names and paths, registered with the API server by
// URL (embedded) or by k8s Service (in a cluster). What is wrong with an object
// is the business of api/.
package admission
