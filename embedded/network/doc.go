// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package network is what a pod expects around it: an address, cluster DNS,
// ClusterIPs, the API server and a way out.
//
// Pods are routed, not bridged. Each has a veth pair and a host route of its own,
// so that no packet between pods escapes the machine's rules, a pod cannot speak
// with another's address, and an address without a pod answers "unreachable" at
// once instead of after a time-out. The machine's address on the pod network is on
// an interface named after the data directory (called the bridge, though nothing
// is plugged into it).
//
// Nothing leaves the machine by mistake: unreachable routes for both address
// ranges come first and go last, an address that no rule translates is rejected,
// and a packet that would leave with a pod's address is dropped.
//
// The package serves any pods: it knows Services and EndpointSlices, and nothing
// of Knative.
package network
