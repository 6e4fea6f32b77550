// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package codegen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// doc is the source with the markers of a whole group.
func doc(group string) string {
	return fmt.Sprintf("// +k8s:deepcopy-gen=package\n// +groupName=%s.example.com\n\n// Package v1 has the types of a group.\npackage v1\n", group)
}

// types is the source of a group's API types.
func types(group string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

// SchemeGroupVersion is the group and version of the types.
var SchemeGroupVersion = schema.GroupVersion{Group: "%[1]s.example.com", Version: "v1"}

// AddToScheme adds the types to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}

// Resource returns the resource of the group.
func Resource(name string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(name).GroupResource()
}
`, group)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		b.WriteString(strings.NewReplacer("KIND", kind, "MARKERS", kinds[kind], "STATUS", statusOf(kind)).Replace(kindSource))
		if kind != "Bare" {
			b.WriteString(strings.ReplaceAll(shapedSource, "KIND", kind))
		}
	}
	return b.String()
}

func statusOf(kind string) string {
	if kind == "Bare" {
		return ""
	}
	return "Status duckv1.Status `json:\"status,omitempty\"`"
}

const kindSource = `
// KIND is a kind.
MARKERS
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type KIND struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec              KINDSpec ` + "`json:\"spec,omitempty\"`" + `
	STATUS
}

// KINDSpec is what is wanted.
type KINDSpec struct {
	Size int ` + "`json:\"size,omitempty\"`" + `
}

// KINDList is a list.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type KINDList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []KIND ` + "`json:\"items\"`" + `
}
`

const shapedSource = `
// GetStatus implements duckv1.KRShaped.
func (o *KIND) GetStatus() *duckv1.Status { return &o.Status }

// GetConditionSet implements duckv1.KRShaped.
func (*KIND) GetConditionSet() apis.ConditionSet { return apis.NewLivingConditionSet() }
`

// uses is a source that needs what the generated code needs, so that tidying
// before it is there keeps the modules.
func uses() string {
	var b strings.Builder
	b.WriteString("package apis\n\nimport (\n")
	for _, pkg := range []string{
		"k8s.io/client-go/discovery/fake", "k8s.io/client-go/testing", "k8s.io/client-go/util/flowcontrol",
		"weir.dev/pkg/client/injection/kube/client", "weir.dev/pkg/reconciler/engine", "weir.dev/pkg/reconciler/generic",
	} {
		fmt.Fprintf(&b, "\t_ %q\n", pkg)
	}
	b.WriteString(")\n")
	return b.String()
}
