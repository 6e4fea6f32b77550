// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import "strings"

// pluralOf returns the lower-case plural of a kind's name.
func pluralOf(kind string) string {
	s := strings.ToLower(kind)
	switch {
	case s == "":
		return ""
	case hasAnySuffix(s, "s", "x", "z", "ch", "sh"):
		return s + "es"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	default:
		return s + "s"
	}
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}
