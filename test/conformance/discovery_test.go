// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What kubectl knows of the kinds: short names, categories, subresources.
func TestDiscovery(t *testing.T) {
	s := newSpace(t)
	short := map[string][]string{
		"services": {"kservice", "ksvc"}, "configurations": {"config", "cfg"}, "routes": {"rt"}, "revisions": {"rev"},
	}
	for _, version := range bothVersions {
		list, err := s.Kube.Discovery().ServerResourcesForGroupVersion("serving.knative.dev/" + version)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]metav1.APIResource{}
		for _, r := range list.APIResources {
			byName[r.Name] = r
		}
		for resource, kind := range fourKinds {
			got := byName[resource]
			if got.Kind != kind || !got.Namespaced || !slices.Equal(got.ShortNames, short[resource]) ||
				!slices.Equal(got.Categories, []string{"all", "knative", "serving"}) {
				t.Errorf("%s %s: %+v", version, resource, got)
			}
			if _, ok := byName[resource+"/status"]; !ok {
				t.Errorf("%s %s has no status subresource", version, resource)
			}
		}
		if want := 2 * len(fourKinds); len(byName) != want {
			t.Errorf("%s has %d resources, want %d: %v", version, len(byName), want, byName)
		}
	}
}

// What kubectl get prints.
func TestPrintedColumns(t *testing.T) {
	s := newSpace(t)
	svc := s.deploy(hello("app"))
	revision, url := svc.Status.LatestReadyRevisionName, svc.Status.URL.String()
	want := map[string][]string{
		"services/app":          {"Name=app", "URL=" + url, "LatestCreated=" + revision, "LatestReady=" + revision, "Ready=True", "Reason="},
		"configurations/app":    {"Name=app", "LatestCreated=" + revision, "LatestReady=" + revision, "Ready=True", "Reason="},
		"routes/app":            {"Name=app", "URL=" + url, "Ready=True", "Reason="},
		"revisions/" + revision: {"Name=" + revision, "Config Name=app", "Generation=1", "Ready=True", "Reason=", "Actual Replicas=1", "Desired Replicas=1"},
	}
	for _, version := range bothVersions {
		for path, cells := range want {
			s.eventually("columns of "+path, func() (bool, error) {
				got := s.printed(version, path)
				if diff := cmp.Diff(cells, got); diff != "" {
					return false, fmt.Errorf("%s (-want +got):\n%s", version, diff)
				}
				return true, nil
			})
		}
	}
}

// printed are the cells of an object as the API server prints it, but for the age.
func (s *space) printed(version, path string) []string {
	s.t.Helper()
	raw, err := s.Kube.Discovery().RESTClient().Get().
		AbsPath("/apis/serving.knative.dev", version, "namespaces", s.ns, path).
		SetHeader("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").DoRaw(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		s.t.Fatal(err)
	}
	var cells []string
	for i, column := range table.ColumnDefinitions {
		cell := table.Rows[0].Cells[i]
		if cell == nil {
			cell = ""
		}
		cells = append(cells, fmt.Sprintf("%s=%v", column.Name, cell))
	}
	return slices.DeleteFunc(cells, func(c string) bool { return strings.HasPrefix(c, "Age=") })
}

// explained is what this test needs of an OpenAPI schema.
type explained struct {
	Description string
	Properties  map[string]explained
	Items       *explained
	AllOf       []explained
}

// What kubectl explain prints: every field of spec and status says what it is.
func TestExplanations(t *testing.T) {
	s := newSpace(t)
	for _, version := range bothVersions {
		raw, err := s.Kube.Discovery().RESTClient().Get().AbsPath("/openapi/v3/apis/serving.knative.dev", version).DoRaw(s.ctx)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Components struct{ Schemas map[string]explained }
		}
		if err := json.Unmarshal(raw, &document); err != nil {
			t.Fatal(err)
		}
		for _, kind := range fourKinds {
			root := document.Components.Schemas["dev.knative.serving."+version+"."+kind]
			if len(root.Properties) != 5 || root.Description == "" {
				t.Errorf("%s %s: %q, %d fields, want five", version, kind, root.Description, len(root.Properties))
			}
			for _, part := range []string{"spec", "status"} {
				if silent := root.Properties[part].silent(part); len(silent) > 0 {
					t.Errorf("%s %s does not explain %v", version, kind, silent)
				}
			}
		}
	}
}

// silent lists the fields at and below path that say nothing of themselves.
func (s explained) silent(path string) []string {
	var paths []string
	if s.Description == "" {
		paths = append(paths, path)
	}
	for name, p := range s.Properties {
		paths = append(paths, p.silent(path+"."+name)...)
	}
	if s.Items != nil {
		for name, p := range s.Items.Properties {
			paths = append(paths, p.silent(path+"[]."+name)...)
		}
	}
	return paths
}
