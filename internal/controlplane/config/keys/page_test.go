// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/configmap"
)

var update = flag.Bool("update", false, "write the page and the examples")

const page = "../../../../docs/spec/configmaps.md"

// TestPage: the page has the keys, types, defaults and effects of the code.
func TestPage(t *testing.T) {
	have := read(t, page)
	head, _, _ := strings.Cut(have, "\n## ")
	want := strings.TrimRight(head, "\n") + "\n"
	for _, m := range All() {
		want += "\n" + m.Section()
	}
	hold(t, page, have, want)
}

// TestExamples: the ConfigMaps that are installed show the keys that have an effect, with the checksum by which a changed
// example is refused.
func TestExamples(t *testing.T) {
	for _, m := range All() {
		file := "../../../../config/configmaps/" + m.Name + ".yaml"
		have := read(t, file)
		hold(t, file, have, withExample(have, m.Example()))

		cm := corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict([]byte(read(t, file)), &cm); err != nil {
			t.Fatal(err)
		}
		example := cm.Data[configmap.ExampleKey]
		if want := configmap.Checksum(example); cm.Annotations[configmap.ExampleChecksumAnnotation] != want {
			t.Errorf("%s: want the checksum %s", file, want)
		}
		shown := map[string]string{}
		if err := yaml.UnmarshalStrict([]byte(example), &shown); err != nil {
			t.Errorf("%s: what is copied from the example must be YAML: %v", file, err)
		}
		delete(cm.Data, configmap.ExampleKey)
		for _, data := range []map[string]string{shown, cm.Data} {
			if err, warnings := m.Check(data), m.Warnings(data); err != nil || len(warnings) > 0 {
				t.Errorf("%s: %v %q", file, err, warnings)
			}
		}
	}
}

// withExample gives a manifest the example, as its last key, and the checksum.
func withExample(manifest, example string) string {
	head, _, _ := strings.Cut(manifest, "  _example: |\n")
	var b strings.Builder
	for _, line := range strings.SplitAfter(head, "\n") {
		if before, _, ok := strings.Cut(line, configmap.ExampleChecksumAnnotation); ok {
			line = before + configmap.ExampleChecksumAnnotation + ": \"" + configmap.Checksum(example) + "\"\n"
		}
		b.WriteString(line)
	}
	b.WriteString("  _example: |\n")
	for _, line := range strings.SplitAfter(strings.TrimSuffix(example, "\n"), "\n") {
		if line != "\n" {
			line = "    " + line
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// hold compares a file with what it should be, or writes it.
func hold(t *testing.T, file, have, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s is not what the code says; run with -update (-want +got):\n%s", file, diff)
	}
}
