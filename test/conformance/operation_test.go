// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// fourKinds are the resources that the specification describes, with their kinds.
var fourKinds = map[string]string{"services": "Service", "configurations": "Configuration", "routes": "Route", "revisions": "Revision"}

var bothVersions = []string{"v1", "v1beta1"}

// leastSpecs are the smallest specs that are accepted, by resource.
var leastSpecs = map[string]string{
	"services":       `{template: {spec: {containers: [{image: weir.local/hello}]}}}`,
	"configurations": `{template: {spec: {containers: [{image: weir.local/hello}]}}}`,
	"routes":         `{traffic: [{configurationName: app, percent: 100}]}`,
	"revisions":      `{containers: [{image: weir.local/hello}]}`,
}

func resourceOf(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "serving.knative.dev", Version: version, Resource: resource}
}

// object is a serving object of the given metadata and spec, both YAML.
func (s *space) object(version, resource, metadata, spec string) *unstructured.Unstructured {
	s.t.Helper()
	o := &unstructured.Unstructured{}
	text := "apiVersion: serving.knative.dev/" + version + "\nkind: " + fourKinds[resource] + "\nmetadata: " + metadata + "\nspec: " + spec
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		s.t.Fatalf("%v in:\n%s", err, text)
	}
	return o
}

// dynamicAs is a client of any resource, of somebody else, or of the administrator for "".
func (s *space) dynamicAs(user string) dynamic.Interface {
	s.t.Helper()
	cfg := rest.CopyConfig(s.Config)
	if user != "" {
		cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// operation is what somebody tries with an object; nothing comes of it.
type operation struct {
	*space
	client                  dynamic.Interface
	version, resource, name string
}

var (
	dry = []string{metav1.DryRunAll}
	// verbs are all that clients can do.
	verbs = map[string]func(operation) error{
		"get":           func(o operation) error { _, err := o.on().Get(o.ctx, o.name, metav1.GetOptions{}); return err },
		"list":          func(o operation) error { _, err := o.on().List(o.ctx, metav1.ListOptions{}); return err },
		"watch":         operation.watch,
		"create":        operation.create,
		"update":        func(o operation) error { return o.writeBack() },
		"update status": func(o operation) error { return o.writeBack("status") },
		"merge patch":   func(o operation) error { return o.patch(types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`) },
		"JSON patch": func(o operation) error {
			return o.patch(types.JSONPatchType, `[{"op":"add","path":"/metadata/labels","value":{}}]`)
		},
		"apply":            operation.apply,
		"delete":           func(o operation) error { return o.on().Delete(o.ctx, o.name, forced()) },
		"deletecollection": func(o operation) error { return o.on().DeleteCollection(o.ctx, forced(), metav1.ListOptions{}) },
	}
)

func (o operation) on() dynamic.ResourceInterface {
	return o.client.Resource(resourceOf(o.version, o.resource)).Namespace(o.ns)
}

// forced deletes a Revision even while it is routed to.
func forced() metav1.DeleteOptions {
	return metav1.DeleteOptions{DryRun: dry, GracePeriodSeconds: new(int64)}
}

func (o operation) watch() error {
	w, err := o.on().Watch(o.ctx, metav1.ListOptions{})
	if err == nil {
		w.Stop()
	}
	return err
}

func (o operation) create() error {
	_, err := o.on().Create(o.ctx, o.object(o.version, o.resource, "{generateName: new-}", leastSpecs[o.resource]), metav1.CreateOptions{DryRun: dry})
	return err
}

// writeBack updates the object as the administrator sees it, again where somebody else was faster.
func (o operation) writeBack(subresources ...string) error {
	admin := o
	admin.client = o.dynamicAs("")
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have, err := admin.on().Get(o.ctx, o.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, err = o.on().Update(o.ctx, have, metav1.UpdateOptions{DryRun: dry}, subresources...)
		return err
	})
}

func (o operation) patch(kind types.PatchType, patch string) error {
	_, err := o.on().Patch(o.ctx, o.name, kind, []byte(patch), metav1.PatchOptions{DryRun: dry})
	return err
}

func (o operation) apply() error {
	want := o.object(o.version, o.resource, "{name: "+o.name+", labels: {a: b}}", "{}")
	unstructured.RemoveNestedField(want.Object, "spec")
	_, err := o.on().Apply(o.ctx, o.name, want, metav1.ApplyOptions{FieldManager: "somebody", DryRun: dry})
	return err
}
