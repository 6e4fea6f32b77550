// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package resourcesemantics

import (
	"cmp"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"weir.dev/pkg/apis"
)

// Rules are what a webhook for the kinds asks the API server for: some
// operations on the objects and their statuses, where the kinds do not limit
// that. They are in a fixed order.
func (k Kinds) Rules(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	var rules []admissionregistrationv1.RuleWithOperations
	for gvk, kind := range k {
		if rule := ruleOf(gvk, kind, operations); len(rule.Operations) > 0 && len(rule.Resources) > 0 {
			rules = append(rules, rule)
		}
	}
	slices.SortFunc(rules, func(a, b admissionregistrationv1.RuleWithOperations) int {
		return cmp.Or(
			cmp.Compare(a.APIGroups[0], b.APIGroups[0]),
			cmp.Compare(a.APIVersions[0], b.APIVersions[0]),
			cmp.Compare(a.Resources[0], b.Resources[0]),
		)
	})
	return rules
}

func ruleOf(gvk schema.GroupVersionKind, kind GenericCRD, operations []admissionregistrationv1.OperationType) admissionregistrationv1.RuleWithOperations {
	all := admissionregistrationv1.AllScopes
	return admissionregistrationv1.RuleWithOperations{
		Operations: supported(kind, operations),
		Rule: admissionregistrationv1.Rule{
			APIGroups:   []string{gvk.Group},
			APIVersions: []string{gvk.Version},
			Resources:   resourcesOf(apis.KindToResource(gvk).Resource, kind),
			Scope:       &all,
		},
	}
}

// supported are the operations that the kind does not exclude.
func supported(kind GenericCRD, operations []admissionregistrationv1.OperationType) []admissionregistrationv1.OperationType {
	limited, ok := kind.(VerbLimited)
	if !ok {
		return operations
	}
	verbs := limited.SupportedVerbs()
	return slices.DeleteFunc(slices.Clone(operations), func(o admissionregistrationv1.OperationType) bool {
		return !slices.Contains(verbs, admissionv1.Operation(o))
	})
}

func resourcesOf(plural string, kind GenericCRD) []string {
	limited, ok := kind.(SubResourceLimited)
	if !ok {
		return []string{plural, plural + "/status"}
	}
	var resources []string
	for _, sub := range limited.SupportedSubResources() {
		if sub == "" {
			resources = append(resources, plural)
		} else {
			resources = append(resources, plural+"/"+sub)
		}
	}
	return resources
}
