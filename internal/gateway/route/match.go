// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package route

// Match finds the branch that serves a request: host as [CleanHost] returns it, the decoded path, the headers by canonical
// name, and the listener it came in by. A full name goes before a wildcard. It does not allocate.
//
// It returns nil if no branch serves the request. redirect says that the answer is a redirection to https.
func (t *Table[T]) Match(host, path string, headers map[string][]string, internal bool) (p *Path[T], redirect bool) {
	if host == "" || host[0] == '.' {
		return nil, false // the keys that begin with a dot are those of wildcards
	}
	e := t.lookup(host)
	for name := host; len(e) == 0; e = t.lookup(name) {
		// ".b.c" is the parent of "a.b.c", and ".c" that of ".b.c".
		if name[0] == '.' {
			name = name[1:]
		}
		if name = parent(name); name == "" {
			return nil, false
		}
	}
	paths := e[0].internal
	if !internal {
		paths, redirect = e[0].external, e[0].redirect
	}
	for _, p := range paths {
		if p.matches(path, headers) {
			return p, redirect
		}
	}
	return nil, false
}
