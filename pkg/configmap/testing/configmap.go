// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package testing reads the ConfigMaps of a repository's manifests in tests.
package testing

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/configmap"
)

// ConfigMapFromTestFile reads testdata/<name>.yaml. Besides keys named in
// allowed (and the example) it must hold none.
func ConfigMapFromTestFile(t testing.TB, name string, allowed ...string) *corev1.ConfigMap {
	t.Helper()
	cm, _ := ConfigMapsFromTestFile(t, name, allowed...)
	return cm
}

// ConfigMapsFromTestFile is ConfigMapFromTestFile and, second, the ConfigMap
// that the example block describes.
func ConfigMapsFromTestFile(t testing.TB, name string, allowed ...string) (*corev1.ConfigMap, *corev1.ConfigMap) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatalf("reading the ConfigMap: %v", err)
	}
	var real corev1.ConfigMap
	if err := yaml.Unmarshal(content, &real); err != nil {
		t.Fatalf("parsing the ConfigMap: %v", err)
	}
	checkKeys(t, &real, allowed)

	example := real.DeepCopy()
	example.Data = nil
	if err := yaml.Unmarshal([]byte(real.Data[configmap.ExampleKey]), &example.Data); err != nil {
		t.Fatalf("parsing the example of %s: %v", name, err)
	}
	delete(real.Data, configmap.ExampleKey)
	return &real, example
}

func checkKeys(t testing.TB, cm *corev1.ConfigMap, allowed []string) {
	t.Helper()
	ok := map[string]bool{configmap.ExampleKey: true}
	for _, key := range allowed {
		ok[key] = true
	}
	for key := range cm.Data {
		if !ok[key] {
			t.Errorf("ConfigMap %s has the key %q, which is not allowed here", cm.Name, key)
		}
	}
}
