// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Rotate puts a log that is larger than limit aside, replacing the part that
// was put aside before, and calls reopen so that its writer starts a new file.
func Rotate(path string, limit int64, reopen func() error) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at log: %w", err)
	}
	if info.Size() <= limit {
		return nil
	}
	if err := os.Rename(path, Rotated(path)); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	return reopen()
}

// End is the last text of a log, at most that many bytes and lines.
func End(path string, mostBytes int64, mostLines int64) string {
	list, err := lines(path)
	if err != nil {
		return ""
	}
	var text bytes.Buffer
	out := &output{w: &text}
	if err := out.write(last(list, Options{Tail: &mostLines})); err != nil {
		return ""
	}
	data := text.Bytes()
	if int64(len(data)) > mostBytes {
		data = data[int64(len(data))-mostBytes:]
	}
	return string(data)
}
