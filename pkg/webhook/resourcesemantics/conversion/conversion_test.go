// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	apixv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/webhook/resourcesemantics/conversion"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub is version v2 of a kind: a length in millimetres.
type hub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Length            int `json:"length"`
}

func (*hub) ConvertTo(context.Context, apis.Convertible) error   { return errors.New("not the hub") }
func (*hub) ConvertFrom(context.Context, apis.Convertible) error { return errors.New("not the hub") }
func (h *hub) DeepCopyObject() runtime.Object                    { out := *h; return &out }

// spoke is another version: a length in other units, and too long at 1000.
type spoke struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Units             int `json:"units"`
	size              int
}

func (s *spoke) ConvertTo(_ context.Context, to apis.Convertible) error {
	if s.Units >= 1000 {
		return errors.New("too long")
	}
	h, ok := to.(*hub)
	if !ok {
		return fmt.Errorf("got a %T", to)
	}
	h.ObjectMeta, h.Length = s.ObjectMeta, s.Units*s.size
	return nil
}

func (s *spoke) ConvertFrom(ctx context.Context, from apis.Convertible) error {
	h, ok := from.(*hub)
	if !ok {
		return fmt.Errorf("got a %T", from)
	}
	s.ObjectMeta, s.Units = h.ObjectMeta, h.Length/s.size
	s.Labels = map[string]string{"by": ctx.Value(byKey{}).(string)}
	return nil
}

func (s *spoke) DeepCopyObject() runtime.Object { out := *s; return &out }

type byKey struct{}

func wrap(ctx context.Context) context.Context { return context.WithValue(ctx, byKey{}, "us") }

var rods = map[schema.GroupKind]conversion.GroupKindConversion{
	{Group: "test.weir.dev", Kind: "Rod"}: {
		DefinitionName: "rods.test.weir.dev", HubVersion: "v2",
		Zygotes: map[string]conversion.ConvertibleObject{"v1": &spoke{size: 10}, "v2": &hub{}, "v3": &spoke{size: 100}},
	},
	{Group: "test.weir.dev", Kind: "Hubless"}: {
		DefinitionName: "hubless.test.weir.dev", HubVersion: "v2",
		Zygotes: map[string]conversion.ConvertibleObject{"v1": &spoke{size: 1}, "v3": &spoke{size: 1}},
	},
}

func rod(version, fields string) string {
	return fmt.Sprintf(`{"apiVersion":"test.weir.dev/%s","kind":"Rod","metadata":{"name":"x"},%s}`, version, fields)
}

