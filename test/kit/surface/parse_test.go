// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"weir.dev/pkg/configmap"
)

// values are of every type that a ConfigMap's may be read as.
type values struct {
	String   string
	Bool     bool
	Int      int
	Int16    int16
	Int32    int32
	Int64    int64
	Uint16   uint16
	Uint32   uint32
	Uint64   uint32 // as AsUint64's target is elsewhere
	Large    uint64
	Float    float64
	Duration time.Duration
	Quantity *resource.Quantity
	Set      sets.Set[string]
	Name     types.NamespacedName
	Optional *types.NamespacedName
	Prefixed map[string]string
}

func (v *values) parse(data map[string]string) error {
	return configmap.Parse(data,
		configmap.AsString("string", &v.String),
		configmap.AsBool("bool", &v.Bool),
		configmap.AsInt("int", &v.Int),
		configmap.AsInt16("int16", &v.Int16),
		configmap.AsInt32("int32", &v.Int32),
		configmap.AsInt64("int64", &v.Int64),
		configmap.AsUint16("uint16", &v.Uint16),
		configmap.AsUint32("uint32", &v.Uint32),
		configmap.AsUint64("uint64", &v.Uint64),
		configmap.AsUint64("large", &v.Large),
		configmap.AsFloat64("float", &v.Float),
		configmap.AsDuration("duration", &v.Duration),
		configmap.AsQuantity("quantity", &v.Quantity),
		configmap.AsStringSet("set", &v.Set),
		configmap.AsNamespacedName("name", &v.Name),
		configmap.AsOptionalNamespacedName("optional", &v.Optional),
		configmap.CollectMapEntriesWithPrefix("prefix", &v.Prefixed),
	)
}

func TestParse(t *testing.T) {
	quantity, optional := resource.MustParse("100m"), types.NamespacedName{Namespace: "ns", Name: "optional"}
	want := values{
		String: "text", Bool: true, Int: -1, Int16: -16, Int32: -32, Int64: -64, Uint16: 16, Uint32: 32, Uint64: 64,
		Large: 1 << 40, Float: 1.5, Duration: time.Minute, Quantity: &quantity, Set: sets.New("a", "b"),
		Name: types.NamespacedName{Namespace: "ns", Name: "name"}, Optional: &optional, Prefixed: map[string]string{"x.y": "z"},
	}
	var got values
	err := got.parse(map[string]string{
		"string": " text ", "bool": "true", "int": "-1", "int16": "-16", "int32": "-32", "int64": "-64",
		"uint16": "16", "uint32": "32", "uint64": "64", "large": "1099511627776", "float": "1.5", "duration": "1m",
		"quantity": "100m", "set": "b, a", "name": "ns/name", "optional": "ns/optional", "prefix.x.y": "z",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	if err := got.parse(nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("absent keys leave their targets (-want +got):\n%s", d)
	}
}

func TestParseErrors(t *testing.T) {
	for key, value := range map[string]string{
		"int": "1.5", "int16": "32768", "int32": "2147483648", "int64": "x", "uint16": "-1", "uint32": "4294967296",
		"uint64": "4294967296", "float": "x", "duration": "1", "quantity": "x", "name": "name", "optional": "a/b/c",
	} {
		if err := new(values).parse(map[string]string{key: value}); err == nil {
			t.Errorf("%s: %q passes", key, value)
		}
	}
}
