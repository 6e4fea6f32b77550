// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package pod makes one pod happen on this node: sandbox, volumes, init
// containers, containers with their probes, hooks and restarts, the end, and the
// status all the while. It decides; an Engine does. It knows the pod's API
// object, but neither the API server nor how pods get here.
//
// It is larger than other packages because a pod's course, its containers' runs
// and their end wait for each other: apart they would share all their state.
//
// A pod has one goroutine for its course and one for each container, which is the
// only one to touch that container. When the node's context ends they return and
// leave the containers running; Adopt takes them over in the next process.
package pod
