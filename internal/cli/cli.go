// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli holds the commands that need no embedded cluster. cmd/weirctl is made of them alone; embedded/cmd/weir adds
// up and down. Commands take their streams from cobra and return errors; only main exits.
package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir.dev/internal/version"
)

// DefaultDataDir is where weir up keeps its data unless told otherwise.
const DefaultDataDir = "/var/lib/weir"

// New gives the root command with the shared commands and those given.
func New(name string, stdin io.Reader, stdout, stderr io.Writer, more ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           name,
		Short:         "Knative Serving in one binary, without sidecars",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(newVersionCommand(), newImageCommand(), newKubeconfigCommand())
	root.AddCommand(more...)
	return root
}

// DataDirEnv is the environment variable with the data directory of commands that are given none.
const DataDirEnv = "WEIR_DATA_DIR"

// AddDataDir gives a command the flag --data-dir.
func AddDataDir(cmd *cobra.Command, dir *string) {
	cmd.PersistentFlags().StringVar(dir, "data-dir", cmp.Or(os.Getenv(DataDirEnv), DefaultDataDir),
		"directory of cluster state, images and containers; $"+DataDirEnv+" changes the default")
}

// Args wants as many arguments as there are names; one that ends in "..." stands for one or more.
func Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s needs %s; see %[1]s --help", cmd.CommandPath(), strings.Join(names[len(args):], " "))
		case len(args) > len(names) && !many:
			return fmt.Errorf("%s does not take the argument %q; see %[1]s --help", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  Args(),
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version.Full()) },
	}
}

func newKubeconfigCommand() *cobra.Command {
	var dir string
	var pathOnly bool
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the administrator's kubeconfig of a Weir on this machine",
		Args:  Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			file := filepath.Join(dir, "kubeconfig")
			raw, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("no kubeconfig in %s (has weir up run with this --data-dir?): %w", dir, err)
			}
			if pathOnly {
				raw = []byte(file + "\n")
			}
			_, err = cmd.OutOrStdout().Write(raw)
			return err
		},
	}
	AddDataDir(cmd, &dir)
	cmd.Flags().BoolVar(&pathOnly, "path", false, "print where it is instead")
	return cmd
}
