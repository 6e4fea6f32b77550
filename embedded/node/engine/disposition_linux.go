// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"weir.dev/embedded/node/monitor"
)

// effective is the signal to send in place of another. The first process of a pid namespace never gets a signal whose action is
// the default one (pid_namespaces(7)), so a program that relies on SIGTERM ending it would stay until its grace period is
// over. For such a program the default action is taken for it, by SIGKILL. One that ignores the signal on purpose keeps
// its choice.
func (e *Engine) effective(c Container, signal syscall.Signal) syscall.Signal {
	switch signal {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2:
	default:
		return signal
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", monitor.PID(e.monitored(c))))
	if err == nil && byDefault(string(status), signal) {
		return syscall.SIGKILL
	}
	return signal
}

// byDefault reads from /proc/<pid>/status that a signal is neither caught nor ignored, and so has its default action. What it
// cannot read counts as caught.
func byDefault(status string, signal syscall.Signal) bool {
	masks := 0
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if name != "SigCgt" && name != "SigIgn" {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil || mask&(1<<(signal-1)) != 0 {
			return false
		}
		masks++
	}
	return masks == 2
}
