// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package pull gets a container's image ready: it applies the pull policy and
// names failures as Kubernetes does. When to try again is the caller's business.
package pull

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"

	"weir.dev/internal/image"
)

// Store is what is needed of the machine's images.
type Store interface {
	Lookup(ref string) (*image.Image, error)
	Pull(ctx context.Context, ref string, opts image.PullOptions) (*image.Image, error)
	Unpack(ctx context.Context, img *image.Image) ([]string, error)
	Hold(owner string, img *image.Image) error
	Release(owner string) error
}

// The reasons of failures, as in a waiting container's status.
const (
	ReasonPull    = "ErrImagePull"
	ReasonNever   = "ErrImageNeverPull"
	ReasonName    = "InvalidImageName"
	ReasonInspect = "ImageInspectError"
)

// Error is a failure with its reason.
type Error struct {
	Reason string
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap implements the errors package's convention.
func (e *Error) Unwrap() error { return e.Err }

// Request names an image and who needs it.
type Request struct {
	Ref    string
	Policy corev1.PullPolicy
	// Secrets gives the credentials; it is called only if a registry is asked.
	Secrets func(ctx context.Context) (authn.Keychain, error)
	// Owner keeps the image from being collected until it is released.
	Owner string
	// Pulling is called before a registry is asked.
	Pulling func()
}

// Ready is an image that containers can be made from.
type Ready struct {
	Image *image.Image
	// Layers are its unpacked layers, bottom first.
	Layers []string
	// Pulled says that a registry was asked, which took Took.
	Pulled bool
	Took   time.Duration
}

// Puller gets images ready.
type Puller struct {
	store    Store
	insecure func(host string) bool
}

// New makes a puller. insecure, if not nil, says which registries may be asked
// over plain HTTP.
func New(store Store, insecure func(host string) bool) *Puller {
	return &Puller{store: store, insecure: insecure}
}

// Ensure gets the image. A failure is an *Error.
func (p *Puller) Ensure(ctx context.Context, req Request) (Ready, error) {
	var ready Ready
	img, err := p.local(req)
	if err != nil {
		return ready, err
	}
	if img == nil {
		begin := time.Now()
		req.Pulling()
		if img, err = p.pull(ctx, req); err != nil {
			return ready, &Error{Reason: ReasonPull, Err: err}
		}
		ready.Pulled, ready.Took = true, time.Since(begin)
	}
	ready.Image = img
	if err := p.store.Hold(req.Owner, img); err != nil {
		return ready, &Error{Reason: ReasonInspect, Err: err}
	}
	if ready.Layers, err = p.store.Unpack(ctx, img); err != nil {
		return ready, &Error{Reason: ReasonPull, Err: fmt.Errorf("unpack image %q: %w", req.Ref, err)}
	}
	return ready, nil
}

// Present says whether the image could be used without asking a registry.
func (p *Puller) Present(ref string) bool {
	_, err := p.store.Lookup(ref)
	return err == nil
}

// Release ends the owner's need of its image.
func (p *Puller) Release(owner string) error { return p.store.Release(owner) }

// local looks for the image on this machine; nil means that a registry is to
// be asked.
func (p *Puller) local(req Request) (*image.Image, error) {
	img, err := p.store.Lookup(req.Ref)
	switch {
	case err == nil:
		// What is named by digest cannot have changed, and what no registry
		// has cannot be asked for.
		if req.Policy != corev1.PullAlways || strings.Contains(req.Ref, "@") || image.IsLocal(req.Ref) {
			return img, nil
		}
		return nil, nil
	case errors.Is(err, image.ErrInvalidName):
		return nil, &Error{Reason: ReasonName, Err: fmt.Errorf("failed to apply default image tag %q: %w", req.Ref, err)}
	case !errors.Is(err, image.ErrNotFound):
		return nil, &Error{Reason: ReasonInspect, Err: fmt.Errorf("failed to inspect image %q: %w", req.Ref, err)}
	case req.Policy == corev1.PullNever:
		return nil, &Error{Reason: ReasonNever, Err: fmt.Errorf("container image %q is not present with pull policy of Never", req.Ref)}
	}
	return nil, nil
}

func (p *Puller) pull(ctx context.Context, req Request) (*image.Image, error) {
	keychain, err := req.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	img, err := p.store.Pull(ctx, req.Ref, image.PullOptions{Keychain: keychain, Insecure: p.insecure})
	if err != nil {
		return nil, fmt.Errorf("failed to pull image %q: %w", req.Ref, err)
	}
	return img, nil
}
