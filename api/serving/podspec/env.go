// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/config"
	"weir.dev/pkg/apis"
)

// isReservedEnv says whether the system sets the variable itself.
func isReservedEnv(name string, r role) bool {
	switch name {
	case "K_SERVICE", "K_CONFIGURATION", "K_REVISION":
		return true
	case "PORT":
		return r == servingRole
	}
	return false
}

func (c container) validateEnv() *apis.FieldError {
	var errs *apis.FieldError
	for i := range c.Env {
		errs = errs.Also(c.validateEnvVar(&c.Env[i]).ViaFieldIndex("env", i))
	}
	for i := range c.EnvFrom {
		errs = errs.Also(validateEnvFrom(&c.EnvFrom[i]).ViaFieldIndex("envFrom", i))
	}
	return errs
}

func (c container) validateEnvVar(env *corev1.EnvVar) *apis.FieldError {
	errs := only(env, "name", "value", "valueFrom")
	switch {
	case env.Name == "":
		errs = errs.Also(apis.ErrMissingField("name"))
	case isReservedEnv(env.Name, c.role):
		errs = errs.Also(apis.ErrGeneric(fmt.Sprintf("%q is a reserved environment variable", env.Name), "name"))
	default:
		if msgs := validation.IsRelaxedEnvVarName(env.Name); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(env.Name, "name", joined(msgs)))
		}
	}
	if env.ValueFrom == nil {
		return errs
	}
	if env.Value != "" {
		errs = errs.Also(apis.ErrMultipleOneOf("value", "valueFrom"))
	}
	return errs.Also(c.validateEnvSource(env.ValueFrom).ViaField("valueFrom"))
}

func (c container) validateEnvSource(source *corev1.EnvVarSource) *apis.FieldError {
	allowed := append([]string{"configMapKeyRef", "secretKeyRef"}, open([]gate{
		{"fieldRef", c.features.PodSpecFieldRef},
		{"resourceFieldRef", c.features.PodSpecFieldRef},
	})...)
	errs := only(source, allowed...)
	if errs == nil {
		errs = exactlyOne(setFields(source), allowed...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		errs = errs.Also(required("name", ref.Name, "key", ref.Key).ViaField("configMapKeyRef"))
	}
	if ref := source.SecretKeyRef; ref != nil {
		errs = errs.Also(required("name", ref.Name, "key", ref.Key).ViaField("secretKeyRef"))
	}
	return errs
}

func validateEnvFrom(from *corev1.EnvFromSource) *apis.FieldError {
	var set []string
	errs := only(from, "prefix", "configMapRef", "secretRef")
	if from.Prefix != "" {
		if msgs := validation.IsRelaxedEnvVarName(from.Prefix); len(msgs) > 0 {
			errs = errs.Also(apis.ErrInvalidValue(from.Prefix, "prefix", joined(msgs)))
		}
	}
	if ref := from.ConfigMapRef; ref != nil {
		set = append(set, "configMapRef")
		errs = errs.Also(required("name", ref.Name).ViaField("configMapRef"))
	}
	if ref := from.SecretRef; ref != nil {
		set = append(set, "secretRef")
		errs = errs.Also(required("name", ref.Name).ViaField("secretRef"))
	}
	return errs.Also(exactlyOne(set, "configMapRef", "secretRef"))
}

// required complains about empty values; it takes names and values in turn.
func required(pairs ...string) *apis.FieldError {
	var errs *apis.FieldError
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			errs = errs.Also(apis.ErrMissingField(pairs[i]))
		}
	}
	return errs
}

// mustBe is how a flag is tested that has to be on, not only permitted.
func mustBe(flag config.Flag) bool { return flag == config.Enabled }
