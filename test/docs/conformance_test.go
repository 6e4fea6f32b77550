// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named is a test as the page names it: its package below test, and its name.
var named = regexp.MustCompile("`(conformance|convergence|e2e|integration)/(Test\\w+)`")

// TestConformancePage: the tests that hold the rules are there, and every test
// of conformance holds one.
func TestConformancePage(t *testing.T) {
	page := read(t, "../../docs/conformance.md")
	sources := map[string]string{}
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if sources[m[1]] == "" {
			sources[m[1]] = readAll(t, "../"+m[1]+"/*_test.go")
		}
		if !strings.Contains(sources[m[1]], "\nfunc "+m[2]+"(t *testing.T)") {
			t.Errorf("the page names %s/%s, which is not there", m[1], m[2])
		}
	}
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, m := range tests.FindAllStringSubmatch(sources["conformance"], -1) {
		if !strings.Contains(page, "conformance/"+m[1]+"`") {
			t.Errorf("the page does not say which rule %s holds", m[1])
		}
	}
}

func readAll(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var all strings.Builder
	for _, file := range files {
		all.WriteString(read(t, file))
	}
	return all.String()
}
