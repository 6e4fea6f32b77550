// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// splitParts are what weir up runs where controller and gateway are processes of their own.
const splitParts = "network,cluster,node"

// Split are a controller and a gateway as processes of their own, beside a weir up without these parts. Built with the race
// detector, they prove what the one binary, which is too large for it, cannot.
type Split struct {
	// Controller may be killed and started again.
	Controller *Process
	gateway    *Process
}

// addresses is what weir up writes for other processes.
type addresses struct {
	External, Internal, Drain, Feed, Webhook netip.AddrPort
}

// StartSplit starts both from the binaries in dir and waits until the gateway can route.
func StartSplit(ctx context.Context, dir, dataDir string, out io.Writer) (*Split, error) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "addresses.json"))
	if err != nil {
		return nil, err
	}
	var a addresses
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("addresses.json: %w", err)
	}
	pki := filepath.Join(dataDir, "pki")
	s := &Split{
		Controller: &Process{out: out, name: filepath.Join(dir, "controller"), args: []string{
			"--kubeconfig", filepath.Join(dataDir, "kubeconfig"), "--alone",
			"--feed-listen", a.Feed.String(), "--drain-address", a.Drain.String(), "--image-store", filepath.Join(dataDir, "images"),
			"--feed-cert", filepath.Join(pki, "feed.crt"), "--feed-key", filepath.Join(pki, "feed.key"),
			"--feed-client-ca", filepath.Join(pki, "ca.crt"), "--feed-client-name", "weir-gateway",
			"--webhook-listen", a.Webhook.String(), "--webhook-cert-dir", filepath.Join(dataDir, "webhook"),
		}},
		gateway: &Process{out: out, name: filepath.Join(dir, "gateway"), args: []string{
			"-id", "weir-gateway", "-controllers", a.Feed.String(),
			"-external", a.External.String(), "-internal", a.Internal.String(), "-drain", a.Drain.String(),
			"-tls-cert", filepath.Join(pki, "gateway.crt"), "-tls-key", filepath.Join(pki, "gateway.key"),
			"-tls-ca", filepath.Join(pki, "ca.crt"),
		}},
	}
	err = errors.Join(s.Controller.Start(), s.gateway.Start())
	if err == nil {
		err = Eventually(ctx, "the gateway is ready", func(ctx context.Context) (bool, error) {
			return healthy(ctx, "http://"+a.Drain.String()+"/healthz")
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func healthy(ctx context.Context, url string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("status %d", resp.StatusCode)
	}
	return true, nil
}

// Stop interrupts both, gateway first, and waits. A race that was found, or an exit code other than 0, is an error.
func (s *Split) Stop() error {
	return errors.Join(s.gateway.Stop(), s.Controller.Stop())
}

// Process is a command built with the race detector.
type Process struct {
	out   io.Writer
	name  string
	args  []string
	races atomic.Int64

	cmd *exec.Cmd // nil while it does not run
}

// Start starts the process; it does not wait.
func (p *Process) Start() error {
	cmd := exec.Command(p.name, p.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.cmd = cmd
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), "DATA RACE") {
				p.races.Add(1)
			}
			fmt.Fprintln(p.out, lines.Text())
		}
	}()
	return nil
}

// Kill ends the process as a crash would (SIGKILL).
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// Stop interrupts the process and waits. A race that was found, or an exit code other than 0, is an error.
func (p *Process) Stop() error {
	var errs error
	if cmd := p.cmd; cmd != nil {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = errors.Join(errs, err)
		}
		if err := cmd.Wait(); err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err))
		}
		p.cmd = nil
	}
	if n := p.races.Load(); n > 0 {
		errs = errors.Join(errs, fmt.Errorf("%s: the race detector found %d data races", filepath.Base(p.name), n))
	}
	return errs
}
