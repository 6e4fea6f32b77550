// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package resolver finds where a destination takes requests: the URL that it
// says, or the address in the status of the object that it refers to. The
// object's kind need not be known when the program is built. What refers to it
// is enqueued when it changes.
package resolver

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/client/injection/ducks/duck/v1/addressable"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/tracker"
)

// RefResolverFunc resolves references to kinds of the caller's own, which need
// not be addressable. It tells whether the reference was one of those; if not,
// the next is asked, and at last the object's address. What such a reference
// points to is not tracked.
type RefResolverFunc func(ctx context.Context, ref *corev1.ObjectReference) (bool, *apis.URL, error)

// URIResolver resolves destinations. Parents are the objects that have them:
// what the tracker may be given.
type URIResolver struct {
	tracker   tracker.Interface
	informers duck.InformerFactory
	resolvers []RefResolverFunc
}

// NewURIResolverFromTracker returns a resolver that enqueues through the
// tracker. It asks the resolvers in order, before anything else.
func NewURIResolverFromTracker(ctx context.Context, t tracker.Interface, resolvers ...RefResolverFunc) *URIResolver {
	return &URIResolver{
		tracker: t,
		informers: &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
			Delegate:     addressable.Get(ctx),
			EventHandler: controller.HandleAll(t.OnChanged),
		}},
		resolvers: resolvers,
	}
}

// URIFromDestinationV1 is the URL of AddressableFromDestinationV1.
func (r *URIResolver) URIFromDestinationV1(ctx context.Context, dest duckv1.Destination, parent any) (*apis.URL, error) {
	address, err := r.AddressableFromDestinationV1(ctx, dest, parent)
	if err != nil {
		return nil, err
	}
	return address.URL, nil
}

// URIFromKReference is the URL of the object's address, of the named one if
// the reference names one.
func (r *URIResolver) URIFromKReference(ctx context.Context, ref *duckv1.KReference, parent any) (*apis.URL, error) {
	address, err := r.addressOf(ctx, ref, parent)
	if err != nil {
		return nil, err
	}
	return address.URL, nil
}

// URIFromObjectReference is the URL of the object's address.
func (r *URIResolver) URIFromObjectReference(ctx context.Context, ref *corev1.ObjectReference, parent any) (*apis.URL, error) {
	address, err := r.resolve(ctx, ref, nil, parent)
	if err != nil {
		return nil, err
	}
	return address.URL, nil
}

// AddressableFromDestinationV1 is where the destination takes requests: a
// relative URI is joined with the address of the object, and certificates and
// audience of the destination come before those of the address.
func (r *URIResolver) AddressableFromDestinationV1(ctx context.Context, dest duckv1.Destination, parent any) (*duckv1.Addressable, error) {
	address, err := r.base(ctx, dest, parent)
	if err != nil {
		return nil, err
	}
	if dest.CACerts != nil && *dest.CACerts != "" {
		address.CACerts = dest.CACerts
	}
	if dest.Audience != nil && *dest.Audience != "" {
		address.Audience = dest.Audience
	}
	return address, nil
}

// base is the destination without its own certificates and audience.
func (r *URIResolver) base(ctx context.Context, dest duckv1.Destination, parent any) (*duckv1.Addressable, error) {
	switch {
	case dest.Ref == nil && dest.URI == nil:
		return nil, errors.New("the destination has neither ref nor uri")
	case dest.Ref == nil && (dest.URI.Scheme == "" || dest.URI.Host == ""):
		return nil, fmt.Errorf("the destination's uri %q has no scheme or no host", dest.URI)
	case dest.Ref == nil:
		return &duckv1.Addressable{URL: dest.URI.DeepCopy()}, nil
	case dest.URI != nil && dest.URI.URL().IsAbs():
		return nil, fmt.Errorf("the destination's uri %q is absolute, but there is a ref too", dest.URI)
	}
	address, err := r.addressOf(ctx, dest.Ref, parent)
	if err != nil {
		return nil, err
	}
	address.URL = address.URL.ResolveReference(dest.URI)
	return address, nil
}

func (r *URIResolver) addressOf(ctx context.Context, ref *duckv1.KReference, parent any) (*duckv1.Addressable, error) {
	if ref == nil {
		return nil, errors.New("the reference is missing")
	}
	return r.resolve(ctx, &corev1.ObjectReference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
	}, ref.Address, parent)
}
