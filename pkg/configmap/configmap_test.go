// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

type values struct {
	S    string
	B    bool
	I    int
	I16  int16
	U32  uint32
	U64  uint64
	U64S uint32 // of AsUint64
	F    float64
	D    time.Duration
	Q    *resource.Quantity
	Set  sets.Set[string]
	NN   types.NamespacedName
	Opt  *types.NamespacedName
	Tail map[string]string
}

func parse(data map[string]string) (values, error) {
	v := values{S: "default", D: time.Minute}
	err := Parse(data,
		AsString("s", &v.S), AsBool("b", &v.B), AsInt("i", &v.I), AsInt16("i16", &v.I16), AsUint32("u32", &v.U32),
		AsUint64("u64", &v.U64), AsUint64("u64s", &v.U64S),
		AsFloat64("f", &v.F), AsDuration("d", &v.D), AsQuantity("q", &v.Q), AsStringSet("set", &v.Set),
		AsNamespacedName("nn", &v.NN), AsOptionalNamespacedName("opt", &v.Opt), CollectMapEntriesWithPrefix("p", &v.Tail))
	return v, err
}

func TestParse(t *testing.T) {
	q := resource.MustParse("100m")
	tests := map[string]struct {
		reason  string
		data    map[string]string
		want    values
		wantErr string
	}{
		"Absent": {reason: "defaults stay", want: values{S: "default", D: time.Minute}},
		"All": {
			reason: "every type",
			data: map[string]string{
				"s": " x ", "b": "true", "i": "-1", "i16": "16", "u32": "32", "u64": "6000000000", "u64s": "64", "f": "1.5", "d": "2s", "q": "100m",
				"set": "a, b", "nn": "ns/name", "opt": "o/p", "p.a.b": "c", "p": "no", "other": "no",
			},
			want: values{
				S: "x", B: true, I: -1, I16: 16, U32: 32, U64: 6_000_000_000, U64S: 64, F: 1.5, D: 2 * time.Second, Q: &q, Set: sets.New("a", "b"),
				NN: types.NamespacedName{Namespace: "ns", Name: "name"}, Opt: &types.NamespacedName{Namespace: "o", Name: "p"},
				Tail: map[string]string{"a.b": "c"},
			},
		},
		"TooLarge":    {reason: "the type's range holds", data: map[string]string{"i16": "40000"}, wantErr: `"i16"`},
		"TargetSize":  {reason: "a smaller target has a smaller range", data: map[string]string{"u64s": "6000000000"}, wantErr: `"u64s"`},
		"Negative":    {reason: "the type's sign holds", data: map[string]string{"u32": "-1"}, wantErr: `"u32"`},
		"SpaceNumber": {reason: "only strings are trimmed", data: map[string]string{"i": " 1"}, wantErr: `"i"`},
		"NoSlash":     {reason: "a name needs its namespace", data: map[string]string{"nn": "name"}, wantErr: `"nn"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tc.data)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s: error is %v, want one that names %s", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

func newCM(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func duration(cm *corev1.ConfigMap) (time.Duration, error) { return time.ParseDuration(cm.Data["d"]) }

func TestStore(t *testing.T) {
	var stored []any
	s := NewUntypedStore("test", zap.NewNop().Sugar(), Constructors{"c": duration},
		func(_ string, value any) { stored = append(stored, value) })
	if s.UntypedLoad("c") != nil || s.UntypedLoad("unknown") != nil {
		t.Error("there is a value before there was a ConfigMap")
	}
	s.WatchConfigs(NewStaticWatcher(newCM("c", map[string]string{"d": "1s"})))
	s.OnConfigChanged(newCM("c", map[string]string{"d": "nonsense"}))
	s.OnConfigChanged(newCM("unknown", nil))
	if got := s.UntypedLoad("c"); got != time.Second {
		t.Errorf("value is %v, want the last good one", got)
	}
	s.OnConfigChanged(newCM("c", map[string]string{"d": "2s"}))
	if d := cmp.Diff([]any{time.Second, 2 * time.Second}, stored); d != "" {
		t.Errorf("onAfterStore got (-want +got):\n%s", d)
	}
}

func TestStoreRefusesBadFirstValue(t *testing.T) {
	defer func() {
		var initial *InitialError
		if err, _ := recover().(error); !errors.As(err, &initial) || initial.ConfigMap != "c" {
			t.Errorf("panicked with %v, want an InitialError that names c", err)
		}
	}()
	s := NewUntypedStore("test", zap.NewNop().Sugar(), Constructors{"c": duration})
	s.OnConfigChanged(newCM("c", map[string]string{"d": "nonsense"}))
}

func TestValidateConstructor(t *testing.T) {
	for name, c := range map[string]any{
		"nil": nil, "no function": 1, "no error": func(*corev1.ConfigMap) int { return 0 },
		"wrong input": func(string) (int, error) { return 0, nil },
	} {
		if ValidateConstructor(c) == nil {
			t.Errorf("%s is valid", name)
		}
	}
	if err := ValidateConstructor(duration); err != nil {
		t.Errorf("ValidateConstructor: %v", err)
	}
}

func TestTypeFilter(t *testing.T) {
	var got []any
	f := TypeFilter(0, "")(func(_ string, value any) { got = append(got, value) })
	for _, v := range []any{1, "a", 1.5, &got} {
		f("name", v)
	}
	if d := cmp.Diff([]any{1, "a"}, got); d != "" {
		t.Errorf("passed (-want +got):\n%s", d)
	}
}

func TestWatchers(t *testing.T) {
	var got []string
	observe := func(cm *corev1.ConfigMap) { got = append(got, cm.Name+"="+cm.Data["k"]) }
	static := NewStaticWatcher(newCM("a", map[string]string{"k": "1"}))
	static.Watch("a", observe)
	static.WatchWithDefault(*newCM("a", map[string]string{"k": "default"}), observe)
	static.WatchWithDefault(*newCM("b", map[string]string{"k": "default"}), observe)
	manual := &ManualWatcher{Namespace: "ns"}
	manual.Watch("c", observe)
	cm := newCM("c", map[string]string{"k": "2"})
	manual.OnChange(cm) // of another namespace
	cm.Namespace = "ns"
	manual.OnChange(cm)
	if d := cmp.Diff([]string{"a=1", "a=1", "b=default", "c=2"}, got); d != "" {
		t.Errorf("deliveries (-want +got):\n%s", d)
	}
	defer func() {
		if recover() == nil {
			t.Error("watching an unknown name did not panic")
		}
	}()
	static.Watch("unknown", observe)
}

func TestChecksum(t *testing.T) {
	// crc32 of the bytes a \ n b, with the backslash and the n as two characters.
	if one, two := Checksum("\na\n\n\nb  "), Checksum(`a\nb`); one != two || one != "9fbadef3" {
		t.Errorf("Checksum = %q and %q", one, two)
	}
}

func TestLoad(t *testing.T) {
	// As the kubelet mounts it: keys are links into a directory of two dots.
	dir := t.TempDir()
	for _, f := range []func() error{
		func() error { return os.Mkdir(filepath.Join(dir, "..2024"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(dir, "..2024", "key"), []byte("value"), 0o644) },
		func() error { return os.Symlink("..2024", filepath.Join(dir, "..data")) },
		func() error { return os.Symlink("..data/key", filepath.Join(dir, "key")) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if d := cmp.Diff(map[string]string{"key": "value"}, got); d != "" {
		t.Errorf("Load (-want +got):\n%s", d)
	}
}
