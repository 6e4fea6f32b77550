// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/kmeta"
)

// Filter tells whether an event handler wants an object of an informer, which
// may be the tombstone of a deleted one.
type Filter = func(obj any) bool

func onMeta(matches func(kmeta.Accessor) bool) Filter {
	return func(obj any) bool {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		accessor, ok := obj.(kmeta.Accessor)
		return ok && matches(accessor)
	}
}

func byValue(values func(kmeta.Accessor) map[string]string, key, value string, allowUnset bool) Filter {
	return onMeta(func(a kmeta.Accessor) bool {
		have, ok := values(a)[key]
		if !ok {
			return allowUnset
		}
		return have == value
	})
}

// AnnotationFilterFunc wants objects whose annotation key is value, and with
// allowUnset those that do not have it.
func AnnotationFilterFunc(key, value string, allowUnset bool) Filter {
	return byValue(kmeta.Accessor.GetAnnotations, key, value, allowUnset)
}

// LabelFilterFunc wants objects whose label key is value, and with allowUnset
// those that do not have it.
func LabelFilterFunc(key, value string, allowUnset bool) Filter {
	return byValue(kmeta.Accessor.GetLabels, key, value, allowUnset)
}

// LabelExistsFilterFunc wants objects that have the label.
func LabelExistsFilterFunc(label string) Filter {
	return onMeta(func(a kmeta.Accessor) bool {
		_, ok := a.GetLabels()[label]
		return ok
	})
}

// NameFilterFunc wants objects of that name.
func NameFilterFunc(name string) Filter {
	return onMeta(func(a kmeta.Accessor) bool { return a.GetName() == name })
}

// NamespaceFilterFunc wants objects of that namespace.
func NamespaceFilterFunc(namespace string) Filter {
	return onMeta(func(a kmeta.Accessor) bool { return a.GetNamespace() == namespace })
}

// Not wants what f does not.
func Not(f Filter) Filter {
	return func(obj any) bool { return !f(obj) }
}

// Or wants what any of filters wants.
func Or(filters ...Filter) Filter {
	return func(obj any) bool {
		for _, f := range filters {
			if f(obj) {
				return true
			}
		}
		return false
	}
}

// ChainFilterFuncs wants what all of filters want.
func ChainFilterFuncs(filters ...Filter) Filter {
	return func(obj any) bool {
		for _, f := range filters {
			if !f(obj) {
				return false
			}
		}
		return true
	}
}
