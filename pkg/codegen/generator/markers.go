// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// markers are the +key=value lines of comments.
type markers map[string][]string

func parseMarkers(groups ...*ast.CommentGroup) markers {
	m := markers{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			for _, line := range strings.Split(strings.Trim(comment.Text, "/*"), "\n") {
				m.add(strings.TrimSpace(line))
			}
		}
	}
	return m
}

func (m markers) add(line string) {
	marker, ok := strings.CutPrefix(line, "+")
	if !ok {
		return
	}
	key, value, _ := strings.Cut(strings.TrimSpace(marker), "=")
	m[key] = append(m[key], value)
}

func (m markers) has(key string) bool { return len(m[key]) > 0 }

func (m markers) first(key string) string {
	if !m.has(key) {
		return ""
	}
	return m[key][0]
}

// verbs tells whether the client of a type has the verb.
func (m markers) verb(verb string) bool {
	switch {
	case m.has("genclient:noVerbs"):
		return false
	case m.has("genclient:onlyVerbs"):
		return slices.Contains(split(m.first("genclient:onlyVerbs")), verb)
	case m.has("genclient:skipVerbs"):
		return !slices.Contains(split(m.first("genclient:skipVerbs")), verb)
	}
	return true
}

// commentsOf returns the comments that may mark a declaration: its own, and
// the one that stands apart right above, one empty line between.
func commentsOf(fset *token.FileSet, file *ast.File, decl *ast.GenDecl, doc *ast.CommentGroup) []*ast.CommentGroup {
	top := fset.Position(decl.Pos()).Line
	if decl.Doc != nil {
		top = fset.Position(decl.Doc.Pos()).Line
	}
	groups := []*ast.CommentGroup{decl.Doc, doc}
	for _, group := range file.Comments {
		if fset.Position(group.End()).Line == top-2 {
			groups = append(groups, group)
		}
	}
	return groups
}
