// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/internal/image"
)

// store has the image "here" and a registry with "there".
type store struct{ pulls int }

func (s *store) Lookup(ref string) (*image.Image, error) {
	switch {
	case strings.Contains(ref, "here"):
		return &image.Image{Ref: ref}, nil
	case strings.Contains(ref, "UPPER"):
		return nil, image.ErrInvalidName
	}
	return nil, image.ErrNotFound
}

func (s *store) Pull(_ context.Context, ref string, _ image.PullOptions) (*image.Image, error) {
	s.pulls++
	if strings.Contains(ref, "missing") {
		return nil, errors.New("not in the registry")
	}
	return &image.Image{Ref: ref}, nil
}

func (*store) Unpack(context.Context, *image.Image) ([]string, error) { return []string{"layer"}, nil }
func (*store) Hold(string, *image.Image) error                        { return nil }
func (*store) Release(string) error                                   { return nil }

func TestEnsure(t *testing.T) {
	cases := map[string]struct {
		why    string
		ref    string
		policy corev1.PullPolicy
		pulls  int
		reason string
	}{
		"present":            {"no registry is asked", "here", corev1.PullIfNotPresent, 0, ""},
		"absent":             {"then it is pulled", "r.example/app", corev1.PullIfNotPresent, 1, ""},
		"always":             {"a tag may have moved", "r.example/here:latest", corev1.PullAlways, 1, ""},
		"always by digest":   {"a digest cannot move", "r.example/here@sha256:0", corev1.PullAlways, 0, ""},
		"always, but local":  {"no registry has it", "weir.local/here:latest", corev1.PullAlways, 0, ""},
		"never":              {"the user said so", "r.example/app", corev1.PullNever, 0, ReasonNever},
		"never, but present": {"", "here", corev1.PullNever, 0, ""},
		"bad name":           {"no retry helps", "UPPER", corev1.PullAlways, 0, ReasonName},
		"not in registry":    {"may come later", "missing", corev1.PullIfNotPresent, 1, ReasonPull},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			images := &store{}
			told := 0
			ready, err := New(images, nil).Ensure(t.Context(), Request{
				Ref: c.ref, Policy: c.policy, Pulling: func() { told++ },
				Secrets: func(context.Context) (authn.Keychain, error) { return nil, nil },
			})
			var failure *Error
			switch {
			case c.reason == "" && (err != nil || len(ready.Layers) != 1):
				t.Errorf("%s: %v, %v", c.why, ready, err)
			case c.reason != "" && (!errors.As(err, &failure) || failure.Reason != c.reason):
				t.Errorf("%s: %v, want reason %s", c.why, err, c.reason)
			}
			if images.pulls != c.pulls || told != c.pulls {
				t.Errorf("%s: %d pulls, told of %d, want %d", c.why, images.pulls, told, c.pulls)
			}
		})
	}
}
