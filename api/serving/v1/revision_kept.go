// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// keep fills in what the template leaves to the defaults as it is stored. A
// template with a name that stays must be the same as before: a manifest that
// says the same as before must pass, whatever today's defaults are. What is
// given is left as it is.
func (rt *RevisionTemplateSpec) keep(ctx context.Context, stored *RevisionTemplateSpec) {
	open := rt.DeepCopy()
	open.SetDefaults(config.ToContext(apis.WithinCreate(ctx), everyDefault()))
	filled := fill(fieldsOf(rt), fieldsOf(open), fieldsOf(stored))
	*rt = RevisionTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(filled.(map[string]any), rt); err != nil {
		panic(fmt.Sprintf("serving: fields of a template are none: %v", err)) // they came from one
	}
}

// fieldsOf is a template without its type.
func fieldsOf(rt *RevisionTemplateSpec) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(rt)
	if err != nil {
		panic(fmt.Sprintf("serving: a template has no fields: %v", err)) // our own types always have
	}
	return fields
}

// everyDefault are settings that default all that can be defaulted; the values
// do not matter.
func everyDefault() *config.Config {
	one := resource.MustParse("1")
	on := true
	return &config.Config{
		Defaults: &config.Defaults{
			RevisionTimeoutSeconds: 2, RevisionResponseStartTimeoutSeconds: 1, RevisionIdleTimeoutSeconds: 1,
			ContainerNameTemplate: "c", InitContainerNameTemplate: "i", ContainerConcurrency: 1, EnableServiceLinks: &on,
			RevisionCPURequest: &one, RevisionMemoryRequest: &one, RevisionEphemeralStorageRequest: &one,
			RevisionCPULimit: &one, RevisionMemoryLimit: &one, RevisionEphemeralStorageLimit: &one,
		},
		Features: &config.Features{SecurePodDefaults: config.Enabled},
	}
}

// fill returns given with what differs in defaulted as it is in stored. Lists
// are compared item by item where they have the same length.
func fill(given, defaulted, stored any) any {
	switch defaulted := defaulted.(type) {
	case map[string]any:
		return fillMap(given, defaulted, stored)
	case []any:
		items, ok := given.([]any)
		was, _ := stored.([]any)
		switch {
		case len(defaulted) == 0:
			return given
		case !ok:
			return stored
		case len(items) != len(defaulted) || len(items) != len(was):
			return given
		}
		out := make([]any, len(items))
		for i := range items {
			out[i] = fill(items[i], defaulted[i], was[i])
		}
		return out
	default:
		if given == defaulted {
			return given
		}
		return stored
	}
}

func fillMap(given any, defaulted map[string]any, stored any) any {
	fields, ok := given.(map[string]any)
	was, _ := stored.(map[string]any)
	out := maps.Clone(fields)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range defaulted {
		if filled := fill(fields[key], value, was[key]); filled != nil {
			out[key] = filled
		} else {
			delete(out, key)
		}
	}
	if !ok && len(out) == 0 {
		return nil
	}
	return out
}
