// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"maps"
	"slices"

	clientgotesting "k8s.io/client-go/testing"
)

type restrictions = clientgotesting.ListRestrictions

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
