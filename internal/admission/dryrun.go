// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	settings "weir.dev/internal/controlplane/config"
	"weir.dev/internal/controlplane/revision/workload"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/kmeta"
	"weir.dev/pkg/webhook/resourcesemantics/validation"
)

// rehearsal finds out, when somebody asks what would happen (a dry run from
// the server's side), whether the API server would take the pods of a template:
// quotas, limits, pod security and other people's webhooks speak up only then.
type rehearsal struct {
	pods     corev1.PodsGetter
	settings func() *settings.Deployment
}

// callbacks are for what people write: a Configuration of a Service's is only
// written by the Service's reconciler.
func (r rehearsal) callbacks() map[schema.GroupVersionKind]validation.Callback {
	out := map[schema.GroupVersionKind]validation.Callback{}
	for _, kind := range []string{"Service", "Configuration"} {
		out[servingv1.SchemeGroupVersion.WithKind(kind)] = validation.NewCallback(r.try, admissionv1.Create, admissionv1.Update)
	}
	return out
}

// try makes a pod of the object's template, without effect.
func (r rehearsal) try(ctx context.Context, obj *unstructured.Unstructured) error {
	_, owned := obj.GetLabels()[serving.ServiceLabelKey]
	if !apis.IsDryRun(ctx) || apis.IsInStatusUpdate(ctx) || owned {
		return nil
	}
	config := &servingv1.Configuration{} // a Service's template is in the same place
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, config); err != nil {
		return fmt.Errorf("decode for the dry run: %w", err)
	}
	pod := workload.Pod(revisionOf(config), workload.Settings{Deployment: r.settings()})
	pod.GenerateName = "dry-run-validation"
	_, err := r.pods.Pods(obj.GetNamespace()).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || strings.Contains(err.Error(), "does not support dry run") {
		return nil // a webhook that cannot be asked says neither yes nor no
	}
	return apis.ErrGeneric(fmt.Sprintf("dry run failed with %v", err), "spec.template")
}

// revisionOf is the Revision that config would make.
func revisionOf(config *servingv1.Configuration) *servingv1.Revision {
	name := config.Spec.Template.Name
	if name == "" {
		name = kmeta.ChildName(config.Name, "-00001")
	}
	rev := &servingv1.Revision{ObjectMeta: *config.Spec.Template.ObjectMeta.DeepCopy(), Spec: config.Spec.Template.Spec}
	rev.Namespace, rev.Name = config.Namespace, name
	rev.Labels = map[string]string{serving.ConfigurationLabelKey: config.Name}
	for key, value := range config.Spec.Template.Labels {
		rev.Labels[key] = value
	}
	return rev
}
