// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

import "strings"

// CleanHost returns the host of a Host header or an :authority in the form that the table uses: lower case, without port
// and final dot. It allocates only if there are capital letters.
func CleanHost(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && (host[0] != '[' || host[i-1] == ']') {
		host = host[:i]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// parent returns the part of a name from its first dot on, by which wildcards are kept; "" if there is none.
func parent(host string) string {
	if i := strings.IndexByte(host, '.'); i > 0 {
		return host[i:]
	}
	return ""
}

// hostKey is the key of a host of a rule: a wildcard is kept by what follows its star.
func hostKey(host string) string {
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		return "." + rest
	}
	return host
}
