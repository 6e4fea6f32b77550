// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Command summary reads what go test -json says of test/conformance, and prints which rules of docs/conformance.md hold:
//
//	go test -json ./test/conformance/ … | go run ./test/summary docs/conformance.md
//
// Its exit code is 1 if a test has failed, or if one that the page names has not run.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: summary PAGE < what go test -json prints")
		return 2
	}
	page, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "summary:", err)
		return 2
	}
	results, failed := follow(stdin, stdout)
	if report(rules(string(page)), results, stdout) && !failed {
		return 0
	}
	return 1
}

// event is a line of go test -json.
type event struct{ Action, Test, Output string }

// follow prints what go test prints without -json, and returns how each test ended and whether anything has failed.
func follow(in io.Reader, out io.Writer) (results map[string]string, failed bool) {
	results = map[string]string{}
	said := map[string][]string{} // by test, until it is known whether that matters
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return results, failed
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(out, line)
			continue
		}
		switch {
		case e.Action == "output" && e.Test != "":
			said[e.Test] = append(said[e.Test], e.Output)
		case e.Output != "":
			fmt.Fprint(out, e.Output)
		case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
			results[e.Test] = e.Action
			if e.Action == "fail" {
				failed = true
				fmt.Fprint(out, strings.Join(said[e.Test], ""))
			}
			delete(said, e.Test)
		}
	}
}

// report prints the rules by section, and says whether all that the page names have been run and hold.
func report(rules []rule, results map[string]string, out io.Writer) bool {
	section, count := "", map[string]int{}
	for _, r := range rules {
		if r.section != section {
			section = r.section
			fmt.Fprintf(out, "\n%s\n", section)
		}
		verdict, why := r.verdict(results)
		count[verdict]++
		text := r.text
		if len(why) > 0 {
			text += " (" + strings.Join(why, ", ") + ")"
		}
		fmt.Fprintf(out, "  %-9s  %s\n", verdict, text)
	}
	fmt.Fprintf(out, "\n%d rules hold, %d do not, %d were not run; %d are held elsewhere\n",
		count["pass"], count["FAIL"], count["not run"], count["elsewhere"])
	return count["FAIL"]+count["not run"] == 0
}
