// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"net"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// updateBackoff spaces the attempts of RetryUpdateConflicts: conflicts clear
// within a few milliseconds or the object is contended and the queue's own
// back-off is the better place to wait.
var updateBackoff = wait.Backoff{Steps: 6, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.2}

// testBackoff spaces the attempts of RetryTestErrors.
var testBackoff = wait.Backoff{Steps: 10, Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.2}

// RetryUpdateConflicts calls update, with the number of attempts made before,
// until it returns anything but a conflict.
func RetryUpdateConflicts(update func(attempt int) error) error {
	return RetryErrors(update, apierrors.IsConflict)
}

// RetryErrors calls f, with the number of attempts made before, until it
// returns nil or an error that no matcher matches.
func RetryErrors(f func(attempt int) error, matchers ...func(error) bool) error {
	return retryOn(updateBackoff, f, matchers)
}

// RetryTestErrors is RetryErrors for what a loaded test cluster answers:
// conflicts, internal errors, and connections that break.
func RetryTestErrors(f func(attempt int) error) error {
	return retryOn(testBackoff, f, []func(error) bool{
		apierrors.IsConflict, apierrors.IsInternalError, apierrors.IsServerTimeout, isNetworkError,
	})
}

func retryOn(backoff wait.Backoff, f func(int) error, matchers []func(error) bool) error {
	attempt := -1
	return retry.OnError(backoff, matchAny(matchers), func() error {
		attempt++
		return f(attempt)
	})
}

func matchAny(matchers []func(error) bool) func(error) bool {
	return func(err error) bool {
		for _, matches := range matchers {
			if matches(err) {
				return true
			}
		}
		return false
	}
}

func isNetworkError(err error) bool {
	if _, ok := err.(net.Error); ok { //nolint:errorlint // client-go returns it unwrapped
		return true
	}
	return strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "EOF")
}
