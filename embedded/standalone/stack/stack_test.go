// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"weir.dev/embedded/standalone/stack"
)

// recorder notes in which order things end.
type recorder []string

func (r *recorder) part(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		*r = append(*r, name)
		return ctx.Err()
	}
}

func TestStopsInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended recorder
		s := stack.New(slog.New(slog.DiscardHandler))
		s.Run("first", ended.part("first"))
		s.OnStop("second", func() error { ended = append(ended, "second"); return nil })
		s.Run("third", ended.part("third"))
		if err := s.Close(); err != nil {
			t.Errorf("a part that ends because it was asked to is no failure: %v", err)
		}
		if diff := cmp.Diff(recorder{"third", "second", "first"}, ended); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEndOfAPartIsAFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"with an error": {"it is passed on, with the part's name", errors.New("boom"), "gateway ended: boom"},
		"without":       {"a part that just returns is missing all the same", nil, "gateway ended: without being asked to"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stack.New(slog.New(slog.DiscardHandler))
				s.Run("gateway", func(context.Context) error { return tc.err })
				err := s.Wait(context.Background())
				if err == nil || err.Error() != tc.want {
					t.Errorf("error %v, want %q: %s", err, tc.want, tc.reason)
				}
				_ = s.Close()
			})
		})
	}
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stack.New(slog.New(slog.DiscardHandler))
		defer s.Close()
		ready := make(chan struct{})
		close(ready)
		if err := s.Until(context.Background(), "it", ready); err != nil {
			t.Errorf("ready: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Until(ctx, "it", nil); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "waiting for it") {
			t.Errorf("interrupted: %v", err)
		}
	})
}

func TestCloseReportsEveryFailure(t *testing.T) {
	s := stack.New(slog.New(slog.DiscardHandler))
	s.OnStop("one", func() error { return errors.New("first") })
	s.OnStop("two", func() error { return errors.New("second") })
	err := s.Close()
	for _, want := range []string{"stop one: first", "stop two: second"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}
