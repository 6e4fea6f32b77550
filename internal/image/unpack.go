// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
)

const (
	// emptyLayer is the directory of images without layers: overlayfs wants one.
	emptyLayer = "empty"
	// parallelLayers is how many layers are unpacked at once.
	parallelLayers = 2
)

// layerName is the directory of a layer. 128 bits of its digest keep the option
// string of an overlay mount short.
func layerName(diffID v1.Hash) string { return diffID.Hex[:min(32, len(diffID.Hex))] }

// Unpack unpacks the layers of the image that are not unpacked yet and returns
// all directories for overlayfs, the lowest first. Whiteouts are in overlayfs's
// own form. The directories are shared: nobody may write there. [Store.Hold]
// keeps them from being collected.
func (s *Store) Unpack(ctx context.Context, img *Image) ([]string, error) {
	diffIDs := img.Config.RootFS.DiffIDs
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelLayers)
	dirs := make([]string, len(diffIDs))
	for i, id := range diffIDs {
		dirs[i] = s.path(layersDir, layerName(id))
		if _, err := os.Stat(dirs[i]); err == nil {
			continue
		}
		g.Go(func() error { return s.unpackLayer(gctx, img.manifest.Layers[i], id) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("unpack image %s: %w", img.Ref, err)
	}
	dirs = lowerDirs(dirs, isOpaque)
	if len(dirs) == 0 {
		dirs = []string{s.path(layersDir, emptyLayer)}
		if err := os.MkdirAll(dirs[0], 0o755); err != nil {
			return nil, fmt.Errorf("unpack image %s: %w", img.Ref, err)
		}
	}
	return dirs, nil
}

// lowerDirs drops layers that do not count: all under one with an opaque root,
// which overlayfs would ignore, and all but the topmost of equal ones, which
// overlayfs refuses.
func lowerDirs(dirs []string, opaque func(string) bool) []string {
	var kept []string
	for _, dir := range slices.Backward(dirs) {
		if slices.Contains(kept, dir) {
			continue
		}
		kept = append(kept, dir)
		if opaque(dir) {
			break
		}
	}
	slices.Reverse(kept)
	return kept
}

// unpackLayer unpacks one layer, once even if several processes want it.
func (s *Store) unpackLayer(ctx context.Context, desc v1.Descriptor, diffID v1.Hash) error {
	use, err := s.use(ctx)
	if err != nil {
		return err
	}
	defer use.unlock()
	l, err := lock(ctx, s.path(tmpDir, "lock-layer-"+diffID.Hex), exclusive)
	if err != nil {
		return err
	}
	defer l.unlock()
	dir := s.path(layersDir, layerName(diffID))
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	staging, err := os.MkdirTemp(s.path(tmpDir), "layer-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := s.extractBlob(ctx, desc, diffID, staging); err != nil {
		return fmt.Errorf("layer %s: %w", desc.Digest, err)
	}
	if err := flush(staging); err != nil {
		return fmt.Errorf("layer %s: %w", desc.Digest, err)
	}
	return os.Rename(staging, dir)
}

// extractBlob writes the files of a layer blob into dir and checks that the
// archive is the one that the image's configuration names.
func (s *Store) extractBlob(ctx context.Context, desc v1.Descriptor, diffID v1.Hash, dir string) error {
	blob, err := os.Open(s.blobPath(desc.Digest))
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	plain, err := decompress(bufio.NewReaderSize(&ctxReader{ctx, blob}, 1<<17))
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	sum := sha256.New()
	archive := io.TeeReader(plain, sum)
	if err := extract(archive, dir); err != nil {
		return err
	}
	// What follows the archive's end belongs to the digest too.
	if _, err := io.Copy(io.Discard, archive); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != diffID.Hex {
		return fmt.Errorf("content is sha256:%s, the image's configuration says %s", got, diffID)
	}
	return nil
}

// decompress finds the compression from the first bytes: media types of images
// in the wild are not reliable.
func decompress(r *bufio.Reader) (io.ReadCloser, error) {
	head, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(r)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
