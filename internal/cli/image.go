// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"weir.dev/internal/image"
)

// imageCommand is what the image commands share.
type imageCommand struct{ dataDir string }

func newImageCommand() *cobra.Command {
	var c imageCommand
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, import and list the images of a Weir on this machine",
		Long: `Build, import and list the images of a Weir on this machine.

The commands work on the data directory; they need no running Weir. A name without
a registry is one of ` + image.LocalRegistry + `: "hello" is ` + image.LocalRegistry + `/hello:latest, and that is what to write in
YAML. Images of this registry are never looked for on the network.`,
		Args: Args(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	AddDataDir(cmd, &c.dataDir)
	cmd.AddCommand(c.build(), c.importFile(), c.list(), c.remove())
	return cmd
}

func (c *imageCommand) open() (*image.Store, error) {
	return image.Open(filepath.Join(c.dataDir, "images"))
}

// openExisting makes no store for who only wants to look into one.
func (c *imageCommand) openExisting() (*image.Store, error) {
	if _, err := os.Stat(filepath.Join(c.dataDir, "images")); err != nil {
		return nil, fmt.Errorf("no images in %s (is it the right --data-dir?): %w", c.dataDir, err)
	}
	return c.open()
}

func (c *imageCommand) build() *cobra.Command {
	var opts image.BuildOptions
	cmd := &cobra.Command{
		Use:   "build PATH --tag NAME",
		Short: "Make an image of a Go main package or of a directory",
		Long: `Make an image of a Go main package, or with --entrypoint of the files in a directory.

A Go program is built statically and needs no base image. The same input gives the
same digest.`,
		Example: `  weir image build ./cmd/hello --tag hello
  weir image build ./site --tag site --entrypoint /bin/busybox,httpd,-f,-h,/www`,
		Args: Args("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Path, opts.Output = args[0], cmd.ErrOrStderr()
			return c.runBuild(cmd, opts)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&opts.Tag, "tag", "t", "", "name of the image (required)")
	f.StringSliceVar(&opts.Entrypoint, "entrypoint", nil, "command and its arguments, separated by commas; PATH's files become the image's root")
	f.StringArrayVar(&opts.Env, "env", nil, "environment variable NAME=value of the image")
	f.StringVar(&opts.User, "user", "", "user or uid[:gid] that the image runs as (default 65532:65532)")
	f.StringVar(&opts.CACerts, "ca-certs", "", "PEM file with the certificate authorities that the program trusts")
	_ = cmd.MarkFlagRequired("tag")
	return cmd
}

func (c *imageCommand) runBuild(cmd *cobra.Command, opts image.BuildOptions) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	img, err := store.Build(cmd.Context(), opts)
	if err != nil {
		return err
	}
	return c.report(cmd, store, img)
}

func (c *imageCommand) importFile() *cobra.Command {
	var tag string
	cmd := &cobra.Command{
		Use:     "import FILE",
		Short:   "Take images from an archive (docker save, OCI layout) or a layout directory",
		Example: "  docker save app:v1 -o app.tar && weir image import app.tar --tag app:v1",
		Args:    Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.open()
			if err != nil {
				return err
			}
			images, err := store.Import(cmd.Context(), args[0], tag)
			if err != nil {
				return err
			}
			return c.report(cmd, store, images...)
		},
	}
	cmd.Flags().StringVarP(&tag, "tag", "t", "", "name of the image (default: the names in the archive)")
	return cmd
}

// report unpacks images where it can, so that the first start need not, and
// prints their names.
func (c *imageCommand) report(cmd *cobra.Command, store *image.Store, images ...*image.Image) error {
	for _, img := range images {
		if os.Geteuid() == 0 {
			if _, err := store.Unpack(cmd.Context(), img); err != nil {
				return err
			}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %s\n", img.Ref, img.Digest, size(img.Size))
	}
	return nil
}

func (c *imageCommand) list() *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the images",
		Args:    Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := c.openExisting()
			if err != nil {
				return err
			}
			entries, err := store.List()
			if err != nil {
				return err
			}
			return printImages(cmd.OutOrStdout(), entries, time.Now())
		},
	}
}

func printImages(out io.Writer, entries []image.Entry, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tTAG\tDIGEST\tSIZE\tAGE")
	for _, e := range entries {
		tag, digest, bytes := e.Tag, shorten(e.Digest), size(e.Size)
		if tag == "" {
			tag, digest = "-", e.Digest
		}
		if e.Err != nil {
			bytes = "(" + e.Err.Error() + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.Name, tag, digest, bytes, age(now.Sub(e.Stored)))
	}
	return w.Flush()
}

func (c *imageCommand) remove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME...",
		Short: "Remove images by name or by NAME@DIGEST",
		Long: `Remove images by name or by NAME@DIGEST.

Data that running containers use stays until they end; revisions that pinned the
image cannot start again.`,
		Aliases: []string{"remove"},
		Args:    Args("NAME..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.openExisting()
			if err != nil {
				return err
			}
			var errs []error
			for _, ref := range args {
				if err := store.Remove(ref); err != nil {
					errs = append(errs, err)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", ref)
			}
			return errors.Join(errs...)
		},
	}
}

// shorten cuts a digest to what tells images apart. Only an image without a tag
// is removed by digest, so those are listed with the whole one.
func shorten(digest string) string { return digest[:min(len(digest), 19)] }

// size prints bytes in the units that disks are sold in.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n), ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if value < unit {
			break
		}
		value, prefix = value/unit, p
	}
	return fmt.Sprintf("%.1f %sB", value, prefix)
}

// age prints a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
