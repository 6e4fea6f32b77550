// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"weir.dev/pkg/kmap"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/kmp"
	"weir.dev/pkg/ptr"
)

type strMap = map[string]string

func TestChildName(t *testing.T) {
	long := strings.Repeat("a", 63)
	tests := map[string]struct{ parent, suffix, want string }{
		"Short":    {"parent", "-suffix", "parent-suffix"},
		"JustFits": {long[:56], "-suffix", long[:56] + "-suffix"},
		// MD5 of 63 times a.
		"TooLong": {long, "-suffix", long[:24] + "b06521f39153d618550606be297466d5" + "-suffix"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := kmeta.ChildName(tc.parent, tc.suffix); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if got := kmeta.ChildName("parent", "-"+long); len(got) > 63 || !strings.HasPrefix(got, "parent") {
		t.Errorf("got %s", got)
	}
}

func TestOwners(t *testing.T) {
	owner := service("owner")
	owner.UID = "uid"
	want := &metav1.OwnerReference{
		APIVersion: "serving.knative.dev/v1", Kind: "Service", Name: "owner", UID: "uid",
		BlockOwnerDeletion: ptr.Bool(true), Controller: ptr.Bool(true),
	}
	if d := cmp.Diff(want, kmeta.NewControllerRef(owner)); d != "" {
		t.Errorf("reference (-want +got):\n%s", d)
	}
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "name"}
	if d := cmp.Diff(ref, kmeta.ObjectReference(pod("name"))); d != "" {
		t.Errorf("object reference (-want +got):\n%s", d)
	}
	for name, tc := range map[string]struct {
		obj interface{}
		ok  bool
	}{
		"Object": {owner, true}, "Tombstone": {cache.DeletedFinalStateUnknown{Obj: owner}, true},
		"Other": {"owner", false}, "OtherTombstone": {cache.DeletedFinalStateUnknown{Obj: 1}, false},
	} {
		accessor, err := kmeta.DeletionHandlingAccessor(tc.obj)
		if (err == nil) != tc.ok || tc.ok && accessor.GetName() != "owner" {
			t.Errorf("%s: %v, %v", name, accessor, err)
		}
	}
}

func TestVersionLabels(t *testing.T) {
	owner := service("owner")
	owner.ResourceVersion, owner.Generation = "7", 3
	later := owner.DeepCopy()
	later.ResourceVersion, later.Generation = "8", 4
	for name, tc := range map[string]struct {
		labels       labels.Set
		current, old labels.Selector
		next         labels.Set
	}{
		"Version":    {kmeta.MakeVersionLabels(owner), kmeta.MakeVersionLabelSelector(owner), kmeta.MakeOldVersionLabelSelector(later), kmeta.MakeVersionLabels(later)},
		"Generation": {kmeta.MakeGenerationLabels(owner), kmeta.MakeGenerationLabelSelector(owner), kmeta.MakeOldGenerationLabelSelector(later), kmeta.MakeGenerationLabels(later)},
	} {
		if !tc.current.Matches(tc.labels) || tc.current.Matches(tc.next) || !tc.old.Matches(tc.labels) || tc.old.Matches(tc.next) {
			t.Errorf("%s: labels %v, selectors %v and %v", name, tc.labels, tc.current, tc.old)
		}
	}
}

func TestMaps(t *testing.T) {
	m := strMap{"a": "1", "b": "2"}
	drop := func(key string) bool { return key == "a" }
	tests := map[string]struct{ got, want strMap }{
		"CopyMap":        {kmeta.CopyMap(m), m},
		"UnionMaps":      {kmeta.UnionMaps(m, strMap{"b": "3"}), strMap{"a": "1", "b": "3"}},
		"FilterMap":      {kmeta.FilterMap(m, drop), strMap{"b": "2"}},
		"Copy":           {kmap.Copy(m), m},
		"CopyNil":        {kmap.Copy[string, string, strMap](nil), strMap{}},
		"Union":          {kmap.Union(m, strMap{"b": "3"}), strMap{"a": "1", "b": "3"}},
		"Filter":         {kmap.Filter(m, drop), strMap{"b": "2"}},
		"ExcludeKeys":    {kmap.ExcludeKeys(m, "b", "c"), strMap{"a": "1"}},
		"ExcludeKeyList": {kmap.ExcludeKeyList(m, []string{"a", "b"}), strMap{}},
	}
	for name, tc := range tests {
		if d := cmp.Diff(tc.want, tc.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	kmap.Copy(m)["a"] = "changed"
	if m["a"] != "1" {
		t.Error("what is copied must not change")
	}
}

func TestKeyPriority(t *testing.T) {
	keys := kmap.KeyPriority{"new", "old", "older"}
	m := strMap{"older": "1", "old": "2"}
	if keys.Key() != "new" || keys.Value(m) != "2" || keys.Value(nil) != "" {
		t.Errorf("key %s, value %s", keys.Key(), keys.Value(m))
	}
	if key, value, ok := keys.Get(m); key != "old" || value != "2" || !ok {
		t.Errorf("Get: %s, %s, %v", key, value, ok)
	}
	keys.UpdateKey(m)
	if m["new"] != "2" || m["old"] != "" {
		t.Errorf("after UpdateKey: %v", m)
	}
	if d := cmp.Diff(strMap{"new": "1", "x": "2"}, kmap.UpdateKeys(strMap{"old": "1", "y": "2"}, keys, kmap.KeyPriority{"x", "y"})); d != "" {
		t.Errorf("UpdateKeys (-want +got):\n%s", d)
	}
}

func TestCompare(t *testing.T) {
	type quantities struct {
		Memory resource.Quantity `json:"memory"`
		Name   string            `json:"name"`
	}
	type hidden struct{ unexported int }
	one := quantities{resource.MustParse("1Gi"), "a"}
	same, other := quantities{resource.MustParse("1024Mi"), "a"}, quantities{resource.MustParse("1Gi"), "b"}
	if equal, err := kmp.SafeEqual(one, same); !equal || err != nil {
		t.Errorf("quantities are compared by value: %v, %v", equal, err)
	}
	if diff, err := kmp.SafeDiff(one, same); diff != "" || err != nil {
		t.Errorf("SafeDiff: %s, %v", diff, err)
	}
	if diff, err := kmp.ShortDiff(one, other); err != nil || !strings.Contains(diff, `"a"`) || strings.Contains(diff, "Gi") {
		t.Errorf("ShortDiff is about what differs alone: %s, %v", diff, err)
	}
	fields, err := kmp.CompareSetFields(one, other)
	if d := cmp.Diff([]string{"name"}, fields); d != "" || err != nil {
		t.Errorf("fields, by their names in JSON (-want +got):\n%s%v", d, err)
	}
	if _, err := kmp.SafeEqual(hidden{unexported: 1}, hidden{unexported: 2}); err == nil {
		t.Error("what cannot be compared is an error, not a panic")
	}
	if _, err := kmp.SafeDiff(hidden{}, hidden{}); err == nil {
		t.Error("what cannot be compared is an error, not a panic")
	}
}

func TestPointers(t *testing.T) {
	now := time.Now()
	if *ptr.Bool(true) != true || *ptr.String("s") != "s" || *ptr.Int32(32) != 32 || *ptr.Int64(64) != 64 ||
		*ptr.Float32(.5) != .5 || *ptr.Float64(.25) != .25 || *ptr.Duration(time.Second) != time.Second || *ptr.Time(now) != now {
		t.Error("a pointer is to what was given")
	}
}
