// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package ociruntime

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// runInTerminal gives the runtime a pseudo terminal as its own; the runtime
// relays it and its size to the one inside the container.
func runInTerminal(ctx context.Context, cmd *exec.Cmd, req ExecRequest) error {
	master, slave, err := openTerminal()
	if err != nil {
		return err
	}
	defer master.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = slave.Close()
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go followSize(ctx, master, req.Resize)
	if req.Stdin != nil {
		go func() { _, _ = io.Copy(master, req.Stdin) }()
	}
	output := make(chan struct{})
	go func() {
		defer close(output)
		if req.Stdout != nil {
			// Ends with EIO once the last holder of the other side is gone.
			_, _ = io.Copy(req.Stdout, master)
		}
	}()
	err = cmd.Wait()
	<-output
	return err
}

func followSize(ctx context.Context, terminal *os.File, sizes <-chan Size) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			_ = resize(terminal, size)
		}
	}
}

func resize(terminal *os.File, size Size) error {
	conn, err := terminal.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
	})
}

func openTerminal() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open pseudo terminal: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		_ = master.Close()
		return nil, nil, fmt.Errorf("unlock pseudo terminal: %w", err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		_ = master.Close()
		return nil, nil, fmt.Errorf("name pseudo terminal: %w", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = master.Close()
		return nil, nil, fmt.Errorf("open pseudo terminal: %w", err)
	}
	return master, slave, nil
}
