// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package psbinding binds: an object of one kind, the binding, changes the pods
// of others, its subjects, which have a pod template. NewAdmissionController
// changes subjects as they are written, so that none runs unbound;
// BaseReconciler changes those that are there already, and changes them back
// when the binding goes. It knows no kind of binding.
package psbinding
