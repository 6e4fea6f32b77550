// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// nonroot is the user that built images run as, as in distroless images.
	nonroot     = 65532
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// BuildOptions say what to make an image of.
type BuildOptions struct {
	// Path is the directory of a Go main package, or with Entrypoint any directory.
	Path string
	// Tag is the image's name; without a registry it is in [LocalRegistry].
	Tag string
	// Entrypoint is the command of an image that has the directory's files at its
	// root. Empty means that Path is a Go main package.
	Entrypoint []string
	// Env are further variables, NAME=value.
	Env []string
	// User is who the image runs as. Empty means 65532:65532.
	User string
	// CACerts is a PEM file that becomes /etc/ssl/certs/ca-certificates.crt. Empty
	// means none: the machine's own would make images differ between machines.
	CACerts string
	// Go is the go command. Empty means "go".
	Go string
	// Output gets what the go command says. Nil discards it.
	Output io.Writer
}

// Build makes an image. The same input makes the same digest: times are fixed,
// files belong to root, the Go build leaves out paths and version control.
func (s *Store) Build(ctx context.Context, opts BuildOptions) (*Image, error) {
	ref, err := ParseLocalReference(opts.Tag)
	if err == nil && ref.Digest != "" {
		err = fmt.Errorf("%w %q: an image that is built gets a tag, not a digest", ErrInvalidName, opts.Tag)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(opts.Path); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("build %s: %s is not a directory", ref, opts.Path)
	}
	img, err := s.build(ctx, ref, opts)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", ref, err)
	}
	return img, nil
}

func (s *Store) build(ctx context.Context, ref Reference, opts BuildOptions) (*Image, error) {
	fill := func(l *layerWriter) error { return l.tree(os.DirFS(opts.Path)) }
	cfg := opts.config()
	if len(opts.Entrypoint) > 0 {
		if err := checkEntrypoint(os.DirFS(opts.Path), opts.Entrypoint[0]); err != nil {
			return nil, err
		}
	} else {
		bin, remove, err := buildGo(ctx, opts)
		if err != nil {
			return nil, err
		}
		defer remove()
		cfg.Config.Entrypoint = []string{bin.target}
		fill = bin.add
	}
	use, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer use.unlock()
	layer, err := s.writeLayer(opts, fill)
	if err != nil {
		return nil, err
	}
	desc, err := s.assemble(cfg, layer)
	if err != nil {
		return nil, err
	}
	return s.add(ctx, ref, desc)
}

// config is the image's configuration without its layers.
func (o BuildOptions) config() v1.ConfigFile {
	user := o.User
	if user == "" {
		user = fmt.Sprintf("%d:%d", nonroot, nonroot)
	}
	return v1.ConfigFile{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		Created:      v1.Time{Time: time.Unix(0, 0).UTC()},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: o.Entrypoint,
			Env:        append([]string{"PATH=" + defaultPath}, o.Env...),
			User:       user,
			WorkingDir: "/",
		},
		History: []v1.History{{CreatedBy: "weir image build", Created: v1.Time{Time: time.Unix(0, 0).UTC()}}},
	}
}

// writeLayer stores an archive with what fill adds and what every image has. It
// is not compressed: it stays on this machine, and its digest does not depend on
// a compressor.
func (s *Store) writeLayer(opts BuildOptions, fill func(*layerWriter) error) (v1.Descriptor, error) {
	blob, err := s.newBlob()
	if err != nil {
		return v1.Descriptor{}, err
	}
	defer blob.discard()
	l := newLayerWriter(blob)
	if err := errors.Join(fill(l), l.base(opts.CACerts), l.tar.Close()); err != nil {
		return v1.Descriptor{}, err
	}
	digest, err := blob.commit()
	return v1.Descriptor{MediaType: types.OCIUncompressedLayer, Digest: digest, Size: blob.size}, err
}

// assemble stores configuration and manifest of an image of uncompressed layers.
func (s *Store) assemble(cfg v1.ConfigFile, layers ...v1.Descriptor) (v1.Descriptor, error) {
	for _, l := range layers {
		cfg.RootFS.DiffIDs = append(cfg.RootFS.DiffIDs, l.Digest)
	}
	config, err := s.putJSON(types.OCIConfigJSON, cfg)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return s.putJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: layers,
	})
}

// checkEntrypoint finds out before the first start whether there is such a
// program. A name without a slash is looked for in the image's PATH.
func checkEntrypoint(dir fs.FS, program string) error {
	candidates := []string{program}
	if !strings.Contains(program, "/") {
		candidates = nil
		for _, d := range strings.Split(defaultPath, ":") {
			candidates = append(candidates, path.Join(d, program))
		}
	}
	for _, c := range candidates {
		info, err := fs.Lstat(dir, strings.TrimPrefix(path.Clean("/"+c), "/"))
		if err != nil {
			continue
		}
		// Links are resolved in the container, whose root is not ours.
		if info.Mode()&fs.ModeSymlink == 0 && (info.IsDir() || info.Mode()&0o111 == 0) {
			return fmt.Errorf("entrypoint %s is not an executable file", c)
		}
		return nil
	}
	return fmt.Errorf("entrypoint %q is not in the directory (looked for %s)", program, strings.Join(candidates, ", "))
}
