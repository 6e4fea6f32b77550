// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startLimit is a hang detector for the start of a Weir.
const startLimit = 3 * time.Minute

// Suite is the system that a test package is about: one that runs elsewhere, given by -kubeconfig and -gateway, or a process of
// its own, started from the binary given by -weir.
type Suite struct {
	// Args are added to weir up.
	Args []string
	// Images are made before the system starts: the directory of a Go program by its tag.
	Images map[string]string
	// SetUp is called once the system answers.
	SetUp func(context.Context, *System) error

	// System is the system under test, from SetUp on.
	System *System
	// Own is its process, nil where it runs elsewhere.
	Own *Weir
	// Split are its controller and gateway, nil where they are no processes of their own.
	Split *Split
	// Binary is what -weir says.
	Binary string
	// Output is the file that the system's own process writes to, "" where it runs elsewhere.
	Output string

	kubeconfig, gateway, split string
}

// Flags registers the flags of the suite.
func (s *Suite) Flags(f *flag.FlagSet) {
	f.StringVar(&s.Binary, "weir", "", "the weir binary to start")
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "use the system of this kubeconfig instead")
	f.StringVar(&s.split, "split", "", "run controller and gateway as processes of their own, from this directory")
	f.StringVar(&s.gateway, "gateway", "", "host:port of that system's gateway")
}

// Gateway is the address that -gateway gives, "" where each URL's own port on loopback is the address.
func (s *Suite) Gateway() string { return s.gateway }

// Main runs the tests (testing.M) in the system and gives the exit code.
func (s *Suite) Main(m interface{ Run() int }) int {
	code, err := s.main(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		return 1
	}
	return code
}

func (s *Suite) main(m interface{ Run() int }) (code int, err error) {
	if s.kubeconfig != "" {
		return s.connect(m, s.kubeconfig)
	}
	if s.Binary == "" {
		return 0, errors.New("give -weir, or -kubeconfig and -gateway")
	}
	dir, err := os.MkdirTemp("", "weir-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	s.Output = out.Name()
	defer func() {
		if err != nil || code != 0 {
			Dump(out.Name())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return s.runOwn(ctx, m, filepath.Join(dir, "data"), out)
}

// runOwn runs the tests in a Weir of a data directory. Whatever they say, packets that left the machine, data races and an unclean
// end are failures too.
func (s *Suite) runOwn(ctx context.Context, m interface{ Run() int }, dataDir string, out *os.File) (code int, err error) {
	args := []string{"--listen", "127.0.0.1:0"}
	if s.split != "" {
		args = append(args, "--parts", splitParts)
	}
	if s.Own, err = s.Start(ctx, dataDir, out, args...); err != nil {
		return 0, err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = errors.Join(err, s.Own.Stop(stop))
	}()
	if s.split != "" {
		if s.Split, err = StartSplit(ctx, s.split, dataDir, out); err != nil {
			return 0, err
		}
		code, err = s.runWatched(m, dataDir)
		return code, errors.Join(err, s.Split.Stop())
	}
	return s.runWatched(m, dataDir)
}

func (s *Suite) runWatched(m interface{ Run() int }, dataDir string) (int, error) {
	egress, err := WatchEgress(dataDir)
	if err != nil {
		return 0, err
	}
	code, err := s.connect(m, s.Own.Kubeconfig())
	return code, errors.Join(err, egress.Close())
}

func (s *Suite) connect(m interface{ Run() int }, kubeconfig string) (int, error) {
	var err error
	if s.System, err = Connect(kubeconfig, s.gateway); err != nil {
		return 0, err
	}
	if s.SetUp != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.SetUp(ctx, s.System); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// Build makes an image of the Go program in dir for a Weir of ours.
func (s *Suite) Build(ctx context.Context, dataDir, dir, tag string, out io.Writer) error {
	build := exec.CommandContext(ctx, s.Binary, "image", "build", dir, "--tag", tag, "--data-dir", dataDir)
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return fmt.Errorf("build image %s: %w", tag, err)
	}
	return nil
}

// Start starts a Weir of a data directory of its own, with the suite's images in it, and waits until it is ready.
func (s *Suite) Start(ctx context.Context, dataDir string, out *os.File, args ...string) (*Weir, error) {
	for tag, dir := range s.Images {
		if err := s.Build(ctx, dataDir, dir, tag, out); err != nil {
			return nil, err
		}
	}
	w, err := Start(s.Binary, dataDir, out, append(args, s.Args...)...)
	if err != nil {
		return nil, err
	}
	if err := w.WaitReady(ctx); err != nil {
		w.Kill()
		return nil, errors.Join(err, Purge(context.Background(), s.Binary, dataDir, out))
	}
	return w, nil
}

// Dump copies the end of a file to stderr.
func Dump(file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	const most = 100 << 10
	if len(raw) > most {
		raw = raw[len(raw)-most:]
	}
	fmt.Fprintf(os.Stderr, "--- what weir printed\n%s---\n", raw)
}
