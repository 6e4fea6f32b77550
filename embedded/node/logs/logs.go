// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package logs reads container logs in the CRI format (one line a write:
// "<RFC 3339 time> stdout|stderr F|P <text>") and bounds their size. It knows
// files, not containers.
package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Options say what to read; the zero value is everything there is.
type Options struct {
	// Tail is the number of last lines, if not nil.
	Tail *int64
	// Since leaves out lines before it.
	Since time.Time
	// Timestamps puts each line's time before it.
	Timestamps bool
	// LimitBytes ends the output after that many bytes, if positive.
	LimitBytes int64
	// Ended, if not nil, makes reading follow the log until it is closed.
	Ended <-chan struct{}
}

// Rotated is where the part before the log's last rotation is.
func Rotated(path string) string { return path + ".1" }

// Copy writes the log at path, and what was rotated away from it, to w. It
// returns when everything is written, the log ended or ctx is done.
func Copy(ctx context.Context, w io.Writer, path string, o Options) error {
	out := &output{w: w, options: o, left: o.LimitBytes}
	old, err := lines(Rotated(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open log: %w", err)
	}
	f := &follower{path: path, file: file}
	defer f.close()
	now, err := f.read()
	if err != nil {
		return err
	}
	if err := out.write(last(append(old, now...), o)); err != nil {
		return ignoreFull(err)
	}
	if o.Ended == nil {
		return nil
	}
	return ignoreFull(f.follow(ctx, out))
}

var errFull = errors.New("limit reached")

func ignoreFull(err error) error {
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

func lines(path string) ([][]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &follower{file: file}
	return f.read()
}

// last picks the lines that the options ask for.
func last(all [][]byte, o Options) [][]byte {
	all = slices.DeleteFunc(all, func(line []byte) bool {
		at, _, ok := split(line)
		return !ok || at.Before(o.Since)
	})
	if o.Tail == nil {
		return all
	}
	start := len(all)
	for n := int64(0); start > 0; start-- {
		// The end of a line of the program, which may be several of the log.
		if ends(all[start-1]) {
			if n == *o.Tail {
				break
			}
			n++
		} else if *o.Tail == 0 {
			break
		}
	}
	return all[start:]
}

// follower reads complete lines of a growing file.
type follower struct {
	path    string
	file    *os.File
	partial []byte
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

func (f *follower) read() ([][]byte, error) {
	if f.file == nil {
		return nil, nil
	}
	var list [][]byte
	reader := bufio.NewReader(f.file)
	for {
		line, err := reader.ReadBytes('\n')
		f.partial = append(f.partial, line...)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, fmt.Errorf("read log: %w", err)
		}
		list = append(list, f.partial)
		f.partial = nil
	}
}

func (f *follower) follow(ctx context.Context, out *output) error {
	const interval = 50 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		ended := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-out.options.Ended:
			ended = true
		case <-ticker.C:
		}
		if err := f.step(out); err != nil || ended {
			return err
		}
	}
}

// step writes what is new, also in a file that took the place of ours.
func (f *follower) step(out *output) error {
	list, err := f.read()
	if err != nil {
		return err
	}
	if err := out.write(list); err != nil {
		return err
	}
	next, err := os.Open(f.path)
	if err != nil {
		return ignoreMissing(err)
	}
	if f.file != nil && sameFile(f.file, next) {
		return next.Close()
	}
	f.close()
	f.file, f.partial = next, nil
	if list, err = f.read(); err != nil {
		return err
	}
	return out.write(list)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("open log: %w", err)
}

func sameFile(a, b *os.File) bool {
	ai, aerr := a.Stat()
	bi, berr := b.Stat()
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// output turns log lines back into what the program wrote.
type output struct {
	w       io.Writer
	options Options
	left    int64
	inLine  bool
}

func (o *output) write(list [][]byte) error {
	for _, line := range list {
		at, text, ok := split(line)
		if !ok {
			continue
		}
		if o.options.Timestamps && !o.inLine {
			text = append([]byte(at.Format(time.RFC3339Nano)+" "), text...)
		}
		o.inLine = !ends(line)
		if !o.inLine {
			text = append(text[:len(text):len(text)], '\n')
		}
		if err := o.put(text); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) put(text []byte) error {
	full := false
	if o.options.LimitBytes > 0 {
		if int64(len(text)) >= o.left {
			text, full = text[:o.left], true
		}
		o.left -= int64(len(text))
	}
	if _, err := o.w.Write(text); err != nil {
		return err
	}
	if full {
		return errFull
	}
	return nil
}

// split takes a log line apart; false if it is none.
func split(line []byte) (at time.Time, text []byte, ok bool) {
	fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 4)
	if len(fields) != 4 {
		return time.Time{}, nil, false
	}
	at, err := time.Parse(time.RFC3339Nano, string(fields[0]))
	return at, fields[3], err == nil
}

// ends says whether the program's line ends with this log line.
func ends(line []byte) bool {
	fields := bytes.SplitN(line, []byte(" "), 4)
	return len(fields) < 4 || !bytes.Equal(fields[2], []byte("P"))
}
