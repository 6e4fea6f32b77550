// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// Section is the part of the page docs/spec/configmaps.md on m.
func (m Map) Section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n| key | type | default | effect |\n|---|---|---|---|\n", m.Name, m.About)
	for _, k := range m.Keys {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k.spellings(), k.Type, k.byDefault(), k.effect())
	}
	return b.String()
}

func (k Key) spellings() string {
	if len(k.Old) == 0 {
		return "`" + k.Name + "`"
	}
	return fmt.Sprintf("`%s` (`%s`)", k.Name, strings.Join(k.Old, "`, `"))
}

func (k Key) byDefault() string {
	switch {
	case k.Note != "":
		return k.Note
	case k.Default != "":
		return "`" + k.Default + "`"
	}
	return "–"
}

func (k Key) effect() string {
	if k.Idle {
		return "no effect here: " + k.Effect
	}
	return k.Effect
}

const exampleHead = `# Nothing below is read: it shows the keys that have an effect, with their
# defaults. Copy a key to the top level of the ConfigMap, directly below
# "data", to change it. All keys: docs/spec/configmaps.md
`

// Example is the value of the key _example of m.
func (m Map) Example() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	for _, k := range m.Keys {
		if k.Idle {
			continue
		}
		b.WriteString("\n")
		for _, line := range wrap(strings.ReplaceAll(k.Effect, "`", ""), 76) {
			b.WriteString("# " + line + "\n")
		}
		b.WriteString(k.example())
	}
	return b.String()
}

// example sets the default; where there is no value that is the default, it is left out.
func (k Key) example() string {
	if k.Default == "" {
		note := strings.ReplaceAll(k.Note, "`", "")
		if note == "" {
			note = "unset"
		}
		return fmt.Sprintf("# %s: (%s)\n", k.Name, note)
	}
	return fmt.Sprintf("%s: %s\n", k.Name, strconv.Quote(k.Default))
}

// wrap breaks a text into lines.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
