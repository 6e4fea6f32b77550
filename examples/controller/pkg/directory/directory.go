// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package directory lists addresses where people look them up: in one
// ConfigMap. It stands for whatever outside of an object a controller has to
// clean up when the object goes.
package directory

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
)

const (
	// Name is the ConfigMap's name, in the system namespace; it must be there.
	Name = "addresses"
	// Selector selects it among all ConfigMaps.
	Selector = "samples.weir.dev/directory=true"
)

// Directory is the ConfigMap.
type Directory struct {
	// Namespace is the system namespace.
	Namespace string
	// Client writes it.
	Client kubernetes.Interface
	// Lister reads it.
	Lister corev1listers.ConfigMapLister
}

// Put lists an address, unless it is listed already.
func (d *Directory) Put(ctx context.Context, key types.NamespacedName, address string) error {
	return d.set(ctx, key, &address)
}

// Remove takes an address out, if it is listed.
func (d *Directory) Remove(ctx context.Context, key types.NamespacedName) error {
	return d.set(ctx, key, nil)
}

// set patches one entry, so that no two reconciles are in each other's way.
func (d *Directory) set(ctx context.Context, key types.NamespacedName, address *string) error {
	cm, err := d.Lister.ConfigMaps(d.Namespace).Get(Name)
	if err != nil {
		return fmt.Errorf("reading the directory: %w", err)
	}
	entry := key.Namespace + "." + key.Name
	listed, ok := cm.Data[entry]
	if address == nil && !ok || address != nil && ok && listed == *address {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]any{entry: address}})
	if err != nil {
		return fmt.Errorf("encoding the entry of %s: %w", entry, err)
	}
	if _, err := d.Client.CoreV1().ConfigMaps(d.Namespace).Patch(ctx, Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("writing the entry of %s: %w", entry, err)
	}
	return nil
}
