// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

// rule is a row of the page.
type rule struct {
	section, text string
	// here are the names of the tests of conformance that hold it, elsewhere those of other packages, with the package.
	here, elsewhere []string
}

var (
	heading = regexp.MustCompile(`(?m)^#{2,} (.+)$`)
	named   = regexp.MustCompile("`(\\w+)/(Test\\w+)`")
)

// rules reads the tables of the page: a rule, its level where the text gives one, what holds it.
func rules(page string) []rule {
	var out []rule
	section := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 2 || strings.TrimSpace(cells[0]) == "rule" {
			continue
		}
		r := rule{section: section, text: strings.TrimSpace(cells[0])}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			if m[1] == "conformance" {
				r.here = append(r.here, m[2])
			} else {
				r.elsewhere = append(r.elsewhere, m[1]+"/"+m[2])
			}
		}
		out = append(out, r)
	}
	return out
}

// verdict says how the rule's tests of conformance ended, and which of them are why.
func (r rule) verdict(results map[string]string) (verdict string, why []string) {
	if len(r.here) == 0 {
		return "elsewhere", r.elsewhere
	}
	verdict = "pass"
	for _, test := range r.here {
		switch results[test] {
		case "pass":
		case "fail":
			verdict, why = "FAIL", append(why, test)
		default:
			if verdict == "pass" {
				verdict = "not run"
			}
			why = append(why, test)
		}
	}
	return verdict, why
}
