// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package duck

// Labels of CustomResourceDefinitions whose kinds have a shape, by which tools
// find them. Their value is "true".
const (
	// AddressableLabel says that the kind has an address.
	AddressableLabel = "duck.knative.dev/addressable"
	// SourceLabel says that the kind is a source of events.
	SourceLabel = "duck.knative.dev/source"
)
