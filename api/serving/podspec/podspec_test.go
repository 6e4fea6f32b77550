// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// TestValidate runs testdata/*.txt: cases of a pod ("<name>.yaml"; a line
// "# features: key=value ..." turns features on) and the errors that it has
// ("<name>.want"). The comment of each archive says what it is about.
func TestValidate(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		archive, err := txtar.ParseFile("testdata/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(archive.Files); i += 2 {
			in, want := archive.Files[i], archive.Files[i+1]
			t.Run(strings.TrimSuffix(f.Name(), ".txt")+"/"+strings.TrimSuffix(in.Name, ".yaml"), func(t *testing.T) {
				if in.Name != strings.Replace(want.Name, ".want", ".yaml", 1) {
					t.Fatalf("%s is followed by %s", in.Name, want.Name)
				}
				ps := &corev1.PodSpec{}
				if err := yaml.UnmarshalStrict(in.Data, ps); err != nil {
					t.Fatal(err)
				}
				ctx := withFeatures(t, string(in.Data))
				got := Validate(ctx, ps).Error()
				if diff := cmp.Diff(strings.TrimSpace(string(want.Data)), strings.TrimSpace(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func withFeatures(t *testing.T, text string) context.Context {
	t.Helper()
	data := map[string]string{}
	for line := range strings.Lines(text) {
		if flags, ok := strings.CutPrefix(strings.TrimSpace(line), "# features: "); ok {
			for _, flag := range strings.Fields(flags) {
				k, v, _ := strings.Cut(flag, "=")
				data[k] = v
			}
		}
	}
	features, err := config.NewFeatures(data)
	if err != nil {
		t.Fatal(err)
	}
	return config.ToContext(context.Background(), &config.Config{Features: features})
}

func TestImageReferences(t *testing.T) {
	good := []string{
		"busybox", "weir.local/hello", "weir.local/hello:latest", "a/b/c", "localhost:5000/x:v1.2_3-4", "dev.local/x",
		"ghcr.io/o/n@sha256:" + strings.Repeat("a", 64), "x:v1@sha256:" + strings.Repeat("0", 64), "[::1]:5000/x", "a__b--c.d/e",
	}
	bad := []string{
		"", "UPPER", "a b", "a//b", "/a", "a/", "x:", "x@sha256:abc", "x@md5:" + strings.Repeat("a", 32), "x:ta g", "http://x/y",
		"x:" + strings.Repeat("t", 129), strings.Repeat("r", 256), "a.b:port/x", "-a",
	}
	for _, image := range good {
		if err := checkReference(image); err != nil {
			t.Errorf("%q: %v", image, err)
		}
	}
	for _, image := range bad {
		if checkReference(image) == nil {
			t.Errorf("%q must not parse", image)
		}
	}
}

func TestWarnings(t *testing.T) {
	sc := func(text string) *corev1.PodSpec {
		out := &corev1.PodSpec{}
		if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	tests := map[string]struct {
		reason string
		pod    *corev1.PodSpec
		want   string // fields that are warned about, without their common path
	}{
		"nothing set": {"all four", sc(`containers: [{}]`), "allowPrivilegeEscalation capabilities runAsNonRoot seccompProfile"},
		"all set":     {"none", sc(`containers: [{securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}, capabilities: {drop: [ALL]}}}]`), ""},
		"by the pod": {
			"the pod speaks for its containers",
			sc(`{securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`), "",
		},
		"halves": {"parts count", sc(`containers: [{securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, seccompProfile: {}, capabilities: {}}}]`), "capabilities.drop seccompProfile.type"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Warnings(context.Background(), tc.pod)
			want := ""
			if tc.want != "" {
				want = insecureDefault + ": containers[0].securityContext." + strings.ReplaceAll(tc.want, " ", ", containers[0].securityContext.")
			}
			if got.Error() != want {
				t.Errorf("%s (-want +got):\n%s", tc.reason, cmp.Diff(want, got.Error()))
			}
			if got.Filter(apis.ErrorLevel) != nil {
				t.Error("warnings refuse nothing")
			}
		})
	}
}

// FuzzImage holds that no text makes the check panic.
func FuzzImage(f *testing.F) {
	for _, seed := range []string{"a:b@c", "[::1]:/", "@", ":", "/:/"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, image string) { _ = checkReference(image) })
}
