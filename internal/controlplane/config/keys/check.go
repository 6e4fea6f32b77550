// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Check complains about values that are none of their key's type, whatever the spelling of the key and whether it has an
// effect or not.
func (m Map) Check(data map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(data)) {
		k, known := m.find(key)
		if !known || reserved(key) {
			continue
		}
		if err := k.Type.check(data[key]); err != nil {
			errs = append(errs, fmt.Errorf("%s = %s, must be %w", key, strconv.Quote(data[key]), err))
		}
	}
	return errors.Join(errs...)
}

// Warnings tells about keys that do nothing: those without effect, those that are overridden, and those that nobody knows.
func (m Map) Warnings(data map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if reserved(key) {
			continue
		}
		if what := m.warn(key, data); what != "" {
			out = append(out, fmt.Sprintf("%s: %s", m.Name, what))
		}
	}
	return out
}

func (m Map) warn(key string, data map[string]string) string {
	k, known := m.find(key)
	_, both := data[k.Name]
	switch {
	case !known:
		return m.unknown(key)
	case k.Idle:
		return fmt.Sprintf("%q has no effect: %s", key, k.Effect)
	case both && key != k.Name:
		return fmt.Sprintf("%q has no effect beside %q", key, k.Name)
	}
	return ""
}

// unknown guesses what the writer of an unknown key meant.
func (m Map) unknown(key string) string {
	what := fmt.Sprintf("unknown key %q has no effect", key)
	for _, other := range All() {
		if k, ok := other.find(key); ok && !strings.Contains(k.Name, "<") {
			return fmt.Sprintf("%s: it is a key of %s", what, other.Name)
		}
	}
	if guess := m.nearest(key); guess != "" {
		return fmt.Sprintf("%s, did you mean %q?", what, guess)
	}
	return what
}

// nearest returns the key that a misspelt one was likely meant to be, "" if it is like none.
func (m Map) nearest(key string) string {
	best, least := "", 2+len(key)/8
	for _, k := range m.Keys {
		for _, spelling := range append([]string{k.Name}, k.Old...) {
			if d := distance(plain(key), plain(spelling)); d <= least && (best == "" || d < least) {
				best, least = k.Name, d
			}
		}
	}
	return best
}

// plain takes out what people mix up.
func plain(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
}

// distance is how many letters must be put in, taken out or changed to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
