// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package system says where the process runs: its namespace and its pod.
package system

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	// NamespaceEnvKey is the environment variable of the system namespace.
	NamespaceEnvKey = "SYSTEM_NAMESPACE"
	// ResourceLabelEnvKey is the environment variable of the label that
	// ConfigMaps must carry to be watched.
	ResourceLabelEnvKey = "SYSTEM_RESOURCE_LABEL"
)

// Namespace is the namespace of the system's own objects, from the environment.
// It panics without one: a guessed namespace would make every ConfigMap and
// lease look absent.
func Namespace() string {
	if ns := os.Getenv(NamespaceEnvKey); ns != "" {
		return ns
	}
	panic(fmt.Sprintf("the environment variable %q is not set: it must name the system namespace "+
		"(in a pod: valueFrom.fieldRef metadata.namespace; in a test: import weir.dev/pkg/system/testing)", NamespaceEnvKey))
}

type namespaceKey struct{}

// WithNamespace returns a context of another system namespace than the
// environment's, for processes that hold several systems.
func WithNamespace(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, namespaceKey{}, namespace)
}

// NamespaceOf is the system namespace of ctx, by default Namespace().
func NamespaceOf(ctx context.Context) string {
	if namespace, ok := ctx.Value(namespaceKey{}).(string); ok {
		return namespace
	}
	return Namespace()
}

// ResourceLabel is the label that ConfigMaps must carry to be watched; empty means all are.
func ResourceLabel() string { return os.Getenv(ResourceLabelEnvKey) }

// PodName is the name of this pod, from POD_NAME, else HOSTNAME; it panics without either.
func PodName() string {
	for _, key := range []string{"POD_NAME", "HOSTNAME"} {
		if name := os.Getenv(key); name != "" {
			return name
		}
	}
	panic("neither POD_NAME nor HOSTNAME is set")
}

// Clock tells the time; tests replace it.
type Clock interface{ Now() time.Time }

// RealClock is the machine's clock.
type RealClock struct{}

// Now is time.Now.
func (RealClock) Now() time.Time { return time.Now() }
