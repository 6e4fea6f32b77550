// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/prune"
)

type (
	namespaceKey       struct{}
	configKey          struct{}
	resourceVersionKey struct{}
	transformKey       struct{}
)

// WithNamespaceScope returns a context whose informers see one namespace only.
func WithNamespaceScope(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, namespaceKey{}, namespace)
}

// HasNamespaceScope tells whether informers of ctx see one namespace only.
func HasNamespaceScope(ctx context.Context) bool { return GetNamespaceScope(ctx) != "" }

// GetNamespaceScope is the only namespace that informers of ctx see; empty means all.
func GetNamespaceScope(ctx context.Context) string {
	namespace, _ := ctx.Value(namespaceKey{}).(string)
	return namespace
}

// WithConfig returns a context with the configuration of clients.
func WithConfig(ctx context.Context, cfg *rest.Config) context.Context {
	return context.WithValue(ctx, configKey{}, cfg)
}

// GetConfig is the configuration of clients, or nil.
func GetConfig(ctx context.Context) *rest.Config {
	cfg, _ := ctx.Value(configKey{}).(*rest.Config)
	return cfg
}

// WithResourceVersion returns a context that carries the resource version of
// the object at hand.
func WithResourceVersion(ctx context.Context, resourceVersion string) context.Context {
	return context.WithValue(ctx, resourceVersionKey{}, resourceVersion)
}

// GetResourceVersion is the resource version of the object at hand, or empty.
func GetResourceVersion(ctx context.Context) string {
	rv, _ := ctx.Value(resourceVersionKey{}).(string)
	return rv
}

// WithTransform returns a context whose informers apply transform to what they
// keep. It replaces the default.
func WithTransform(ctx context.Context, transform cache.TransformFunc) context.Context {
	return context.WithValue(ctx, transformKey{}, transform)
}

// GetTransform is what informers of ctx apply to what they keep, by default
// prune.ManagedFields.
func GetTransform(ctx context.Context) cache.TransformFunc {
	if transform, ok := ctx.Value(transformKey{}).(cache.TransformFunc); ok {
		return transform
	}
	return prune.ManagedFields
}
