// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package psbinding

import (
	"cmp"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"weir.dev/pkg/apis"
)

// place is where subjects are. A kind is the same in each of its versions.
type place struct {
	kind            schema.GroupKind
	namespace, name string // without a name: of selected subjects
}

type selection struct {
	selector labels.Selector
	binding  Bindable
}

// index finds the bindings of a subject. It does not change.
type index struct {
	named    map[place][]Bindable
	selected map[place][]selection
	rules    []admissionregistrationv1.RuleWithOperations
}

// newIndex returns an index, and the bindings that it leaves out: their
// selectors are invalid.
func newIndex(bindings []Bindable) (ix *index, invalid []Bindable) {
	ix = &index{named: map[place][]Bindable{}, selected: map[place][]selection{}}
	bindings = slices.SortedFunc(slices.Values(bindings), func(a, b Bindable) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	kinds := sets.New[schema.GroupVersionKind]()
	for _, b := range bindings {
		subject := subjectOf(b)
		at := place{kind: subject.GroupVersionKind().GroupKind(), namespace: subject.Namespace, name: subject.Name}
		if subject.Selector == nil {
			ix.named[at] = append(ix.named[at], b)
		} else if selector, err := metav1.LabelSelectorAsSelector(subject.Selector); err == nil {
			at.name = ""
			ix.selected[at] = append(ix.selected[at], selection{selector: selector, binding: b})
		} else {
			invalid = append(invalid, b)
			continue
		}
		kinds.Insert(subject.GroupVersionKind())
	}
	ix.rules = rulesOf(kinds)
	return ix, invalid
}

// of returns the bindings of a subject, in a fixed order.
func (ix *index) of(subject place, set labels.Set) []Bindable {
	found := slices.Clone(ix.named[subject])
	subject.name = ""
	for _, s := range ix.selected[subject] {
		if s.selector.Matches(set) {
			found = append(found, s.binding)
		}
	}
	return found
}

// rulesOf asks the API server for the kinds of all subjects.
func rulesOf(kinds sets.Set[schema.GroupVersionKind]) []admissionregistrationv1.RuleWithOperations {
	sorted := slices.SortedFunc(slices.Values(kinds.UnsortedList()), func(a, b schema.GroupVersionKind) int {
		return cmp.Compare(a.String(), b.String())
	})
	namespaced := admissionregistrationv1.NamespacedScope
	var rules []admissionregistrationv1.RuleWithOperations
	for _, gvk := range sorted {
		rules = append(rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{gvk.Group}, APIVersions: []string{gvk.Version},
				Resources: []string{apis.KindToResource(gvk).Resource}, Scope: &namespaced,
			},
		})
	}
	return rules
}
