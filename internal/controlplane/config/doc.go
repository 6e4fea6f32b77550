// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package config gives the reconcilers the operator's settings: the config-* ConfigMaps of the system namespace, parsed,
// as of the start of a reconcile; admission judges changes of them here, too. It knows what values mean and nothing of the
// kinds; package keys lists the keys. Every package below internal/controlplane may import it, and admission.
//
// Values taken from the context are shared between reconciles and must not be changed.
package config
