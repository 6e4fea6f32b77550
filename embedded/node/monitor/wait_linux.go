// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Wait returns when the container has ended. It works for containers that an
// earlier process of ours created. ErrLost means that the monitor is gone and
// left no exit code (killed, or the machine was restarted).
func (m *Conmon) Wait(ctx context.Context, c Container) (Exit, error) {
	monitor, err := openMonitor(c)
	if err != nil {
		return Exit{}, err
	}
	if monitor != nil {
		err := waitReadable(ctx, monitor)
		_ = monitor.Close()
		if err != nil {
			return Exit{}, err
		}
	}
	exit, err := readExit(c)
	if errors.Is(err, fs.ErrNotExist) {
		return Exit{}, fmt.Errorf("container %s: %w", c.ID, ErrLost)
	}
	return exit, err
}

// PID is the pid of the container's first process as the runtime reported it,
// 0 if there is none.
func PID(c Container) int { return readPID(filepath.Join(c.Bundle, "pid")) }

// Kill ends the monitor itself. The container must be dead already.
func Kill(c Container) error {
	monitor, err := openMonitor(c)
	if err != nil || monitor == nil {
		return err
	}
	defer monitor.Close()
	return unix.PidfdSendSignal(int(monitor.Fd()), unix.SIGKILL, nil, 0)
}

// openMonitor returns a pidfd of the container's conmon, nil if it is gone.
// The pid in the file may have been reused since: the command line tells.
func openMonitor(c Container) (*os.File, error) {
	pid := readPID(filepath.Join(c.Bundle, "conmon.pid"))
	if pid <= 0 {
		return nil, nil
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("watch monitor %d: %w", pid, err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(cmdline, []byte(c.Bundle+"\x00")) {
		_ = file.Close()
		return nil, nil
	}
	return file, nil
}

// waitReadable waits in the runtime's poller, so it costs no thread.
func waitReadable(ctx context.Context, file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("watch monitor: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return err == nil && n > 0
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("watch monitor: %w", err)
	}
	return nil
}

func readExit(c Container) (Exit, error) {
	data, err := os.ReadFile(exitFile(c))
	if err != nil {
		return Exit{}, fmt.Errorf("read exit code: %w", err)
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return Exit{}, fmt.Errorf("read exit code: %w", err)
	}
	exit := Exit{Code: code, At: time.Now()}
	if info, err := os.Stat(exitFile(c)); err == nil {
		exit.At = info.ModTime()
	}
	if _, err := os.Stat(filepath.Join(c.Bundle, "oom")); err == nil {
		exit.OOMKilled = true
	}
	return exit, nil
}

// ReopenLog makes the monitor write on in a new file at the log's path, after
// somebody renamed the old one. It is no error if the monitor is gone.
func (m *Conmon) ReopenLog(c Container) error {
	control, err := os.OpenFile(filepath.Join(c.Bundle, "ctl"), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open monitor's control pipe: %w", err)
	}
	defer control.Close()
	const reopen = "2 0 0\n"
	if _, err := control.WriteString(reopen); err != nil {
		return fmt.Errorf("tell monitor to reopen the log: %w", err)
	}
	return nil
}

func readPID(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}
