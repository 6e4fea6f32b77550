// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
)

// quiet keeps the library's own events ("ProviderCreateSuccess") out of the
// API: the pod's are those of a kubelet.
type quiet struct{ record.EventRecorder }

// Event implements record.EventRecorder.
func (q quiet) Event(object runtime.Object, kind, reason, message string) {
	if !strings.HasPrefix(reason, "Provider") {
		q.EventRecorder.Event(object, kind, reason, message)
	}
}

// Eventf implements record.EventRecorder.
func (q quiet) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	if !strings.HasPrefix(reason, "Provider") {
		q.EventRecorder.Eventf(object, kind, reason, format, args...)
	}
}

// libraryLog writes the library's messages to our log, one level lower: what it
// calls an error is mostly a request that it repeats.
type libraryLog struct{ *slog.Logger }

func (l libraryLog) Debug(args ...any)            { l.Logger.Debug(fmt.Sprint(args...)) }
func (l libraryLog) Debugf(f string, args ...any) { l.Logger.Debug(fmt.Sprintf(f, args...)) }
func (l libraryLog) Info(args ...any)             { l.Logger.Debug(fmt.Sprint(args...)) }
func (l libraryLog) Infof(f string, args ...any)  { l.Logger.Debug(fmt.Sprintf(f, args...)) }
func (l libraryLog) Warn(args ...any)             { l.Logger.Info(fmt.Sprint(args...)) }
func (l libraryLog) Warnf(f string, args ...any)  { l.Logger.Info(fmt.Sprintf(f, args...)) }
func (l libraryLog) Error(args ...any)            { l.Logger.Warn(fmt.Sprint(args...)) }
func (l libraryLog) Errorf(f string, args ...any) { l.Logger.Warn(fmt.Sprintf(f, args...)) }

// Fatal does not end the process, nor is it called by what we use.
func (l libraryLog) Fatal(args ...any)            { l.Logger.Error(fmt.Sprint(args...)) }
func (l libraryLog) Fatalf(f string, args ...any) { l.Logger.Error(fmt.Sprintf(f, args...)) }

func (l libraryLog) WithField(key string, value any) vklog.Logger {
	return libraryLog{l.With(key, value)}
}

func (l libraryLog) WithFields(fields vklog.Fields) vklog.Logger {
	var args []any
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		args = append(args, key, fields[key])
	}
	return libraryLog{l.With(args...)}
}

func (l libraryLog) WithError(err error) vklog.Logger { return libraryLog{l.With("error", err)} }
