// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation refuses resources that are wrong at admission.
package validation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// Config is what a Controller needs.
type Config struct {
	// Path is where it is served.
	Path string
	// Kinds are validated; requests for others are refused.
	Kinds resourcesemantics.Kinds
	// Context adds to the context of each request; nil adds nothing.
	Context func(context.Context) context.Context
	// DisallowUnknownFields refuses fields that the Go types do not have.
	DisallowUnknownFields bool
	// Callbacks look at objects that are valid, and at deletions.
	Callbacks []map[schema.GroupVersionKind]Callback
}

// Controller validates resources.
type Controller struct {
	webhook.StatelessAdmissionImpl

	cfg Config
}

var _ webhook.StatelessAdmissionController = (*Controller)(nil)

// New returns a controller.
func New(cfg Config) *Controller {
	if cfg.Context == nil {
		cfg.Context = func(ctx context.Context) context.Context { return ctx }
	}
	return &Controller{cfg: cfg}
}

// Path is where the controller is served.
func (c *Controller) Path() string { return c.cfg.Path }

// Admit refuses objects with errors; warnings go with the answer.
func (c *Controller) Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	switch req.Operation {
	case admissionv1.Create, admissionv1.Update, admissionv1.Delete:
	default:
		return webhook.Allow()
	}
	gvk, kind, ok := c.cfg.Kinds.Of(req)
	if !ok {
		return webhook.MakeErrorStatus("unhandled kind: %v", gvk)
	}
	if !resourcesemantics.Concerns(kind, req) {
		return webhook.Allow()
	}
	old, obj, err := c.decode(req, kind)
	if err != nil {
		return webhook.MakeErrorStatus("decoding request failed: %v", err)
	}
	ctx = resourcesemantics.Context(c.cfg.Context(ctx), req, old)
	problems := problemsOf(ctx, req, obj)
	if sameSpec(old, obj) {
		problems = tolerate(problems)
	}
	if errs := problems.Filter(apis.ErrorLevel); errs != nil {
		return withWarnings(webhook.MakeErrorStatus("validation failed: %v", errs), problems)
	}
	for _, set := range c.cfg.Callbacks {
		if _, err := set[gvk].Call(ctx, req, subject(req)); err != nil {
			return withWarnings(webhook.MakeErrorStatus("validation callback failed: %v", err), problems)
		}
	}
	return withWarnings(webhook.Allow(), problems)
}

func (c *Controller) decode(req *admissionv1.AdmissionRequest, kind resourcesemantics.GenericCRD) (old, obj resourcesemantics.GenericCRD, err error) {
	if obj, err = resourcesemantics.Decode(kind, req.Object.Raw, c.cfg.DisallowUnknownFields); err != nil {
		return nil, nil, fmt.Errorf("cannot decode incoming new object: %w", err)
	}
	if old, err = resourcesemantics.Decode(kind, req.OldObject.Raw, false); err != nil {
		return nil, nil, fmt.Errorf("cannot decode incoming old object: %w", err)
	}
	return old, obj, nil
}

// problemsOf validates an object that will be stored. One on its way out is
// not judged: whoever takes its finalizer off cannot mend it.
func problemsOf(ctx context.Context, req *admissionv1.AdmissionRequest, obj resourcesemantics.GenericCRD) *apis.FieldError {
	if req.Operation == admissionv1.Delete || obj == nil {
		return nil
	}
	if meta, ok := obj.(metav1.Object); ok && meta.GetDeletionTimestamp() != nil {
		return nil
	}
	return obj.Validate(ctx)
}

// sameSpec says that an update leaves the spec as it was stored.
func sameSpec(old, obj resourcesemantics.GenericCRD) bool {
	was, ok := old.(apis.HasSpec)
	is, isOK := obj.(apis.HasSpec)
	return ok && isOK && equality.Semantic.DeepEqual(was.GetUntypedSpec(), is.GetUntypedSpec())
}

// tolerate turns what is wrong with a spec into warnings. A spec that was stored under other rules must not keep anybody from
// taking a label or a finalizer off.
func tolerate(problems *apis.FieldError) *apis.FieldError {
	var out *apis.FieldError
	for _, p := range problems.WrappedErrors() {
		if !slices.ContainsFunc(p.Paths, func(path string) bool { return path != "spec" && !strings.HasPrefix(path, "spec.") }) {
			p = p.At(apis.WarningLevel)
		}
		out = out.Also(p)
	}
	return out
}

// subject is the JSON that callbacks look at.
func subject(req *admissionv1.AdmissionRequest) []byte {
	if req.Operation == admissionv1.Delete {
		return req.OldObject.Raw
	}
	return req.Object.Raw
}

func withWarnings(response *admissionv1.AdmissionResponse, problems *apis.FieldError) *admissionv1.AdmissionResponse {
	if warnings := problems.Filter(apis.WarningLevel); warnings != nil {
		response.Warnings = strings.Split(warnings.Error(), "\n")
	}
	return response
}
