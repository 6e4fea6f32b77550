// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages of docs to the code: what they quote is there.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a block of code with the line above it, which names its file.
var block = regexp.MustCompile("(?m)^(?:<!-- (\\S+) -->\n)?```(go|bash|yaml|toml)\n((?s:.*?))^```$")

// TestSnippets: each block of code in a page is part of a file that is compiled
// or run by a test, so that no page shows what does not work.
func TestSnippets(t *testing.T) {
	pages, err := filepath.Glob("../../docs/kit*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		text := read(t, page)
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			line := 1 + strings.Count(text[:strings.Index(text, m[0])], "\n")
			if m[1] == "" {
				t.Errorf("%s:%d: the block names no file", page, line)
				continue
			}
			if !strings.Contains(flat(read(t, "../../"+m[1])), flat(m[3])) {
				t.Errorf("%s:%d: %s has no such lines:\n%s", page, line, m[1], m[3])
			}
		}
	}
}

// flat drops the indentation, which a page need not keep.
func flat(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
