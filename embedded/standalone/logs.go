// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// logKubernetes sends what the Kubernetes libraries log, warnings and worse, to <data>/kubernetes.log; the file of the run
// before is kept as kubernetes.log.1. Their errors are seldom a person's business: most are retried and gone. The
// setting is the whole process's, since the libraries offer no other.
func logKubernetes(dataDir string) (closeLog func() error, err error) {
	name := filepath.Join(dataDir, "kubernetes.log")
	if err := os.Rename(name, name+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return func() error {
		klog.SetSlogLogger(slog.New(slog.DiscardHandler))
		return f.Close()
	}, nil
}

// sugared gives the kit, which logs with zap, a logger that writes where log writes, and what sets its level: nil is log's own.
func sugared(log *slog.Logger) (*zap.SugaredLogger, func(*zapcore.Level)) {
	least := &atomic.Pointer[zapcore.Level]{}
	return zap.New(core{log.Handler(), least}).Sugar(), least.Store
}

// core is a zap core on a slog handler.
type core struct {
	handler slog.Handler
	least   *atomic.Pointer[zapcore.Level] // instead of the handler's, if any
}

func (c core) Enabled(l zapcore.Level) bool {
	if least := c.least.Load(); least != nil {
		return least.Enabled(l)
	}
	return c.handler.Enabled(context.Background(), level(l))
}

func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{c.handler.WithAttrs(attrs(fields)), c.least}
}

func (c core) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, level(e.Level), e.Message, 0)
	if e.LoggerName != "" {
		r.AddAttrs(slog.String("logger", e.LoggerName))
	}
	r.AddAttrs(attrs(fields)...)
	return c.handler.Handle(context.Background(), r)
}

func (c core) Sync() error { return nil }

// level maps zap's levels to slog's: both have steps for debug, info, warn and error; zap's higher ones are errors.
func level(l zapcore.Level) slog.Level {
	return min(slog.Level(4*int(l)), slog.LevelError)
}

func attrs(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	out := make([]slog.Attr, 0, len(enc.Fields))
	for k, v := range enc.Fields {
		out = append(out, slog.Any(k, v))
	}
	return out
}
