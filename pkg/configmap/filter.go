// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import "reflect"

// TypeFilter wraps a store's observer so that it is called only for values of
// the types of the given examples.
func TypeFilter(types ...any) func(func(name string, value any)) func(name string, value any) {
	wanted := make(map[reflect.Type]bool, len(types))
	for _, t := range types {
		wanted[reflect.TypeOf(t)] = true
	}
	return func(f func(string, any)) func(string, any) {
		return func(name string, value any) {
			if wanted[reflect.TypeOf(value)] {
				f(name, value)
			}
		}
	}
}
