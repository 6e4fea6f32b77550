// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ParseFunc reads one value of a ConfigMap's data into its target. A key that
// is absent leaves the target as it is, so that defaults are set beforehand.
type ParseFunc func(data map[string]string) error

// Parse applies the parsers in order and stops at the first error.
func Parse(data map[string]string, parsers ...ParseFunc) error {
	for _, parse := range parsers {
		if err := parse(data); err != nil {
			return err
		}
	}
	return nil
}

// as makes a ParseFunc of a conversion; its error names the key.
func as[T any](key string, target *T, convert func(string) (T, error)) ParseFunc {
	return func(data map[string]string) error {
		raw, ok := data[key]
		if !ok {
			return nil
		}
		value, err := convert(raw)
		if err != nil {
			return fmt.Errorf("failed to parse %q: %w", key, err)
		}
		*target = value
		return nil
	}
}

// AsFunc reads key with a conversion of the caller's.
func AsFunc[T any](key string, target *T, convert func(string) (T, error)) ParseFunc {
	return as(key, target, convert)
}

type signed interface {
	~int | ~int16 | ~int32 | ~int64
}

type unsigned interface{ ~uint16 | ~uint32 | ~uint64 }

func asSigned[T signed](key string, target *T, bits int) ParseFunc {
	return as(key, target, func(s string) (T, error) {
		v, err := strconv.ParseInt(s, 10, bits)
		return T(v), err
	})
}

func asUnsigned[T unsigned](key string, target *T, bits int) ParseFunc {
	return as(key, target, func(s string) (T, error) {
		v, err := strconv.ParseUint(s, 10, bits)
		return T(v), err
	})
}

// AsString reads key without its surrounding space.
func AsString(key string, target *string) ParseFunc {
	return as(key, target, func(s string) (string, error) { return strings.TrimSpace(s), nil })
}

// AsBool reads key as a boolean.
func AsBool(key string, target *bool) ParseFunc { return as(key, target, strconv.ParseBool) }

// AsInt reads key as a decimal integer.
func AsInt(key string, target *int) ParseFunc { return asSigned(key, target, strconv.IntSize) }

// AsInt16 reads key as a decimal integer of 16 bits.
func AsInt16(key string, target *int16) ParseFunc { return asSigned(key, target, 16) }

// AsInt32 reads key as a decimal integer of 32 bits.
func AsInt32(key string, target *int32) ParseFunc { return asSigned(key, target, 32) }

// AsInt64 reads key as a decimal integer of 64 bits.
func AsInt64(key string, target *int64) ParseFunc { return asSigned(key, target, 64) }

// AsUint16 reads key as a decimal natural number of 16 bits.
func AsUint16(key string, target *uint16) ParseFunc { return asUnsigned(key, target, 16) }

// AsUint32 reads key as a decimal natural number of 32 bits.
func AsUint32(key string, target *uint32) ParseFunc { return asUnsigned(key, target, 32) }

// AsUint64 reads key as a decimal natural number of as many bits as its target
// has: the kit's callers have targets of either size.
func AsUint64[T uint32 | uint64](key string, target *T) ParseFunc {
	return asUnsigned(key, target, bits.Len64(uint64(^T(0))))
}

// AsFloat64 reads key as a number.
func AsFloat64(key string, target *float64) ParseFunc {
	return as(key, target, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

// AsDuration reads key as a Go duration.
func AsDuration(key string, target *time.Duration) ParseFunc {
	return as(key, target, time.ParseDuration)
}

// AsQuantity reads key as a Kubernetes quantity.
func AsQuantity(key string, target **resource.Quantity) ParseFunc {
	return as(key, target, func(s string) (*resource.Quantity, error) {
		q, err := resource.ParseQuantity(s)
		return &q, err
	})
}

// AsStringSet reads key as a set separated by commas, each without surrounding space.
func AsStringSet(key string, target *sets.Set[string]) ParseFunc {
	return as(key, target, func(s string) (sets.Set[string], error) {
		set := sets.New[string]()
		for _, member := range strings.Split(s, ",") {
			set.Insert(strings.TrimSpace(member))
		}
		return set, nil
	})
}

// AsNamespacedName reads key as namespace/name.
func AsNamespacedName(key string, target *types.NamespacedName) ParseFunc {
	return as(key, target, parseNamespacedName)
}

// AsOptionalNamespacedName reads key as namespace/name into a new value; the
// target stays nil when the key is absent.
func AsOptionalNamespacedName(key string, target **types.NamespacedName) ParseFunc {
	return as(key, target, func(s string) (*types.NamespacedName, error) {
		nn, err := parseNamespacedName(s)
		return &nn, err
	})
}

func parseNamespacedName(s string) (types.NamespacedName, error) {
	namespace, name, ok := strings.Cut(s, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return types.NamespacedName{}, fmt.Errorf("%q is not of the form namespace/name", s)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// CollectMapEntriesWithPrefix puts every entry whose key is prefix.<rest> into
// the target, under <rest>. The target is created when nil and there is any.
func CollectMapEntriesWithPrefix(prefix string, target *map[string]string) ParseFunc {
	return func(data map[string]string) error {
		for key, value := range data {
			rest, ok := strings.CutPrefix(key, prefix+".")
			if !ok || rest == "" {
				continue
			}
			if *target == nil {
				*target = make(map[string]string, 1)
			}
			(*target)[rest] = value
		}
		return nil
	}
}
