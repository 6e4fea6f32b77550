// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package stack runs the long-lived parts of a process: started in order, stopped in reverse. It does not know what they are.
package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Stack runs long-lived parts. Each has a context of its own, so that stopping goes from the last started to the first and
// no part loses what it depends on while it still runs.
type Stack struct {
	log    *slog.Logger
	parts  []*part
	failed chan error // the first end that nobody asked for
}

type part struct {
	name string
	stop func() error // idempotent
}

// New gives an empty stack.
func New(log *slog.Logger) *Stack {
	return &Stack{log: log, failed: make(chan error, 1)}
}

// Run starts a part in the background. Its end before Close counts as a failure, with or without an error.
func (s *Stack) Run(name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil {
			s.fail(fmt.Errorf("%s ended: %w", name, orUnexpected(err)))
		}
		done <- err
	}()
	s.OnStop(name, func() error {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
}

// OnStop registers what is to be undone for something that needs no goroutine.
func (s *Stack) OnStop(name string, stop func() error) {
	s.log.Debug("started", "part", name)
	s.parts = append(s.parts, &part{name: name, stop: stop})
}

func (s *Stack) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Wait returns nil when ctx is done and an error when a part failed before.
func (s *Stack) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// Until waits for ready, unless ctx ends or a part fails first.
func (s *Stack) Until(ctx context.Context, what string, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
	case err := <-s.failed:
		return err
	}
}

// Close stops everything, last started first, and waits for each.
func (s *Stack) Close() error {
	var errs error
	for len(s.parts) > 0 {
		p := s.parts[len(s.parts)-1]
		s.parts = s.parts[:len(s.parts)-1]
		if err := p.stop(); err != nil {
			errs = errors.Join(errs, fmt.Errorf("stop %s: %w", p.name, err))
		}
		s.log.Debug("stopped", "part", p.name)
	}
	return errs
}

func orUnexpected(err error) error {
	if err == nil {
		return errors.New("without being asked to")
	}
	return err
}
