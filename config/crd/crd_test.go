// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"weir.dev/config/crd"
	"weir.dev/internal/crdgen"
)

// maxJSON leaves room for kubectl apply, which keeps a copy of an object in an
// annotation; all annotations together may have 262,144 bytes.
const maxJSON = 150_000

func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := crd.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, c := range crds {
		byName[c.Name] = c
	}
	return byName
}

func TestSizes(t *testing.T) {
	for name, c := range definitions(t) {
		body, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(body) >= maxJSON {
			t.Errorf("%s has %d bytes of JSON, want fewer than %d", name, len(body), maxJSON)
		}
		t.Logf("%s: %d bytes", name, len(body))
	}
}

func TestFilesAreWhatTheTypesSay(t *testing.T) {
	docs, err := crdgen.LoadDocs("../..", crdgen.Packages()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range crdgen.Kinds() {
		want, err := crdgen.Definition(kind, docs)
		if err != nil {
			t.Fatal(err)
		}
		wantFile, err := crdgen.YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile(crd.Files(), kind.FileName())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(wantFile), string(got)); diff != "" {
			t.Errorf("%s is out of date, run make generate (-want +got):\n%s", kind.FileName(), diff)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, kind := range []string{"services", "configurations", "revisions", "routes"} {
		c := definitions(t)[kind+".serving.knative.dev"]
		if c == nil {
			t.Fatalf("no definition of %s", kind)
		}
		v1, beta := c.Spec.Versions[0], c.Spec.Versions[1]
		if v1.Name != "v1" || !v1.Storage || !v1.Served || beta.Name != "v1beta1" || beta.Storage || !beta.Served {
			t.Errorf("%s: want v1 stored and v1beta1 served", kind)
		}
		if diff := cmp.Diff(v1.Schema, beta.Schema); diff != "" {
			t.Errorf("%s: the versions differ:\n%s", kind, diff)
		}
		if v1.Subresources.Status == nil || v1.Subresources.Scale != nil {
			t.Errorf("%s: want the status subresource only", kind)
		}
	}
}

// TestStructural asks the API server's own code whether it can prune by the
// schemas.
func TestStructural(t *testing.T) {
	for name, c := range definitions(t) {
		for _, version := range c.Spec.Versions {
			var internal apiextensions.JSONSchemaProps
			err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
				version.Schema.OpenAPIV3Schema, &internal, nil)
			if err != nil {
				t.Fatal(err)
			}
			structural, err := schema.NewStructural(&internal)
			if err != nil {
				t.Fatalf("%s %s: %v", name, version.Name, err)
			}
			if errs := schema.ValidateStructural(field.NewPath("schema"), structural); len(errs) > 0 {
				t.Errorf("%s %s: %v", name, version.Name, errs.ToAggregate())
			}
		}
	}
}

// TestPodSchema holds what the schema says about fields that are gated, not
// ours, or optional against Kubernetes' own rules.
func TestPodSchema(t *testing.T) {
	type props = apiextensionsv1.JSONSchemaProps
	spec := definitions(t)["revisions.serving.knative.dev"].Spec.Versions[0].
		Schema.OpenAPIV3Schema.Properties["spec"]
	container := *spec.Properties["containers"].Items.Schema
	port := *container.Properties["ports"].Items.Schema
	anything := func(p props) bool { return p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields }

	tests := map[string]struct {
		reason string
		ok     bool
	}{
		"only containers are required":      {"facts 1.3", cmp.Equal(spec.Required, []string{"containers"})},
		"container needs no field":          {"facts 1.3", len(container.Required) == 0},
		"port needs no field":               {"facts 1.3", len(port.Required) == 0},
		"protocol has a default":            {"facts 1.3", string(port.Properties["protocol"].Default.Raw) == `"TCP"`},
		"affinity keeps anything":           {"the webhook judges it by a flag", anything(spec.Properties["affinity"])},
		"init containers keep anything":     {"the webhook judges them by a flag", anything(*spec.Properties["initContainers"].Items.Schema)},
		"host network is a scalar":          {"the webhook judges it by a flag", spec.Properties["hostNetwork"].Type == "boolean"},
		"lifecycle is pruned":               {"the system owns it", container.Properties["lifecycle"].Type == ""},
		"host port is pruned":               {"pods do not own the machine's ports", port.Properties["hostPort"].Type == ""},
		"node name is pruned":               {"the scheduler owns it", spec.Properties["nodeName"].Type == ""},
		"probe grace period is pruned":      {"facts 1.3", container.Properties["livenessProbe"].Properties["terminationGracePeriodSeconds"].Type == ""},
		"concurrency is there":              {"it is inlined beside the pod", spec.Properties["containerConcurrency"].Format == "int64"},
		"env is a map by name":              {"facts 1.3", cmp.Equal(container.Properties["env"].XListMapKeys, []string{"name"})},
		"mounts are a map by path":          {"facts 1.3", cmp.Equal(container.Properties["volumeMounts"].XListMapKeys, []string{"mountPath"})},
		"volumes are a map by name":         {"facts 1.3", cmp.Equal(spec.Properties["volumes"].XListMapKeys, []string{"name"})},
		"emptyDir keeps anything":           {"the webhook judges it by a flag", anything(spec.Properties["volumes"].Items.Schema.Properties["emptyDir"])},
		"limits are quantities":             {"numbers and strings are both written", container.Properties["resources"].Properties["limits"].AdditionalProperties.Schema.XIntOrString},
		"every description is one sentence": {"the size", oneLine(spec)},
	}
	for name, tc := range tests {
		if !tc.ok {
			t.Errorf("%s: does not hold (%s)", name, tc.reason)
		}
	}
}

func oneLine(p apiextensionsv1.JSONSchemaProps) bool {
	if len(p.Description) > 400 {
		return false
	}
	for _, child := range p.Properties {
		if !oneLine(child) {
			return false
		}
	}
	return p.Items == nil || oneLine(*p.Items.Schema)
}
