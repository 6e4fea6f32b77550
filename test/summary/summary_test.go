// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# Page\n\n## One\n\n| rule | level | held by |\n|---|---|---|\n" +
	"| a | MUST | `conformance/TestA`, `e2e/TestX` |\n| b | MAY | `conformance/TestB` |\n\n### Two\n\n| rule | level | held by |\n|---|---|---|\n" +
	"| c | MUST | `e2e/TestC` |\n\n## Three\n\n| rule | held by |\n|---|---|\n| d | `conformance/TestA` |\n"

func TestSummary(t *testing.T) {
	event := func(action, test string) string {
		return `{"Action":"` + action + `","Test":"` + test + `"}` + "\n" + `{"Action":"output","Test":"TestLate","Output":"unheard\n"}` + "\n"
	}
	said := `{"Action":"output","Test":"TestB","Output":"what is wrong\n"}` + "\n"
	tests := map[string]struct {
		reason string
		in     string
		want   string // after the heading of section One
		code   int
	}{
		"good": {"all hold", event("pass", "TestA") + said + event("pass", "TestB"),
			"  pass       a\n  pass       b\n\nTwo\n  elsewhere  c (e2e/TestC)\n\nThree\n  pass       d\n\n3 rules hold, 0 do not, 0 were not run; 1 are held elsewhere\n", 0},
		"bad": {"what the test said comes first", event("pass", "TestA") + said + event("fail", "TestB"),
			"  pass       a\n  FAIL       b (TestB)\n\nTwo\n  elsewhere  c (e2e/TestC)\n\nThree\n  pass       d\n\n2 rules hold, 1 do not, 0 were not run; 1 are held elsewhere\n", 1},
		"left out": {"what did not run is not held", event("pass", "TestA") + event("skip", "TestB"),
			"  pass       a\n  not run    b (TestB)\n\nTwo\n  elsewhere  c (e2e/TestC)\n\nThree\n  pass       d\n\n2 rules hold, 0 do not, 1 were not run; 1 are held elsewhere\n", 1},
		"another": {"a test may hold no rule", event("pass", "TestA") + event("pass", "TestB") + event("fail", "TestZ"),
			"  pass       a\n  pass       b\n\nTwo\n  elsewhere  c (e2e/TestC)\n\nThree\n  pass       d\n\n3 rules hold, 0 do not, 0 were not run; 1 are held elsewhere\n", 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			code := run([]string{file}, strings.NewReader(tc.in), &out, &out)
			before, after, _ := strings.Cut(out.String(), "\nOne\n")
			if diff := cmp.Diff(tc.want, after); diff != "" || code != tc.code {
				t.Errorf("%s: exit code %d, want %d (-want +got):\n%s", tc.reason, code, tc.code, diff)
			}
			if heard := strings.Contains(before, "what is wrong"); heard != (name == "bad") || strings.Contains(before, "unheard") {
				t.Errorf("%s: printed %q", tc.reason, before)
			}
		})
	}
}
