// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"weir.dev/pkg/apis"
)

// install applies the manifests of the example in the order of their names.
func install(ctx context.Context, client dynamic.Interface) error {
	files, err := filepath.Glob("../config/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := apply(ctx, client, file); err != nil {
			return fmt.Errorf("applying %s: %w", file, err)
		}
	}
	return nil
}

// apply does what kubectl apply --server-side does.
func apply(ctx context.Context, client dynamic.Interface, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		o := &unstructured.Unstructured{}
		switch err := documents.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case o.Object == nil:
			continue
		}
		resource := client.Resource(apis.KindToResource(o.GroupVersionKind()))
		if _, err := resource.Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
}
