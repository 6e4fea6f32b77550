// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"
)

// parallelBlobs is how many blobs of an image are received at once.
const parallelBlobs = 4

// ErrLocalRegistry is wrapped when an image of a local registry is to be pulled.
var ErrLocalRegistry = errors.New("images of local registries are never pulled")

// PullOptions say how to reach a registry.
type PullOptions struct {
	// Keychain has the credentials. Nil means none.
	Keychain authn.Keychain
	// Insecure reports whether a registry host may be reached by plain HTTP.
	// Loopback always may. Nil means no other.
	Insecure func(host string) bool
	// Transport makes the requests. Nil means the registry client's default.
	Transport http.RoundTripper
}

// Pull fetches what is missing of the image ref from its registry, for this
// machine's platform, and gives the image that name.
func (s *Store) Pull(ctx context.Context, ref string, opts PullOptions) (*Image, error) {
	r, err := ParseReference(ref)
	if err != nil {
		return nil, err
	}
	if r.isLocal() {
		return nil, fmt.Errorf("pull %s: %w; build or import it", r, ErrLocalRegistry)
	}
	use, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer use.unlock()
	p, err := newPull(s, r, opts)
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", r, err)
	}
	desc, err := p.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", r, err)
	}
	return s.add(ctx, r, desc)
}

// add names an image whose blobs are stored. The caller holds the use lock.
func (s *Store) add(ctx context.Context, r Reference, desc v1.Descriptor) (*Image, error) {
	img, err := s.load(desc)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", r, err)
	}
	img.Ref = r.String()
	return img, s.updateIndex(ctx, func(x *index) error {
		x.name(r, desc, time.Now())
		return nil
	})
}

type pull struct {
	store  *Store
	ref    name.Reference
	puller *remote.Puller
}

func newPull(s *Store, r Reference, opts PullOptions) (*pull, error) {
	guard := &guard{base: opts.Transport, insecure: opts.Insecure}
	if guard.base == nil {
		guard.base = remote.DefaultTransport
	}
	var nameOpts []name.Option
	if guard.plainAllowed(r.Registry) {
		nameOpts = append(nameOpts, name.Insecure)
	}
	ref, err := r.remote(nameOpts...)
	if err != nil {
		return nil, err
	}
	keychain := opts.Keychain
	if keychain == nil {
		keychain = authn.NewMultiKeychain()
	}
	puller, err := remote.NewPuller(
		remote.WithAuthFromKeychain(keychain),
		remote.WithTransport(guard),
		remote.WithUserAgent("weir"),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}),
	)
	return &pull{store: s, ref: ref, puller: puller}, err
}

// fetch stores everything that the reference leads to on this platform.
func (p *pull) fetch(ctx context.Context) (v1.Descriptor, error) {
	top, err := p.manifest(ctx, p.ref)
	if err != nil {
		return v1.Descriptor{}, err
	}
	manifest := top
	if top.MediaType.IsIndex() {
		var m v1.IndexManifest
		if err := p.store.readJSON(top.Digest, &m); err != nil {
			return v1.Descriptor{}, err
		}
		child, err := pickPlatform(&m)
		if err != nil {
			return v1.Descriptor{}, err
		}
		if manifest, err = p.manifest(ctx, p.digest(child.Digest)); err != nil {
			return v1.Descriptor{}, err
		}
	}
	return top, p.contents(ctx, manifest)
}

func (p *pull) digest(h v1.Hash) name.Digest { return p.ref.Context().Digest(h.String()) }

// manifest stores the manifest or index that ref names.
func (p *pull) manifest(ctx context.Context, ref name.Reference) (v1.Descriptor, error) {
	got, err := p.puller.Get(ctx, ref)
	if err != nil {
		return v1.Descriptor{}, err
	}
	desc := v1.Descriptor{MediaType: got.MediaType, Size: int64(len(got.Manifest)), Digest: got.Digest}
	if !desc.MediaType.IsImage() && !desc.MediaType.IsIndex() {
		return v1.Descriptor{}, fmt.Errorf("manifest type %q is not supported", desc.MediaType)
	}
	return desc, p.store.putBlob(desc, bytes.NewReader(got.Manifest))
}

// contents stores configuration and layers.
func (p *pull) contents(ctx context.Context, manifest v1.Descriptor) error {
	var m v1.Manifest
	if err := p.store.readJSON(manifest.Digest, &m); err != nil {
		return err
	}
	if !m.Config.MediaType.IsConfig() {
		return fmt.Errorf("it is not a container image but has a configuration of type %q", m.Config.MediaType)
	}
	if m.Config.Size > maxManifest {
		return fmt.Errorf("the configuration has %d bytes, more than %d", m.Config.Size, maxManifest)
	}
	// The configuration first: it tells before the big blobs whether the image is
	// for this machine.
	if err := p.blob(ctx, m.Config); err != nil {
		return err
	}
	if _, err := p.store.load(manifest); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelBlobs)
	for _, l := range m.Layers {
		g.Go(func() error { return p.blob(ctx, l) })
	}
	return g.Wait()
}

// blob fetches a blob unless it is here or somebody is just fetching it.
func (p *pull) blob(ctx context.Context, desc v1.Descriptor) error {
	if p.store.hasBlob(desc.Digest) {
		return nil
	}
	l, err := lock(ctx, p.store.path(tmpDir, "lock-blob-"+desc.Digest.Hex), exclusive)
	if err != nil {
		return err
	}
	defer l.unlock()
	if p.store.hasBlob(desc.Digest) {
		return nil
	}
	layer, err := p.puller.Layer(ctx, p.digest(desc.Digest))
	if err != nil {
		return err
	}
	body, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return p.store.putBlob(desc, body)
}

// guard keeps requests from going where they must not: to local registries, and
// in clear text past loopback. The registry client would try plain HTTP for
// private addresses, and follows redirects and token realms.
type guard struct {
	base     http.RoundTripper
	insecure func(host string) bool
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if (Reference{Registry: strings.ToLower(req.URL.Host)}).isLocal() {
		return nil, fmt.Errorf("%w: %s", ErrLocalRegistry, req.URL.Host)
	}
	if req.URL.Scheme != "https" && !g.plainAllowed(req.URL.Host) {
		return nil, fmt.Errorf("registry %s answers by plain HTTP only, which is allowed on loopback alone", req.URL.Host)
	}
	return g.base.RoundTrip(req)
}

func (g *guard) plainAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); host == "localhost" || (ip != nil && ip.IsLoopback()) {
		return true
	}
	return g.insecure != nil && g.insecure(hostport)
}
