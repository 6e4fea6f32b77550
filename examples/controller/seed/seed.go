// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package seed goes through the text "Knative Dependency Injection" section by
// section: its fragments, with what they leave out filled in, and tests that
// they do what the text says. Each fragment that declares the same names as
// another is a package of its own below this one. The generators' fragments are
// proven in weir.dev/test/codegen and in hack/update-codegen.sh.
package seed
