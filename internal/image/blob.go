// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// maxManifest bounds manifests and configurations; registries refuse more than 4 MiB.
const maxManifest = 4 << 20

// blobPath is where a blob is. The digest's algorithm is checked when blobs are
// written.
func (s *Store) blobPath(h v1.Hash) string { return s.path(blobsDir, h.Hex) }

func (s *Store) hasBlob(h v1.Hash) bool {
	_, err := os.Stat(s.blobPath(h))
	return h.Algorithm == "sha256" && err == nil
}

// blobWriter writes a blob beside its place; commit moves it there. Callers
// hold the store's use lock and always call discard.
type blobWriter struct {
	store *Store
	file  *os.File
	hash  hash.Hash
	size  int64
}

func (s *Store) newBlob() (*blobWriter, error) {
	file, err := os.CreateTemp(s.path(tmpDir), "blob-*")
	if err != nil {
		return nil, fmt.Errorf("create blob: %w", err)
	}
	return &blobWriter{store: s, file: file, hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (w *blobWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.hash.Write(p[:n])
	w.size += int64(n)
	return n, err
}

func (w *blobWriter) digest() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(w.hash.Sum(nil))}
}

// commit makes the blob durable and visible.
func (w *blobWriter) commit() (v1.Hash, error) {
	digest := w.digest()
	err := errors.Join(w.file.Chmod(0o644), w.file.Sync(), w.file.Close())
	if err == nil {
		err = os.Rename(w.file.Name(), w.store.blobPath(digest))
	}
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write blob %s: %w", digest, err)
	}
	return digest, nil
}

// discard removes what was not committed.
func (w *blobWriter) discard() {
	_ = w.file.Close()
	_ = os.Remove(w.file.Name())
}

// putBlob stores what r gives if it is exactly what desc promises.
func (s *Store) putBlob(desc v1.Descriptor, r io.Reader) error {
	if desc.Digest.Algorithm != "sha256" {
		return fmt.Errorf("blob %s: only sha256 digests are supported", desc.Digest)
	}
	w, err := s.newBlob()
	if err != nil {
		return err
	}
	defer w.discard()
	if _, err := io.Copy(w, io.LimitReader(r, desc.Size+1)); err != nil {
		return fmt.Errorf("receive blob %s: %w", desc.Digest, err)
	}
	if w.size != desc.Size || w.digest() != desc.Digest {
		return fmt.Errorf("blob %s of %d bytes is corrupt: received %s of %d bytes", desc.Digest, desc.Size, w.digest(), w.size)
	}
	_, err = w.commit()
	return err
}

// putJSON stores a value as a blob. Struct fields encode in a fixed order, so the
// same value has the same digest.
func (s *Store) putJSON(mt types.MediaType, value any) (v1.Descriptor, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("encode %s: %w", mt, err)
	}
	desc := v1.Descriptor{MediaType: mt, Size: int64(len(raw))}
	desc.Digest, _, err = v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("hash %s: %w", mt, err)
	}
	return desc, s.putBlob(desc, bytes.NewReader(raw))
}

// writeFile replaces a file of the store in one step and durably.
func (s *Store) writeFile(name string, data []byte) error {
	return s.replace(name, data, (*os.File).Sync)
}

// replace is writeFile for what need not outlive a power failure.
func (s *Store) replace(name string, data []byte, then ...func(*os.File) error) error {
	file, err := os.CreateTemp(s.path(tmpDir), "file-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644))
	for _, f := range then {
		err = errors.Join(err, f(file))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), s.path(name))
}
