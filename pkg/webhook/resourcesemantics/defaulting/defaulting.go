// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package defaulting fills in resources at admission.
package defaulting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/apis/duck"
	"weir.dev/pkg/webhook"
	"weir.dev/pkg/webhook/resourcesemantics"
)

// Config is what a Controller needs.
type Config struct {
	// Path is where it is served.
	Path string
	// Kinds are defaulted; requests for others are refused.
	Kinds resourcesemantics.Kinds
	// Context adds to the context of each request, for example settings; nil
	// adds nothing.
	Context func(context.Context) context.Context
	// DisallowUnknownFields refuses fields that the Go types do not have. The
	// API server's schemas do so already where users ask for it.
	DisallowUnknownFields bool
	// Callbacks change objects after their own defaults.
	Callbacks []map[schema.GroupVersionKind]Callback
}

// Controller defaults resources.
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

// Admit patches the object to what it is with its defaults.
func (c *Controller) Admit(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if req.Operation != admissionv1.Create && req.Operation != admissionv1.Update {
		return webhook.Allow()
	}
	gvk, kind, ok := c.cfg.Kinds.Of(req)
	if !ok {
		return webhook.MakeErrorStatus("unhandled kind: %v", gvk)
	}
	if !resourcesemantics.Concerns(kind, req) {
		return webhook.Allow()
	}
	patch, err := c.patch(c.cfg.Context(ctx), req, gvk, kind)
	if mistyped := (*json.UnmarshalTypeError)(nil); errors.As(err, &mistyped) {
		// The API server's schema speaks next, and names the field's path; validation refuses what passes that.
		return webhook.Allow()
	}
	if err != nil {
		return webhook.MakeErrorStatus("mutation failed: %v", err)
	}
	response := webhook.Allow()
	patchType := admissionv1.PatchTypeJSONPatch
	response.Patch, response.PatchType = patch, &patchType
	return response
}

func (c *Controller) patch(ctx context.Context, req *admissionv1.AdmissionRequest, gvk schema.GroupVersionKind, kind resourcesemantics.GenericCRD) ([]byte, error) {
	obj, err := resourcesemantics.Decode(kind, req.Object.Raw, c.cfg.DisallowUnknownFields)
	if err != nil {
		return nil, fmt.Errorf("cannot decode incoming new object: %w", err)
	}
	if obj == nil {
		return nil, errors.New("the request has no object")
	}
	old, err := resourcesemantics.Decode(kind, req.OldObject.Raw, false)
	if err != nil {
		return nil, fmt.Errorf("cannot decode incoming old object: %w", err)
	}
	ctx = resourcesemantics.Context(ctx, req, old)
	obj.SetDefaults(ctx)
	setUserInfo(ctx, req, obj, old)

	defaulted, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("cannot marshal the defaulted object: %w", err)
	}
	for _, set := range c.cfg.Callbacks {
		if defaulted, err = call(ctx, set[gvk], req, defaulted); err != nil {
			return nil, err
		}
	}
	patch, err := duck.CreateBytePatch(req.Object.Raw, defaulted)
	if err != nil {
		return nil, err
	}
	return json.Marshal(patch)
}

// call returns the object as the callback leaves it.
func call(ctx context.Context, callback Callback, req *admissionv1.AdmissionRequest, object []byte) ([]byte, error) {
	changed, err := callback.Call(ctx, req, object)
	if err != nil {
		return nil, fmt.Errorf("callback failed: %w", err)
	}
	if changed == nil {
		return object, nil
	}
	if object, err = json.Marshal(changed.Object); err != nil {
		return nil, fmt.Errorf("cannot marshal the object of the callback: %w", err)
	}
	return object, nil
}
