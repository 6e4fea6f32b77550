// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import "net/http"

// requestTarget returns what goes into the request line for the program: the path and query as the client wrote them. ok is
// false for what has none (CONNECT) and for what could be read as something else there.
func requestTarget(r *http.Request) (target string, ok bool) {
	if r.Method == http.MethodConnect || !isToken(r.Method) || !isVisible(r.Host) {
		return "", false
	}
	target = r.RequestURI
	if target == "*" && r.Method == http.MethodOptions {
		return target, true
	}
	if len(target) == 0 || target[0] != '/' || !isVisible(target) {
		target = r.URL.RequestURI() // absolute form, or bytes that must be escaped
	}
	return target, len(target) > 0 && target[0] == '/' && isVisible(target)
}

// isVisible says that there is nothing but visible ASCII.
func isVisible(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// isToken says that s can be a method: letters, digits and the marks of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '!', c == '#', c == '$', c == '%', c == '&', c == '\'', c == '*', c == '+', c == '-', c == '.', c == '^',
			c == '_', c == '`', c == '|', c == '~':
		default:
			return false
		}
	}
	return s != ""
}
