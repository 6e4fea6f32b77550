// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package config gives the reconcilers the operator's settings: the config-* ConfigMaps of the system namespace, parsed,
// as of the start of a reconcile. It knows the keys and their defaults (facts.md 6.9 to 6.16) and nothing of the kinds.
// Every package below internal/controlplane may import it.
//
// Values taken from the context are shared between reconciles and must not be changed.
package config
