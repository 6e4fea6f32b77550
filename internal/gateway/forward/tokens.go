// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net/http"
	"strings"
)

// tokens are the names in a Connection header: headers that end with this hop.
type tokens []string

func connectionTokens(h http.Header) tokens {
	var list tokens
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "close") && !strings.EqualFold(name, "keep-alive") {
				list = append(list, name)
			}
		}
	}
	return list
}

func (t tokens) has(name string) bool {
	for _, s := range t {
		if strings.EqualFold(s, name) {
			return true
		}
	}
	return false
}

// hasToken says whether a comma-separated header holds a token.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// upgradeTo returns the protocol that a client wants to change to; not HTTP/2, which needs no change with this gateway.
func upgradeTo(values []string) string {
	if len(values) != 1 || !isVisible(values[0]) || strings.EqualFold(values[0], "h2c") {
		return ""
	}
	return values[0]
}
