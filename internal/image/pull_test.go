// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// startRegistry serves a registry on loopback. wrap may change what it answers.
func startRegistry(t testing.TB, wrap func(http.Handler) http.Handler) (host string) {
	t.Helper()
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func push(t testing.TB, ref string, img v1.Image) {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(r, img); err != nil {
		t.Fatal(err)
	}
}

func pushIndex(t testing.TB, ref string, idx v1.ImageIndex) {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(r, idx); err != nil {
		t.Fatal(err)
	}
}

// digestOf is what both images and indexes know.
func digestOf(t testing.TB, d interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	h, err := d.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func TestPull(t *testing.T) {
	host := startRegistry(t, nil)
	img := testImage(t, tarball(t, file("a", "1")), tarball(t, file("b", "2")))
	push(t, host+"/team/app:v1", img)
	s := openStore(t)
	got, err := s.Pull(t.Context(), host+"/team/app:v1", PullOptions{})
	if err != nil || got.Digest != digestOf(t, img) || got.ManifestDigest != got.Digest {
		t.Fatalf("Pull: %+v, %v", got, err)
	}
	if dirs, err := s.Unpack(t.Context(), got); err != nil || len(dirs) != 2 {
		t.Errorf("Unpack: %v, %v", dirs, err)
	}
	if _, err := s.Pull(t.Context(), host+"/team/app@"+got.Digest, PullOptions{}); err != nil {
		t.Errorf("by digest: %v", err)
	}
	for _, ref := range []string{host + "/team/app:v1", host + "/team/app@" + got.Digest} {
		if _, err := s.Lookup(ref); err != nil {
			t.Errorf("Lookup: %v", err)
		}
	}
	entries, err := s.List()
	if err != nil || len(entries) != 2 || entries[0].Size == 0 {
		t.Errorf("List: %+v, %v", entries, err)
	}
}

func TestPullIndex(t *testing.T) {
	host := startRegistry(t, nil)
	mine := testImage(t, tarball(t, file("mine", "1")))
	other := testImage(t, tarball(t, file("other", "1")))
	idx := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}},
		mutate.IndexAddendum{Add: mine, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}},
	)
	pushIndex(t, host+"/multi", idx)
	s := openStore(t)
	got, err := s.Pull(t.Context(), host+"/multi", PullOptions{})
	if err != nil || got.Digest != digestOf(t, idx) || got.ManifestDigest != digestOf(t, mine) {
		t.Fatalf("Pull: %+v, %v; want index %s and manifest %s", got, err, digestOf(t, idx), digestOf(t, mine))
	}
	for _, d := range []string{got.Digest, got.ManifestDigest} {
		if _, err := s.Lookup(host + "/multi@" + d); err != nil {
			t.Errorf("Lookup by %s: %v", d, err)
		}
	}
	if _, err := s.Pull(t.Context(), host+"/multi@"+digestOf(t, mine), PullOptions{}); err != nil {
		t.Errorf("pull of the platform's manifest: %v", err)
	}
	// Index, manifest, configuration, layer: nothing of the other platform.
	if got := files(t, s.path(blobsDir)); len(got) != 4 {
		t.Errorf("%d blobs, want 4", len(got))
	}
	if err := s.Remove(host + "/multi"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(host + "/multi@" + got.ManifestDigest); err != nil {
		t.Errorf("the other name's image is gone: %v", err)
	}
}

func TestPullRefusesOtherPlatforms(t *testing.T) {
	host := startRegistry(t, nil)
	img, err := mutate.ConfigFile(testImage(t), &v1.ConfigFile{OS: "linux", Architecture: "s390x"})
	if err != nil {
		t.Fatal(err)
	}
	push(t, host+"/single", img)
	pushIndex(t, host+"/multi", mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}}))
	s := openStore(t)
	for _, ref := range []string{host + "/single", host + "/multi"} {
		if _, err := s.Pull(t.Context(), ref, PullOptions{}); !errors.Is(err, ErrPlatform) || !strings.Contains(err.Error(), "linux/s390x") {
			t.Errorf("Pull(%s): %v", ref, err)
		}
	}
	if got, _ := s.List(); len(got) != 0 {
		t.Errorf("named: %v", got)
	}
}

