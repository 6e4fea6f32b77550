// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

// objectOnly are the parts of an object that admission looks at: nothing in a
// status is defaulted or checked beyond its schema, and half of all writes are
// statuses.
func objectOnly() []string { return []string{""} }

// SupportedSubResources implements resourcesemantics.SubResourceLimited.
func (*Service) SupportedSubResources() []string { return objectOnly() }

// SupportedSubResources implements resourcesemantics.SubResourceLimited.
func (*Configuration) SupportedSubResources() []string { return objectOnly() }

// SupportedSubResources implements resourcesemantics.SubResourceLimited.
func (*Revision) SupportedSubResources() []string { return objectOnly() }

// SupportedSubResources implements resourcesemantics.SubResourceLimited.
func (*Route) SupportedSubResources() []string { return objectOnly() }
