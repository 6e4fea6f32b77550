// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"strings"
	"testing"
)

var someDigest = "sha256:" + strings.Repeat("ab", 32)

func TestParseReference(t *testing.T) {
	tests := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"hub":            {"a bare name is Docker Hub's", "nginx", "docker.io/library/nginx:latest"},
		"hub user":       {"a path without a dot is a Docker Hub user's", "me/app:1", "docker.io/me/app:1"},
		"hub alias":      {"both host names mean the same registry", "index.docker.io/library/nginx", "docker.io/library/nginx:latest"},
		"local":          {"what YAML says of a built image", "weir.local/hello", "weir.local/hello:latest"},
		"dev.local":      {"other tools' local images", "dev.local/a/b:x", "dev.local/a/b:x"},
		"digest":         {"digests imply no tag", "weir.local/hello@" + someDigest, "weir.local/hello@" + someDigest},
		"tag and digest": {"both are kept", "a.b/c:1@" + someDigest, "a.b/c:1@" + someDigest},
		"port":           {"a colon makes a registry", "127.0.0.1:5000/x", "127.0.0.1:5000/x:latest"},
		"ipv6":           {"brackets are part of a host", "[::1]:5000/x", "[::1]:5000/x:latest"},
		"localhost":      {"it must not become a Docker Hub user", "localhost/x", "localhost/x:latest"},
		"upper registry": {"hosts have no case", "Example.COM/x", "example.com/x:latest"},
		"separators":     {"all separators of the grammar", "a.b/c__d-e.f/g--h", "a.b/c__d-e.f/g--h:latest"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseReference(tc.in)
			if err != nil || got.String() != tc.want {
				t.Fatalf("%s: ParseReference(%q) = %q, %v; want %q", tc.reason, tc.in, got, err, tc.want)
			}
			again, err := ParseReference(got.String())
			if err != nil || again != got {
				t.Errorf("the result does not parse back: %v, %v", again, err)
			}
		})
	}
	if got, err := ParseLocalReference("hello"); err != nil || got.String() != "weir.local/hello:latest" {
		t.Errorf("ParseLocalReference(hello) = %v, %v", got, err)
	}
}

func TestParseReferenceErrors(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"empty":        {"", "empty"},
		"upper":        {"weir.local/Hello", "lower case"},
		"space":        {"weir.local/a b", "not a repository"},
		"tag":          {"hello:a/b", "not a registry"},
		"bad tag":      {"weir.local/hello:-x", "tag"},
		"empty tag":    {"weir.local/hello:", "tag"},
		"short digest": {"hello@sha256:12", "digest"},
		"other digest": {"hello@md5:" + strings.Repeat("a", 32), "digest"},
		"no digest":    {"hello@", "digest"},
		"no repo":      {"weir.local/", "missing"},
		"double slash": {"weir.local/a//b", "not a repository"},
		"dotdot":       {"weir.local/../x", "not a repository"},
		"scheme":       {"https://weir.local/x", "not a registry"},
		"long":         {"weir.local/" + strings.Repeat("a", 300), "longer"},
		"option":       {"-v/x", "not a repository"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseReference(tc.in)
			if !errors.Is(err, ErrInvalidName) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ParseReference(%q) = %v, %v; want an error with %q", tc.in, got, err, tc.want)
			}
		})
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add("nginx")
	f.Add("localhost:5000/a/b:c@" + someDigest)
	f.Add("Upper/case") // Once read as a registry and then as none.
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseReference(s)
		if err != nil {
			return
		}
		again, err := ParseReference(r.String())
		if err != nil || again != r {
			t.Errorf("%q gives %q, which gives %q, %v", s, r, again, err)
		}
	})
}

func TestIsLocal(t *testing.T) {
	for ref, want := range map[string]bool{
		"weir.local/x": true, "dev.local/x": true, "ko.local/x": true, "kind.local/x@" + someDigest: true,
		"localhost/x": true, "weir.local:80/x": true, "WEIR.local/x": true,
		"localhost:5000/x": false, "127.0.0.1:5000/x": false, "x": false, "other.local/x": false, "not valid": false,
	} {
		if got := IsLocal(ref); got != want {
			t.Errorf("IsLocal(%q) = %v, want %v", ref, got, want)
		}
	}
}
