// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/kmeta"
)

// NewPermanentError marks err as one that trying again cannot cure: the key is
// not tried again until something changes.
func NewPermanentError(err error) error { return permanentError{err} }

// IsPermanentError tells whether err, or what it wraps, is a permanent error.
func IsPermanentError(err error) bool {
	var p permanentError
	return errors.As(err, &p)
}

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// NewSkipKey says that the key is not this replica's to reconcile: the run
// counts as done and nothing is recorded.
func NewSkipKey(key string) error { return skipKeyError(key) }

// IsSkipKey tells whether err, or what it wraps, is a NewSkipKey.
func IsSkipKey(err error) bool {
	var s skipKeyError
	return errors.As(err, &s)
}

type skipKeyError string

func (e skipKeyError) Error() string { return fmt.Sprintf("skipped key: %q", string(e)) }

// NewRequeueImmediately asks for another run at once; it is no failure.
func NewRequeueImmediately() error { return requeueKeyError{} }

// NewRequeueAfter asks for another run in d; it is no failure.
func NewRequeueAfter(d time.Duration) error { return requeueKeyError{after: d} }

// AwaitCollection returns nil, unless child belongs to an earlier object of
// owner's kind and name: the garbage collector is about to take it, and owner
// can then have one of its own. What is returned asks for another run.
func AwaitCollection(child metav1.Object, owner kmeta.OwnerRefable) error {
	const soon = time.Second // its deletion mostly enqueues owner before that
	ref, meta := metav1.GetControllerOfNoCopy(child), owner.GetObjectMeta()
	if ref == nil || ref.UID == meta.GetUID() || ref.Name != meta.GetName() {
		return nil
	}
	if schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() != owner.GetGroupVersionKind().GroupKind() {
		return nil
	}
	return NewRequeueAfter(soon)
}

// IsRequeueKey tells whether err, or what it wraps, asks for another run, and
// in what time.
func IsRequeueKey(err error) (bool, time.Duration) {
	var r requeueKeyError
	if errors.As(err, &r) {
		return true, r.after
	}
	return false, 0
}

// IsStaleRead tells whether the API refused a write because the cache that it
// was decided on lags behind: the object has changed, or exists by now. Another
// run, on what the cache holds then, passes.
func IsStaleRead(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// IsNamespaceTerminating tells whether the API refused to create something
// because its namespace is being deleted: what asked for it goes as well.
func IsNamespaceTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

type requeueKeyError struct{ after time.Duration }

func (e requeueKeyError) Error() string { return fmt.Sprintf("requeue after: %s", e.after) }
