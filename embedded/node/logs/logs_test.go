// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

const sample = `2026-01-01T00:00:01.000000001+00:00 stdout F one
2026-01-01T00:00:02+00:00 stderr P two-
2026-01-01T00:00:02+00:00 stderr F part
not a log line
2026-01-01T00:00:03+00:00 stdout F 
2026-01-01T00:00:04+00:00 stdout F four
`

func logFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0.log")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCopy(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"all":   {"parts of a line are joined", Options{}, "one\ntwo-part\n\nfour\n"},
		"tail":  {"lines are the program's", Options{Tail: ptr.To[int64](3)}, "two-part\n\nfour\n"},
		"none":  {"a tail of 0 is nothing", Options{Tail: ptr.To[int64](0)}, ""},
		"since": {"by time", Options{Since: time.Date(2026, 1, 1, 0, 0, 3, 0, time.UTC)}, "\nfour\n"},
		"limit": {"in bytes", Options{LimitBytes: 6}, "one\ntw"},
		"times": {"once a line", Options{Timestamps: true, LimitBytes: 60},
			"2026-01-01T00:00:01.000000001Z one\n2026-01-01T00:00:02Z two-"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Copy(t.Context(), &out, logFile(t, sample), c.options); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, &out, c.want)
			}
		})
	}
}

func TestFollowOverRotation(t *testing.T) {
	path := logFile(t, "2026-01-01T00:00:01Z stdout F before\n")
	read, write := io.Pipe()
	ended := make(chan struct{})
	go func() {
		write.CloseWithError(Copy(context.Background(), write, path, Options{Ended: ended}))
	}()
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(read, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	expect("before\n")
	err := Rotate(path, 10, func() error {
		return os.WriteFile(path, []byte("2026-01-01T00:00:02Z stdout F after\n"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	expect("after\n")
	close(ended)
	if rest, err := io.ReadAll(read); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	var all bytes.Buffer
	if err := Copy(t.Context(), &all, path, Options{}); err != nil || all.String() != "before\nafter\n" {
		t.Errorf("whole log is %q, %v", &all, err)
	}
}

func TestEnd(t *testing.T) {
	if got := End(logFile(t, sample), 2048, 2); got != "\nfour\n" {
		t.Errorf("got %q", got)
	}
	if got := End(logFile(t, sample), 4, 80); got != "our\n" {
		t.Errorf("got %q", got)
	}
}
