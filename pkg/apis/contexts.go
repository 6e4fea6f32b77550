// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package apis

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ctxKey names one mark that a context can carry.
type ctxKey int

const (
	keyCreate ctxKey = iota
	keyUpdate
	keyDelete
	keyUserInfo
	keyDryRun
	keyHTTPRequest
	keyParent
	keySpec
	keyStatus
	keyDisallowDeprecated
	keyDifferentNamespace
)

// update is the value under keyUpdate.
type update struct {
	base        any
	subresource string
}

func marked(ctx context.Context, k ctxKey) bool { return ctx.Value(k) != nil }

// WithinCreate marks that a create is being handled.
func WithinCreate(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyCreate, true)
}

// IsInCreate says whether a create is being handled.
func IsInCreate(ctx context.Context) bool { return marked(ctx, keyCreate) }

// WithinDelete marks that a delete is being handled.
func WithinDelete(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyDelete, true)
}

// IsInDelete says whether a delete is being handled.
func IsInDelete(ctx context.Context) bool { return marked(ctx, keyDelete) }

// WithinUpdate marks that an update of base (the stored object) is being
// handled.
func WithinUpdate(ctx context.Context, base interface{}) context.Context {
	return context.WithValue(ctx, keyUpdate, &update{base: base})
}

// WithinSubResourceUpdate marks that an update of a subresource of base is
// being handled.
func WithinSubResourceUpdate(ctx context.Context, base interface{}, subresource string) context.Context {
	return context.WithValue(ctx, keyUpdate, &update{base: base, subresource: subresource})
}

// IsInUpdate says whether an update is being handled, of the object or of a
// subresource.
func IsInUpdate(ctx context.Context) bool { return marked(ctx, keyUpdate) }

// IsInStatusUpdate says whether an update of the status subresource is being
// handled.
func IsInStatusUpdate(ctx context.Context) bool {
	return GetUpdatedSubresource(ctx) == "status"
}

// GetUpdatedSubresource returns the subresource that is being updated, or "".
func GetUpdatedSubresource(ctx context.Context) string {
	if u, ok := ctx.Value(keyUpdate).(*update); ok {
		return u.subresource
	}
	return ""
}

// GetBaseline returns the stored object of an update, or nil.
func GetBaseline(ctx context.Context) interface{} {
	if u, ok := ctx.Value(keyUpdate).(*update); ok {
		return u.base
	}
	return nil
}

// WithUserInfo attaches who makes the request.
func WithUserInfo(ctx context.Context, ui *authenticationv1.UserInfo) context.Context {
	return context.WithValue(ctx, keyUserInfo, ui)
}

// GetUserInfo returns who makes the request, or nil.
func GetUserInfo(ctx context.Context) *authenticationv1.UserInfo {
	ui, _ := ctx.Value(keyUserInfo).(*authenticationv1.UserInfo)
	return ui
}

// WithDryRun marks that nothing will be stored.
func WithDryRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyDryRun, true)
}

// IsDryRun says whether nothing will be stored.
func IsDryRun(ctx context.Context) bool { return marked(ctx, keyDryRun) }

// WithHTTPRequest attaches the HTTP request that is being answered.
func WithHTTPRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, keyHTTPRequest, r)
}

// GetHTTPRequest returns the HTTP request that is being answered, or nil.
func GetHTTPRequest(ctx context.Context) *http.Request {
	r, _ := ctx.Value(keyHTTPRequest).(*http.Request)
	return r
}

// WithinParent attaches the metadata of the enclosing object, for validating
// a part of it.
func WithinParent(ctx context.Context, om metav1.ObjectMeta) context.Context {
	return context.WithValue(ctx, keyParent, om)
}

// ParentMeta returns the metadata of the enclosing object.
func ParentMeta(ctx context.Context) metav1.ObjectMeta {
	om, _ := ctx.Value(keyParent).(metav1.ObjectMeta)
	return om
}

// WithinSpec marks that a spec is being checked.
func WithinSpec(ctx context.Context) context.Context {
	return context.WithValue(ctx, keySpec, true)
}

// IsInSpec says whether a spec is being checked.
func IsInSpec(ctx context.Context) bool { return marked(ctx, keySpec) }

// WithinStatus marks that a status is being checked.
func WithinStatus(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyStatus, true)
}

// IsInStatus says whether a status is being checked.
func IsInStatus(ctx context.Context) bool { return marked(ctx, keyStatus) }

// DisallowDeprecated asks that deprecated fields be refused.
func DisallowDeprecated(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyDisallowDeprecated, true)
}

// IsDeprecatedAllowed says whether deprecated fields are accepted.
func IsDeprecatedAllowed(ctx context.Context) bool { return !marked(ctx, keyDisallowDeprecated) }

// AllowDifferentNamespace permits references into other namespaces.
func AllowDifferentNamespace(ctx context.Context) context.Context {
	return context.WithValue(ctx, keyDifferentNamespace, true)
}

// IsDifferentNamespaceAllowed says whether references into other namespaces
// are permitted.
func IsDifferentNamespaceAllowed(ctx context.Context) bool {
	return marked(ctx, keyDifferentNamespace)
}
