// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// fieldManager owns, in the API server's bookkeeping, the fields that a standalone Weir sets: what a person adds to the
// same objects stays, what Weir no longer sets goes.
const fieldManager = "weir"

// applier writes objects by server-side apply.
type applier struct {
	client dynamic.Interface
}

func newApplier(cfg *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("dynamic client: %w", err)
	}
	return &applier{client: client}, nil
}

// resources are the kinds that apply knows; a mapper would ask the API server for what is a fact.
var resources = map[string]schema.GroupVersionResource{
	"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"Namespace":                {Version: "v1", Resource: "namespaces"},
	"ConfigMap":                {Version: "v1", Resource: "configmaps"},
	"Service":                  {Version: "v1", Resource: "services"},
	"ServiceAccount":           {Version: "v1", Resource: "serviceaccounts"},
	"EndpointSlice":            {Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	"ClusterRole":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding":       {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"Role":                     {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
}

// apply writes the objects in their order. Only the fields given are touched.
func (a *applier) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		gvr, ok := resources[o.GetKind()]
		if !ok {
			return fmt.Errorf("apply %s %q: unknown kind", o.GetKind(), o.GetName())
		}
		_, err := a.client.Resource(gvr).Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o,
			metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if err != nil {
			return fmt.Errorf("apply %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// createMissing writes an object unless there is one of its name, whatever that holds. It asks before it writes: a write would
// be refused while the webhook that guards the kind is registered but not up.
func (a *applier) createMissing(ctx context.Context, o *unstructured.Unstructured) error {
	client := a.client.Resource(resources[o.GetKind()]).Namespace(o.GetNamespace())
	_, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, o, metav1.CreateOptions{FieldManager: fieldManager})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %q: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// setKey sets one key of a ConfigMap, and drops the one that it set before; nothing is written if that is so already.
func (a *applier) setKey(ctx context.Context, configMap, key, value string) error {
	client := a.client.Resource(resources["ConfigMap"]).Namespace(systemNamespace)
	o, err := client.Get(ctx, configMap, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ConfigMap %q: %w", configMap, err)
	}
	got, found, err := unstructured.NestedString(o.Object, "data", key)
	if err == nil && found && got == value && slices.Equal(ownKeys(o), []string{key}) {
		return nil
	}
	return a.apply(ctx, named("v1", "ConfigMap", systemNamespace, configMap, map[string]any{
		"data": map[string]any{key: value},
	}))
}

// ownKeys are the keys of a ConfigMap that were applied by us, as the API server remembers.
func ownKeys(configMap *unstructured.Unstructured) (keys []string) {
	for _, m := range configMap.GetManagedFields() {
		if m.Manager != fieldManager || m.Operation != metav1.ManagedFieldsOperationApply || m.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Data map[string]any `json:"f:data"`
		}
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err != nil {
			return nil // then it is applied anew
		}
		for name := range fields.Data {
			if key, ok := strings.CutPrefix(name, "f:"); ok {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// applyCRDs writes the definitions and returns when the API server serves all of them.
func (a *applier) applyCRDs(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			return fmt.Errorf("encode CRD %q: %w", crd.Name, err)
		}
		delete(raw, "status")
		o := &unstructured.Unstructured{Object: raw}
		o.SetAPIVersion("apiextensions.k8s.io/v1")
		o.SetKind("CustomResourceDefinition")
		if err := a.apply(ctx, o); err != nil {
			return err
		}
	}
	for _, crd := range crds {
		if err := a.established(ctx, crd.Name); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) established(ctx context.Context, name string) error {
	client := a.client.Resource(resources["CustomResourceDefinition"])
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		o, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return false, err
		}
		since := establishedSince(crd.Status.Conditions)
		if since == nil {
			return false, nil
		}
		return true, a.endSettling(ctx, o, since)
	})
	if err != nil {
		return fmt.Errorf("CRD %q is not established: %w", name, err)
	}
	return nil
}

// establishedSince returns the time of the Established condition, nil while it is not True.
func establishedSince(conditions []apiextensionsv1.CustomResourceDefinitionCondition) *metav1.Time {
	for i := range conditions {
		if c := &conditions[i]; c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			return &c.LastTransitionTime
		}
	}
	return nil
}

// settling is how long after a CRD is established the API server delays the creation of its objects, each by as much, lest
// another API server does not know the CRD yet (apiextensions-apiserver, crdHandler.serveResource).
const settling = 2 * time.Second

// endSettling dates the Established condition back to that time before the CRD's creation: this API server is alone.
func (a *applier) endSettling(ctx context.Context, crd *unstructured.Unstructured, since *metav1.Time) error {
	settled := metav1.NewTime(crd.GetCreationTimestamp().Add(-settling))
	if !settled.Before(since) {
		return nil
	}
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return fmt.Errorf("read conditions: %w", err)
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == string(apiextensionsv1.Established) {
			c["lastTransitionTime"] = settled.UTC().Format(time.RFC3339)
		}
	}
	if err := unstructured.SetNestedSlice(crd.Object, conditions, "status", "conditions"); err != nil {
		return fmt.Errorf("set conditions: %w", err)
	}
	_, err = a.client.Resource(resources["CustomResourceDefinition"]).UpdateStatus(ctx, crd, metav1.UpdateOptions{FieldManager: fieldManager})
	if apierrors.IsConflict(err) {
		return nil // somebody wrote in between: the first objects wait, no more
	}
	return err
}

// named builds an object to apply; fields are its other top-level members.
func named(apiVersion, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for k, v := range fields {
		o.Object[k] = v
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	if namespace != "" {
		o.SetNamespace(namespace)
	}
	return o
}
