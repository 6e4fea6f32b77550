// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package kmeta

import "weir.dev/pkg/kmap"

// CopyMap returns a copy, never nil.
func CopyMap(m map[string]string) map[string]string { return kmap.Copy(m) }

// UnionMaps returns all entries; later maps win. Never nil.
func UnionMaps(maps ...map[string]string) map[string]string { return kmap.Union(maps...) }

// FilterMap returns a copy without the keys for which drop is true, never nil.
func FilterMap(m map[string]string, drop func(string) bool) map[string]string {
	return kmap.Filter(m, drop)
}