func TestPullAuth(t *testing.T) {
	host := startRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, pass, _ := r.BasicAuth()
			if user != "me" || pass != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
				http.Error(w, "who are you", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	img := testImage(t, tarball(t, file("a", "1")))
	cfg := func(key, pass string) []byte {
		return fmt.Appendf(nil, `{"auths":{%q:{"username":"me","password":%q}}}`, key, pass)
	}
	good, err := KeychainFromDockerConfigs(cfg(host, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := name.ParseReference(host + "/private")
	if err := remote.Write(r, img, remote.WithAuthFromKeychain(good)); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	if _, err := s.Pull(t.Context(), host+"/private", PullOptions{}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without credentials: %v", err)
	}
	bad, err := KeychainFromDockerConfigs(cfg(host, "wrong"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pull(t.Context(), host+"/private", PullOptions{Keychain: bad}); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with wrong credentials: %v", err)
	}
	if _, err := s.Pull(t.Context(), host+"/private", PullOptions{Keychain: good}); err != nil {
		t.Errorf("with credentials: %v", err)
	}
}

func TestPullRefusesCorruptBlobs(t *testing.T) {
	var corrupt atomic.Bool
	host := startRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if corrupt.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
				rec := httptest.NewRecorder()
				next.ServeHTTP(rec, r)
				body := rec.Body.Bytes()
				body[0] ^= 0xff
				w.WriteHeader(rec.Code)
				_, _ = w.Write(body)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	push(t, host+"/x", testImage(t, tarball(t, file("a", "1"))))
	corrupt.Store(true)
	s := openStore(t)
	if _, err := s.Pull(t.Context(), host+"/x", PullOptions{}); err == nil {
		t.Error("a blob with other content was accepted")
	}
	if _, err := s.Lookup(host + "/x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Lookup after a failed pull: %v", err)
	}
	if got := files(t, s.path(blobsDir)); len(got) != 1 { // The manifest.
		t.Errorf("blobs %v", got)
	}
}

func TestPullOnceByMany(t *testing.T) {
	var blobs atomic.Int32
	host := startRegistry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
				blobs.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	push(t, host+"/x", testImage(t, tarball(t, file("a", "1")), tarball(t, file("b", "1"))))
	s := openStore(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := s.Pull(t.Context(), host+"/x", PullOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := blobs.Load(); got != 3 {
		t.Errorf("%d blobs were fetched, want 3", got)
	}
}

// refuse fails the test if a request is made.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("a request left for %s", req.URL)
	return nil, errors.New("refused")
}

func TestPullNeverAsksForLocalImages(t *testing.T) {
	s := openStore(t)
	for _, ref := range []string{"weir.local/x", "dev.local/x:1", "ko.local/x@" + someDigest, "kind.local/a/b", "localhost/x"} {
		if _, err := s.Pull(t.Context(), ref, PullOptions{Transport: refuse{t}}); !errors.Is(err, ErrLocalRegistry) {
			t.Errorf("Pull(%s): %v", ref, err)
		}
	}
}

// https answers as if there were only plain HTTP.
type plainOnly struct{ plain atomic.Int32 }

func (p *plainOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "http" {
		p.plain.Add(1)
	}
	return nil, errors.New("connection refused")
}

func TestPullKeepsToTLS(t *testing.T) {
	s := openStore(t)
	for _, ref := range []string{"10.0.0.1:5000/x", "registry.local/x", "registry.example/x"} {
		p := &plainOnly{}
		if _, err := s.Pull(t.Context(), ref, PullOptions{Transport: p}); err == nil || p.plain.Load() != 0 {
			t.Errorf("Pull(%s): %v, %d requests in clear text", ref, err, p.plain.Load())
		}
	}
	p := &plainOnly{}
	allow := func(host string) bool { return host == "10.0.0.1:5000" }
	if _, err := s.Pull(t.Context(), "10.0.0.1:5000/x", PullOptions{Transport: p, Insecure: allow}); err == nil || p.plain.Load() == 0 {
		t.Errorf("with leave: %v, %d requests in clear text", err, p.plain.Load())
	}
}

func TestPullMissing(t *testing.T) {
	host := startRegistry(t, nil)
	_, err := openStore(t).Pull(t.Context(), host+"/none:v1", PullOptions{})
	if err == nil || !strings.Contains(err.Error(), "pull "+host+"/none:v1") || !strings.Contains(err.Error(), "NAME_UNKNOWN") {
		t.Errorf("missing image: %v", err)
	}
}
