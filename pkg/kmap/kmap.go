// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package kmap works on label and annotation maps without changing its
// arguments, and looks up keys that have older spellings.
package kmap

// KeyPriority lists the spellings of a key, the canonical one first.
type KeyPriority []string

// Key returns the canonical spelling.
func (p KeyPriority) Key() string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

// Value returns the value of the first spelling that is present, or "".
func (p KeyPriority) Value(m map[string]string) string {
	_, v, _ := p.Get(m)
	return v
}

// Get returns the first spelling that is present and its value, even if that
// is empty.
func (p KeyPriority) Get(m map[string]string) (string, string, bool) {
	for _, k := range p {
		if v, ok := m[k]; ok {
			return k, v, true
		}
	}
	return "", "", false
}

// UpdateKey replaces, in place, an older spelling that is in use by the
// canonical one. It returns the spelling found, its value, and whether any was.
func (p KeyPriority) UpdateKey(m map[string]string) (string, string, bool) {
	k, v, ok := p.Get(m)
	if ok && k != p.Key() {
		delete(m, k)
		m[p.Key()] = v
	}
	return k, v, ok
}

// UpdateKeys is UpdateKey for several keys; it returns m.
func UpdateKeys(m map[string]string, keys ...KeyPriority) map[string]string {
	for _, k := range keys {
		k.UpdateKey(m)
	}
	return m
}

// Copy returns a copy, never nil.
func Copy[K comparable, V any, M ~map[K]V](m M) M { return Filter(m, func(K) bool { return false }) }

// Union returns all entries; later maps win. Never nil.
func Union[K comparable, V any, M ~map[K]V](maps ...M) M {
	out := M{}
	for _, m := range maps {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// Filter returns a copy without the keys for which drop is true, never nil.
func Filter[K comparable, V any, M ~map[K]V](m M, drop func(K) bool) M {
	out := make(M, len(m))
	for k, v := range m {
		if !drop(k) {
			out[k] = v
		}
	}
	return out
}

// ExcludeKeys returns a copy without the given keys, never nil.
func ExcludeKeys[K comparable, V any, M ~map[K]V](m M, keys ...K) M {
	return ExcludeKeyList(m, keys)
}

// ExcludeKeyList is ExcludeKeys for a list.
func ExcludeKeyList[K comparable, V any, M ~map[K]V](m M, keys []K) M {
	out := Copy(m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}
