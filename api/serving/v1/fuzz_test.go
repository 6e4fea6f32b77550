// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/apis"
)

// stored is a kind that users write.
type stored interface {
	apis.Defaultable
	apis.Validatable
	runtime.Object
	metav1.Object
}

// kindsToFuzz are all of them, empty.
func kindsToFuzz() []stored {
	return []stored{&Service{}, &Configuration{}, &Revision{}, &Route{}}
}

// FuzzAdmission does with any JSON what admission does with it: whatever comes
// in, nothing panics, defaults are set once and for all, what they make of a
// valid object is valid, and an object survives being stored.
func FuzzAdmission(f *testing.F) {
	for _, manifest := range []string{
		goodService,
		"spec: {template: {spec: {containers: null}}}",
		"spec: {template: {metadata: {name: app-x, annotations: {autoscaling.knative.dev/min-scale: '-1'}}, spec: {containers: [{image: a}, {image: b, ports: [{containerPort: 80}]}]}}}",
		"spec: {traffic: [{latestRevision: true, percent: 50, tag: a}, {revisionName: app-00001, percent: 50}]}",
		"spec: {containers: [{image: a, readinessProbe: {httpGet: {path: /}, periodSeconds: 0}}], volumes: [{name: v, projected: {sources: [{secret: {name: s}}]}}]}",
		"metadata: {annotations: {serving.knative.dev/rollout-duration: 1500ms}}\nspec: {traffic: [{configurationName: app, percent: -7}]}",
	} {
		raw, err := yaml.YAMLToJSON([]byte(manifest))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, o := range kindsToFuzz() {
			if err := json.Unmarshal(raw, o); err == nil {
				admit(t, o)
			}
		}
	})
}

func admit(t *testing.T, o stored) {
	t.Helper()
	ctx := apis.WithinCreate(context.Background())
	before := o.Validate(ctx).Filter(apis.ErrorLevel)
	o.SetDefaults(ctx)
	again := o.DeepCopyObject().(stored)
	again.SetDefaults(ctx)
	if !equality.Semantic.DeepEqual(o, again) {
		t.Errorf("defaults set twice differ:\n%s\n%s", encode(t, o), encode(t, again))
	}
	after := o.Validate(ctx).Filter(apis.ErrorLevel)
	if before == nil && after != nil {
		t.Errorf("defaults made a valid object invalid: %v\n%s", after, encode(t, o))
	}
	back := o.DeepCopyObject().(stored)
	if err := json.Unmarshal(encode(t, o), back); err != nil {
		t.Errorf("what was stored cannot be read: %v", err)
	}
	if after == nil && back.Validate(ctx).Filter(apis.ErrorLevel) != nil {
		t.Errorf("what was stored is no longer valid: %v", back.Validate(ctx))
	}
}

func encode(t *testing.T, o any) []byte {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
