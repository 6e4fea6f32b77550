// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// The user of a private registry.
const user, password = "puller", "secret"

// registryServer is a registry on loopback.
type registryServer struct {
	host    string
	private bool
	down    atomic.Bool
	program []byte // what its images run
}

func newRegistry(t *testing.T, private bool) *registryServer {
	t.Helper()
	r := &registryServer{private: private, program: compile(t, "../../examples/hello")}
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		u, p, _ := req.BasicAuth()
		switch {
		case r.down.Load():
			http.Error(w, "closed for today", http.StatusServiceUnavailable)
		case private && (u != user || p != password):
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			images.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(server.Close)
	r.host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// compile builds the Go program in dir.
func compile(t *testing.T, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "app")
	build := exec.Command("go", "build", "-o", out, dir)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// push puts an image for this machine and one other under a tag and returns its reference, and the one by the digest of the index.
func (r *registryServer) push(t *testing.T, repository string) (tag, digest string) {
	t.Helper()
	tag = r.host + "/" + repository + ":v1"
	ref, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: r.image(t, runtime.GOARCH), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}},
		mutate.IndexAddendum{Add: r.image(t, "s390x"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}},
	)
	auth := remote.WithAuth(authn.FromConfig(authn.AuthConfig{Username: user, Password: password}))
	if err := remote.WriteIndex(ref, index, auth); err != nil {
		t.Fatal(err)
	}
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return tag, r.host + "/" + repository + "@" + hash.String()
}

func (r *registryServer) image(t *testing.T, arch string) v1.Image {
	t.Helper()
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Name: "app", Mode: 0o755, Size: int64(len(r.program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(r.program); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: arch, RootFS: v1.RootFS{Type: "layers", DiffIDs: diffIDs(t, layer)},
		Config: v1.Config{Entrypoint: []string{"/app"}, User: "65532"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func diffIDs(t *testing.T, layer v1.Layer) []v1.Hash {
	t.Helper()
	id, err := layer.DiffID()
	if err != nil {
		t.Fatal(err)
	}
	return []v1.Hash{id}
}
