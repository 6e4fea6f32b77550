// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package keys is the list of what operators can say in the config-* ConfigMaps: each key with its type, its default and its
// effect, or why it has none here. Admission judges values and warns by it; the page docs/spec/configmaps.md and the examples
// in config/configmaps are written from it. What a value does is elsewhere: the package knows no parser of settings.
package keys

import (
	"slices"
	"strings"
)

// Key is a key of a ConfigMap.
type Key struct {
	// Name is the key. One with a part in angle brackets at its end stands for all that begin so.
	Name string
	Type Type
	// Default is the value that an absent key is like; "" where it is like none or in Note.
	Default string
	// Effect is what it does; of an idle key, why it does nothing here. A sentence without its full stop.
	Effect string
	// Old are other spellings that are read, too, unless Name is there.
	Old []string
	// Idle keys are accepted, because the same ConfigMap is to be good elsewhere, and have no effect.
	Idle bool
	// Note is the default in words, where it is no value.
	Note string
}

// Map is a ConfigMap.
type Map struct {
	Name string
	// About is what it is for, a sentence.
	About string
	Keys  []Key
}

// matches says whether a key of a ConfigMap is this one, under any spelling.
func (k Key) matches(key string) bool {
	if prefix, ok := k.prefix(); ok {
		return len(key) > len(prefix) && strings.HasPrefix(key, prefix)
	}
	return key == k.Name || slices.Contains(k.Old, key)
}

// prefix is what keys begin with that their users name.
func (k Key) prefix() (string, bool) {
	prefix, _, open := strings.Cut(k.Name, "<")
	return prefix, open
}

// find returns the first key of m that key is.
func (m Map) find(key string) (Key, bool) {
	i := slices.IndexFunc(m.Keys, func(k Key) bool { return k.matches(key) })
	if i < 0 {
		return Key{}, false
	}
	return m.Keys[i], true
}

// reserved says whether a key is for people: _example and the like.
func reserved(key string) bool { return strings.HasPrefix(key, "_") }

// All returns all ConfigMaps, by name.
func All() []Map {
	return []Map{
		autoscaler(), defaults(), deployment(), domain(), features(), gc(), leaderElection(), logging(), network(), observability(),
	}
}

// idle makes keys without effect for one reason.
func idle(reason string, of ...Key) []Key {
	for i := range of {
		of[i].Idle, of[i].Effect = true, reason
	}
	return of
}
