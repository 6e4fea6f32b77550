// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resolver

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/network"
)

// resolve returns an address of the caller's own; name picks one of several.
// Every error names the object.
func (r *URIResolver) resolve(ctx context.Context, ref *corev1.ObjectReference, name *string, parent any) (*duckv1.Addressable, error) {
	if ref == nil {
		return nil, errors.New("the reference is missing")
	}
	if address, err := r.custom(ctx, ref); address != nil || err != nil {
		return address, err
	}
	obj, err := r.get(ctx, ref, parent)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", describe(ref), err)
	}
	address, err := addressIn(ref, obj, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", describe(ref), err)
	}
	return address, nil
}

// custom asks the caller's resolvers; nil means that none of them is in charge.
func (r *URIResolver) custom(ctx context.Context, ref *corev1.ObjectReference) (*duckv1.Addressable, error) {
	for _, resolve := range r.resolvers {
		mine, url, err := resolve(ctx, ref)
		switch {
		case err != nil:
			return nil, fmt.Errorf("resolving %s: %w", describe(ref), err)
		case mine && url.IsEmpty():
			return nil, fmt.Errorf("%s: it has no URL", describe(ref))
		case mine:
			return &duckv1.Addressable{URL: url.DeepCopy()}, nil
		}
	}
	return nil, nil
}

// get notes that parent depends on the object before it reads it, so that no
// change goes unseen.
func (r *URIResolver) get(ctx context.Context, ref *corev1.ObjectReference, parent any) (runtime.Object, error) {
	if err := r.tracker.Track(*ref, parent); err != nil {
		return nil, err
	}
	_, lister, err := r.informers.Get(ctx, apis.KindToResource(ref.GroupVersionKind()))
	if err != nil {
		return nil, err
	}
	return lister.ByNamespace(ref.Namespace).Get(ref.Name)
}

func addressIn(ref *corev1.ObjectReference, obj runtime.Object, name *string) (*duckv1.Addressable, error) {
	if ref.APIVersion == "v1" && ref.Kind == "Service" {
		return serviceAddress(ref, name), nil
	}
	typed, ok := obj.(*duckv1.AddressableType)
	if !ok {
		return nil, fmt.Errorf("it is a %T, not an addressable object", obj)
	}
	address, err := pick(typed.Status, name)
	if err != nil {
		return nil, err
	}
	if address.URL == nil || address.URL.Host == "" {
		return nil, errors.New("its address has no URL with a host")
	}
	return address.DeepCopy(), nil
}

// serviceAddress is the cluster-wide name of a core Service, which has no
// address in its status. A reference to its address "https" gives that scheme.
func serviceAddress(ref *corev1.ObjectReference, name *string) *duckv1.Addressable {
	url := apis.HTTP(network.GetServiceHostname(ref.Name, ref.Namespace))
	if name != nil && *name == "https" {
		url.Scheme = *name
	}
	return &duckv1.Addressable{Name: name, URL: url}
}

// pick returns the address of the name; without a name the one to use.
func pick(status duckv1.AddressStatus, name *string) (*duckv1.Addressable, error) {
	if name != nil && *name != "" {
		return named(status, *name)
	}
	switch {
	case status.Address != nil:
		return status.Address, nil
	case len(status.Addresses) > 0:
		return &status.Addresses[0], nil
	}
	return nil, errors.New("it is not addressable: there is no status.address")
}

func named(status duckv1.AddressStatus, name string) (*duckv1.Addressable, error) {
	for i := range status.Addresses {
		if a := &status.Addresses[i]; a.Name != nil && *a.Name == name {
			return a, nil
		}
	}
	if a := status.Address; a != nil && a.Name != nil && *a.Name == name {
		return a, nil
	}
	return nil, fmt.Errorf("it has no address with the name %q", name)
}

func describe(ref *corev1.ObjectReference) string {
	return fmt.Sprintf("%s %s %s/%s", ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}
