// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package configmaps refuses ConfigMaps that their readers could not parse.
package configmaps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"weir.dev/pkg/configmap"
	"weir.dev/pkg/webhook"
)

// Controller validates ConfigMaps.
type Controller struct {
	webhook.StatelessAdmissionImpl

	path string
	// parsers by the ConfigMap's name: several parts of a system may read the
	// same one.
	parsers map[string][]reflect.Value
	// warn may be nil.
	warn func(*corev1.ConfigMap) []string
}

var _ webhook.StatelessAdmissionController = (*Controller)(nil)

// New returns a controller for the ConfigMaps that have a constructor.
func New(path string, constructors ...configmap.Constructors) (*Controller, error) {
	c := &Controller{path: path, parsers: map[string][]reflect.Value{}}
	for _, set := range constructors {
		for name, constructor := range set {
			if err := configmap.ValidateConstructor(constructor); err != nil {
				return nil, fmt.Errorf("parser of ConfigMap %q: %w", name, err)
			}
			c.parsers[name] = append(c.parsers[name], reflect.ValueOf(constructor))
		}
	}
	return c, nil
}

// WithWarnings has the writer of a ConfigMap that is admitted told what warn says
// of it, such as that a key has no effect.
func (c *Controller) WithWarnings(warn func(*corev1.ConfigMap) []string) *Controller {
	c.warn = warn
	return c
}

// Path is where the controller is served.
func (c *Controller) Path() string { return c.path }

// Admit refuses a ConfigMap that does not parse; ones that nobody reads pass.
func (c *Controller) Admit(_ context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if req.Operation != admissionv1.Create && req.Operation != admissionv1.Update {
		return webhook.Allow()
	}
	cm := &corev1.ConfigMap{}
	if err := json.Unmarshal(req.Object.Raw, cm); err != nil {
		return webhook.MakeErrorStatus("decoding request failed: cannot decode incoming ConfigMap: %v", err)
	}
	response := webhook.Allow()
	if err := errors.Join(checkExample(cm), c.parse(cm)); err != nil {
		if fresh := beyond(err, c.before(req)); fresh != "" {
			return webhook.MakeErrorStatus("validation failed: %s", fresh)
		}
		// A change of one key is not held up by another that was stored under other rules.
		response.Warnings = strings.Split(err.Error(), "\n")
	}
	if c.warn != nil {
		response.Warnings = append(response.Warnings, c.warn(cm)...)
	}
	return response
}

// before is what is wrong with the ConfigMap as it is stored; nil at its creation.
func (c *Controller) before(req *admissionv1.AdmissionRequest) error {
	cm := &corev1.ConfigMap{}
	if req.Operation != admissionv1.Update || json.Unmarshal(req.OldObject.Raw, cm) != nil {
		return nil
	}
	return errors.Join(checkExample(cm), c.parse(cm))
}

// beyond returns the lines of err that known does not have.
func beyond(err, known error) string {
	if known == nil {
		return err.Error()
	}
	old := strings.Split(known.Error(), "\n")
	lines := slices.DeleteFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return slices.Contains(old, line) })
	return strings.Join(lines, "\n")
}

func (c *Controller) parse(cm *corev1.ConfigMap) error {
	var errs []error
	for _, parser := range c.parsers[cm.Name] {
		results := parser.Call([]reflect.Value{reflect.ValueOf(cm)})
		if err, ok := results[1].Interface().(error); ok {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// checkExample refuses changes of the example, which has no effect: whoever
// makes one means the settings themselves.
func checkExample(cm *corev1.ConfigMap) error {
	example, hasExample := cm.Data[configmap.ExampleKey]
	checksum, hasChecksum := cm.Annotations[configmap.ExampleChecksumAnnotation]
	if !hasExample || !hasChecksum || configmap.Checksum(example) == checksum {
		return nil
	}
	return errors.New(`the update modifies a key in "_example" which is probably not what you want. ` +
		`Instead, copy the respective setting to the top-level of the ConfigMap, directly below "data"`)
}
