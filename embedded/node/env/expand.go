// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package env

import "strings"

// expand replaces $(NAME) by the first scope's value that has it. Unknown names
// stay as they are; $$ is a $ that starts no reference.
func expand(text string, scopes ...map[string]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text = after
		switch {
		case strings.HasPrefix(text, "$"):
			out.WriteByte('$')
			text = text[1:]
		case strings.HasPrefix(text, "("):
			name, rest, closed := strings.Cut(text[1:], ")")
			if !closed {
				out.WriteByte('$')
				continue
			}
			out.WriteString(lookUp(name, scopes))
			text = rest
		default:
			out.WriteByte('$')
		}
	}
}

func lookUp(name string, scopes []map[string]string) string {
	for _, scope := range scopes {
		if value, ok := scope[name]; ok {
			return value
		}
	}
	return "$(" + name + ")"
}
