// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// gcWait is how long the collector waits for writers before it leaves the work
// to the next one.
const gcWait = time.Second

// Remove takes the name ref, read as the image commands do, from the store and
// deletes what nothing else needs. A digest takes all names of that image in its
// repository. Layers of running containers stay until they are released.
func (s *Store) Remove(ref string) error {
	r, err := ParseLocalReference(ref)
	if err != nil {
		return err
	}
	ctx := context.Background()
	use, err := s.use(ctx)
	if err != nil {
		return err
	}
	err = s.updateIndex(ctx, func(x *index) error {
		if !x.remove(r) {
			return x.notFound(r)
		}
		return nil
	})
	use.unlock()
	if err != nil {
		return err
	}
	return s.Collect(ctx)
}

var errDamaged = errors.New("file is damaged")

// hold is the content of a file in the holds directory.
type hold struct {
	Ref  string        `json:"ref"`
	Desc v1.Descriptor `json:"descriptor"`
}

// Hold keeps the image's blobs and layers until owner, such as a container,
// releases them, whatever happens to the image's names. It outlives the process.
// Call it before [Store.Unpack]; an owner holds one image.
func (s *Store) Hold(owner string, img *Image) error {
	if owner == "" || strings.ContainsAny(owner, "/\x00") || strings.HasPrefix(owner, ".") {
		return fmt.Errorf("hold image %s: bad owner %q", img.Ref, owner)
	}
	use, err := s.use(context.Background())
	if err != nil {
		return err
	}
	defer use.unlock()
	if !s.hasBlob(img.desc.Digest) {
		return fmt.Errorf("hold image: %w: %s", ErrNotFound, img.Ref)
	}
	raw, err := json.Marshal(hold{Ref: img.Ref, Desc: img.desc})
	if err != nil {
		return fmt.Errorf("hold image %s: %w", img.Ref, err)
	}
	// Containers do not outlive a power failure, and their start waits for this.
	if err := s.replace(holdsDir+"/"+owner, raw); err != nil {
		return fmt.Errorf("hold image %s: %w", img.Ref, err)
	}
	return nil
}

// Release ends what owner holds and deletes it if nothing else needs it. An
// owner that holds nothing is no error.
func (s *Store) Release(owner string) error {
	h, err := s.readHold(owner)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.Remove(s.path(holdsDir, owner)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("release image: %w", err)
	}
	idx, ierr := s.readIndex()
	if err == nil && ierr == nil && slices.ContainsFunc(idx.entries, func(e indexEntry) bool { return e.desc.Digest == h.Desc.Digest }) {
		return nil
	}
	return s.Collect(context.Background())
}

// Holders lists the owners that hold images, and which.
func (s *Store) Holders() (map[string]string, error) {
	files, err := os.ReadDir(s.path(holdsDir))
	if err != nil {
		return nil, fmt.Errorf("list image holders: %w", err)
	}
	holders := map[string]string{}
	for _, f := range files {
		if h, err := s.readHold(f.Name()); err == nil {
			holders[f.Name()] = h.Ref
		}
	}
	return holders, nil
}

func (s *Store) readHold(owner string) (hold, error) {
	var h hold
	raw, err := os.ReadFile(s.path(holdsDir, owner))
	if err != nil {
		return h, err
	}
	if json.Unmarshal(raw, &h) != nil {
		return h, errDamaged
	}
	return h, nil
}

// Collect deletes blobs and layers that no name and no holder needs. While
// somebody pulls, builds or unpacks it does nothing.
func (s *Store) Collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gcWait)
	defer cancel()
	l, err := lock(ctx, s.path(locksDir, "use"), exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		return err
	}
	trash, err := s.sweep()
	l.unlock()
	// Deleting takes long, renaming did not.
	for _, path := range trash {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("collect unused image data: %w", err)
	}
	return nil
}

// sweep moves everything unreferenced to the temporary directory and returns
// what is there. The caller holds the exclusive use lock, so all of it is
// garbage.
func (s *Store) sweep() ([]string, error) {
	live, err := s.mark()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{blobsDir, layersDir} {
		files, err := os.ReadDir(s.path(dir))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if !live[dir+"/"+f.Name()] {
				err := os.Rename(s.path(dir, f.Name()), s.path(tmpDir, fmt.Sprintf("trash-%d-%s", time.Now().UnixNano(), f.Name())))
				if err != nil {
					return nil, err
				}
			}
		}
	}
	var trash []string
	files, err := os.ReadDir(s.path(tmpDir))
	for _, f := range files {
		trash = append(trash, s.path(tmpDir, f.Name()))
	}
	return trash, err
}

// mark finds the files that are needed, as paths in the store.
func (s *Store) mark() (map[string]bool, error) {
	idx, err := s.readIndex()
	if err != nil {
		return nil, err
	}
	live := map[string]bool{layersDir + "/" + emptyLayer: true}
	for _, e := range idx.entries {
		s.markImage(live, e.desc)
	}
	holders, err := os.ReadDir(s.path(holdsDir))
	if err != nil {
		return nil, err
	}
	for _, f := range holders {
		h, err := s.readHold(f.Name())
		if errors.Is(err, errDamaged) {
			// A power failure cut it off, and ended the container that it was for.
			err = os.Remove(s.path(holdsDir, f.Name()))
		}
		if err != nil {
			return nil, fmt.Errorf("read image hold %s: %w", f.Name(), err)
		}
		s.markImage(live, h.Desc)
	}
	return live, nil
}

// markImage marks what desc leads to, as far as it is here.
func (s *Store) markImage(live map[string]bool, desc v1.Descriptor) {
	live[blobsDir+"/"+desc.Digest.Hex] = true
	img, err := s.load(desc)
	if err != nil {
		return
	}
	live[blobsDir+"/"+strings.TrimPrefix(img.ManifestDigest, "sha256:")] = true
	live[blobsDir+"/"+img.manifest.Config.Digest.Hex] = true
	for i, l := range img.manifest.Layers {
		live[blobsDir+"/"+l.Digest.Hex] = true
		live[layersDir+"/"+layerName(img.Config.RootFS.DiffIDs[i])] = true
	}
}
