// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crdgen

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"weir.dev/pkg/apis"
)

type props = apiextensionsv1.JSONSchemaProps

// schemas makes schemas of Go types after a policy.
type schemas struct {
	policy policy
	docs   Docs
}

// object returns the schema of a whole resource.
func (s schemas) object(k Kind) (*props, error) {
	root := &props{
		Type:        "object",
		Description: s.docs.Type(k.Type),
		Properties: map[string]props{
			"apiVersion": {Type: "string", Description: "APIVersion of this representation of the object."},
			"kind":       {Type: "string", Description: "Kind of the object."},
			"metadata":   {Type: "object"},
		},
	}
	for _, name := range []string{"Spec", "Status"} {
		field, ok := k.Type.FieldByName(name)
		if !ok {
			return nil, fmt.Errorf("%s has no %s", k.Type, name)
		}
		schema, err := s.of(field.Type)
		if err != nil {
			return nil, err
		}
		schema.Description = s.docs.Field(k.Type, field)
		if name == "Status" {
			schema.Required = nil
		}
		root.Properties[strings.ToLower(name)] = *schema
	}
	return root, nil
}

// of returns the schema of a type, without a description.
func (s schemas) of(t reflect.Type) (*props, error) {
	if schema := scalar(t); schema != nil {
		return schema, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		items, err := s.of(t.Elem())
		if err != nil {
			return nil, err
		}
		return &props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: items}}, nil
	case reflect.Map:
		values, err := s.of(t.Elem())
		if err != nil {
			return nil, err
		}
		return &props{
			Type:                 "object",
			AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: values},
		}, nil
	case reflect.Struct:
		return s.structure(t)
	default:
		return nil, fmt.Errorf("no schema for %s", t)
	}
}

// scalar returns the schema of types that are one JSON value, else nil.
func scalar(t reflect.Type) *props {
	switch t {
	case reflect.TypeFor[apis.URL]():
		return &props{Type: "string"}
	case reflect.TypeFor[apis.VolatileTime](), reflect.TypeFor[metav1.Time]():
		return &props{Type: "string", Format: "date-time"}
	case reflect.TypeFor[intstr.IntOrString]():
		return intOrString()
	case reflect.TypeFor[resource.Quantity]():
		quantity := intOrString()
		quantity.Pattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
		return quantity
	}
	switch t.Kind() {
	case reflect.String:
		return &props{Type: "string"}
	case reflect.Bool:
		return &props{Type: "boolean"}
	case reflect.Int32:
		return &props{Type: "integer", Format: "int32"}
	case reflect.Int64:
		return &props{Type: "integer", Format: "int64"}
	case reflect.Int:
		return &props{Type: "integer"}
	default:
		return nil
	}
}

func intOrString() *props {
	return &props{
		XIntOrString: true,
		AnyOf:        []props{{Type: "integer"}, {Type: "string"}},
	}
}

// structure returns the schema of a struct.
func (s schemas) structure(t reflect.Type) (*props, error) {
	out := &props{Type: "object", Properties: map[string]props{}}
	if s.policy.open[t] {
		out.XPreserveUnknownFields = ptrTo(true)
	}
	if err := s.fields(t, out); err != nil {
		return nil, err
	}
	slices.Sort(out.Required)
	return out, nil
}

// fields adds the permitted fields of t to out; inlined structs too.
func (s schemas) fields(t reflect.Type, out *props) error {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			if err := s.fields(field.Type, out); err != nil {
				return err
			}
			continue
		}
		if name == "" || name == "-" || !s.policy.allows(t, name) {
			continue
		}
		schema, err := s.field(t, name, field)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out.Properties[name] = *schema
		if !strings.Contains(options, "omitempty") && !s.policy.isOptional(t, name) {
			out.Required = append(out.Required, name)
		}
	}
	return nil
}

func (s schemas) field(t reflect.Type, name string, field reflect.StructField) (*props, error) {
	schema, err := s.content(t, name, field.Type)
	if err != nil {
		return nil, err
	}
	schema.Description = s.docs.Field(t, field)
	if keys := s.policy.listKeys[t][name]; len(keys) > 0 {
		schema.XListType, schema.XListMapKeys = ptrTo("map"), keys
	}
	if def, ok := s.policy.defaults[t][name]; ok {
		schema.Default = &apiextensionsv1.JSON{Raw: []byte(def)}
	}
	return schema, nil
}

// content is the schema of a field's type; of a gated field only its outer
// shape: what is inside is kept for the webhook to judge.
func (s schemas) content(t reflect.Type, name string, ft reflect.Type) (*props, error) {
	if !slices.Contains(s.policy.gated[t], name) {
		return s.of(ft)
	}
	for ft.Kind() == reflect.Pointer {
		ft = ft.Elem()
	}
	anything := &props{Type: "object", XPreserveUnknownFields: ptrTo(true)}
	switch ft.Kind() {
	case reflect.Struct, reflect.Map:
		return anything, nil
	case reflect.Slice:
		if ft.Elem().Kind() == reflect.Struct {
			return &props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: anything}}, nil
		}
	}
	return s.of(ft)
}

func ptrTo[T any](v T) *T { return &v }