func TestConvert(t *testing.T) {
	tests := map[string]struct {
		reason  string
		desired string
		objects []string
		want    []string
		failure string // the message; "" for none
	}{
		"ToHub":      {"a version knows how", "v2", []string{rod("v1", `"units":7`)}, []string{rod("v2", `"length":70`)}, ""},
		"FromHub":    {"so it does here", "v1", []string{rod("v2", `"length":70`)}, []string{`{"kind":"Rod","apiVersion":"test.weir.dev/v1","metadata":{"name":"x","labels":{"by":"us"}},"units":7}`}, ""},
		"ThroughHub": {"versions do not know each other", "v3", []string{rod("v1", `"units":70`)}, []string{`{"kind":"Rod","apiVersion":"test.weir.dev/v3","metadata":{"name":"x","labels":{"by":"us"}},"units":7}`}, ""},
		"Same":       {"there is nothing to do, not even to fields that are not known", "v1", []string{rod("v1", `"other":1`)}, []string{rod("v1", `"other":1`)}, ""},
		"Several":    {"in their order", "v2", []string{rod("v1", `"units":1`), rod("v3", `"units":1`)}, []string{rod("v2", `"length":10`), rod("v2", `"length":100`)}, ""},
		"None":       {"nothing becomes nothing", "v2", nil, nil, ""},
		"Failing": {
			"all or nothing", "v2", []string{rod("v1", `"units":1`), rod("v1", `"units":1000`)}, nil,
			"conversion failed: object 1: test.weir.dev/v1, Kind=Rod to test.weir.dev/v2: to the hub, v2: too long",
		},
		"UnknownKind": {
			"nobody said how", "v2", []string{`{"apiVersion":"test.weir.dev/v1","kind":"Pipe"}`}, nil,
			"conversion failed: object 0: there is no conversion of test.weir.dev/v1, Kind=Pipe to test.weir.dev/v2",
		},
		"UnknownVersion":   {"nor here", "v9", []string{rod("v2", `"length":1`)}, nil, `conversion failed: object 0: test.weir.dev/v2, Kind=Rod to test.weir.dev/v9: rods.test.weir.dev has no version "v9"`},
		"UnknownOrigin":    {"nor here", "v2", []string{rod("v9", `"length":1`)}, nil, `conversion failed: object 0: rods.test.weir.dev has no version "v9"`},
		"NoHub":            {"a mistake in the program is told", "v1", []string{`{"apiVersion":"test.weir.dev/v3","kind":"Hubless"}`}, nil, `conversion failed: object 0: test.weir.dev/v3, Kind=Hubless to test.weir.dev/v1: hubless.test.weir.dev has no version "v2"`},
		"Junk":             {"it is no object", "v2", []string{`7`}, nil, "conversion failed: object 0: read its kind: json: cannot unmarshal number into Go value of type v1.TypeMeta"},
		"JunkInside":       {"it is no rod", "v2", []string{rod("v1", `"units":"x"`)}, nil, "conversion failed: object 0: read an object of version v1: json: cannot unmarshal string into Go struct field spoke.units of type int"},
		"DesiredIsNoGroup": {"it means nothing", "v1/x", []string{rod("v1", `"units":1`)}, nil, "conversion failed: object 0: desired version: unexpected GroupVersion string: test.weir.dev/v1/x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			req := &apixv1.ConversionRequest{UID: "the-uid", DesiredAPIVersion: "test.weir.dev/" + tc.desired}
			for _, object := range tc.objects {
				req.Objects = append(req.Objects, runtime.RawExtension{Raw: []byte(object)})
			}
			got := conversion.New("/convert", rods, wrap).Convert(t.Context(), req)
			if got.UID != "the-uid" || (got.Result.Status == metav1.StatusSuccess) != (tc.failure == "") || got.Result.Message != tc.failure {
				t.Errorf("%s: got %+v", tc.reason, got.Result)
			}
			if diff := cmp.Diff(parse(t, tc.want), parsed(t, got.ConvertedObjects)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func parsed(t *testing.T, objects []runtime.RawExtension) []any {
	t.Helper()
	var texts []string
	for _, object := range objects {
		texts = append(texts, string(object.Raw))
	}
	return parse(t, texts)
}

func parse(t *testing.T, texts []string) []any {
	t.Helper()
	var out []any
	for _, text := range texts {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(rod("v1", `"units":7`)), "test.weir.dev/v3")
	f.Add([]byte(`{"apiVersion":"//","kind":"Rod"}`), "/")
	f.Add([]byte(`null`), "")
	converter := conversion.New("/convert", rods, wrap)
	f.Fuzz(func(t *testing.T, object []byte, desired string) {
		got := converter.Convert(t.Context(), &apixv1.ConversionRequest{
			DesiredAPIVersion: desired, Objects: []runtime.RawExtension{{Raw: object}},
		})
		if got.Result.Status != metav1.StatusSuccess {
			if got.Result.Message == "" || len(got.ConvertedObjects) != 0 {
				t.Fatalf("a failure says why, and gives nothing: %+v", got)
			}
			return
		}
		var meta metav1.TypeMeta
		if err := json.Unmarshal(got.ConvertedObjects[0].Raw, &meta); err != nil || meta.GroupVersionKind().GroupVersion().String() != desired {
			t.Fatalf("want an object of %s: %v: %s", desired, err, got.ConvertedObjects[0].Raw)
		}
	})
}
