// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"weir.dev/pkg/apis/duck"
	duckv1 "weir.dev/pkg/apis/duck/v1"
	"weir.dev/pkg/controller"
	"weir.dev/pkg/logging"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/registration"
)

// admission binds subjects as they are written, and keeps registered which
// kinds they are of.
type admission struct {
	*registration.Mutating

	path        string
	listAll     ListAll
	withContext BindableContext

	index   atomic.Pointer[index]
	once    sync.Once
	indexed chan struct{} // closed once there is an index
}

var _ webhook.AdmissionController = (*admission)(nil)

// NewAdmissionController returns a controller that binds at path, and keeps the
// MutatingWebhookConfiguration of that name, which is installed already, asking
// for the kinds of the subjects that there are. withContext may be nil.
func NewAdmissionController(
	ctx context.Context, name, path string,
	gla GetListAll, withContext BindableContext,
	opts ...ReconcilerOption,
) *controller.Impl {
	o := options{selector: ExclusionSelector}
	for _, opt := range opts {
		opt(&o)
	}
	a := &admission{path: path, withContext: withContext, indexed: make(chan struct{})}
	a.Mutating = registration.NewMutating(ctx, name, path, func(hook registration.Hook) {
		*hook.Rules = a.index.Load().rules
		*hook.NamespaceSelector = o.choose(*hook.NamespaceSelector)
		*hook.ObjectSelector = o.choose(*hook.ObjectSelector)
	})
	impl := registration.NewImpl(ctx, a, "BindingWebhook")
	a.Watch(impl)
	a.listAll = gla(ctx, controller.HandleAll(impl.EnqueueSentinel(types.NamespacedName{Name: name})))
	return impl
}

// Path is where the controller is served.
func (a *admission) Path() string { return a.path }

// Reconcile takes the bindings in, on every replica, and keeps the registration.
func (a *admission) Reconcile(ctx context.Context, name string) error {
	bindings, err := a.listAll()
	if err != nil {
		return fmt.Errorf("list bindings: %w", err)
	}
	ix, invalid := newIndex(bindings)
	for _, b := range invalid {
		logging.FromContext(ctx).Errorw("The binding's selector is invalid", "namespace", b.GetNamespace(), "name", b.GetName())
	}
	a.index.Store(ix)
	a.once.Do(func() { close(a.indexed) })
	return a.Mutating.Reconcile(ctx, name)
}

// Admit binds a subject.
func (a *admission) Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if (req.Operation != admissionv1.Create && req.Operation != admissionv1.Update) || req.SubResource != "" {
		return webhook.Allow()
	}
	select {
	case <-a.indexed:
	case <-ctx.Done():
		return webhook.MakeErrorStatus("the bindings are not known yet")
	}
	subject := &duckv1.WithPod{}
	if err := json.Unmarshal(req.Object.Raw, subject); err != nil {
		return webhook.MakeErrorStatus("decoding request failed: cannot decode incoming new object: %v", err)
	}
	bound := subject.DeepCopy()
	at := place{kind: schema.GroupKind{Group: req.Kind.Group, Kind: req.Kind.Kind}, namespace: req.Namespace, name: subject.Name}
	for _, b := range a.index.Load().of(at, labels.Set(subject.Labels)) {
		if err := bind(ctx, b, a.withContext, bound); err != nil {
			return webhook.MakeErrorStatus("binding to %s %s/%s failed: %v", b.GetGroupVersionKind().Kind, b.GetNamespace(), b.GetName(), err)
		}
	}
	return patchResponse(subject, bound)
}

// bind does what the binding is for; one that is being deleted takes it back.
func bind(ctx context.Context, b Bindable, withContext BindableContext, subject *duckv1.WithPod) error {
	if withContext != nil {
		wrapped, err := withContext(ctx, b)
		if err == nil {
			ctx = wrapped
		} else if b.GetDeletionTimestamp() == nil {
			return err
		}
	}
	if b.GetDeletionTimestamp() != nil {
		b.Undo(ctx, subject)
	} else {
		b.Do(ctx, subject)
	}
	return nil
}

func patchResponse(before, after *duckv1.WithPod) *admissionv1.AdmissionResponse {
	patch, err := duck.CreatePatch(before, after)
	if err != nil {
		return webhook.MakeErrorStatus("mutation failed: %v", err)
	}
	response := webhook.Allow()
	if len(patch) == 0 {
		return response
	}
	if response.Patch, err = json.Marshal(patch); err != nil {
		return webhook.MakeErrorStatus("mutation failed: %v", err)
	}
	patchType := admissionv1.PatchTypeJSONPatch
	response.PatchType = &patchType
	return response
}
