// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"weir.dev/api/autoscaling"
)

// The strict parsers are for the admission of ConfigMaps whose values are of
// their keys' types. Besides what the others refuse, they refuse what a program
// can live with and nobody can mean: numbers that no revision could have. A value
// that is stored already is never judged by them, because a new rule must not
// keep a system from starting.

// StrictDefaults is NewDefaults for the admission of config-defaults.
func StrictDefaults(data map[string]string) (*Defaults, error) {
	d, err := NewDefaults(data)
	if err != nil {
		return nil, err
	}
	errs := append(d.checkTimeouts(), d.checkQuantities()...)
	for key, text := range map[string]string{
		"container-name-template": d.ContainerNameTemplate, "init-container-name-template": d.InitContainerNameTemplate,
	} {
		errs = append(errs, checkName(key, text))
	}
	return d, inOrder(errs)
}

func (d *Defaults) checkTimeouts() []error {
	var errs []error
	for key, seconds := range map[string]int64{
		"revision-timeout-seconds":                d.RevisionTimeoutSeconds,
		"max-revision-timeout-seconds":            d.MaxRevisionTimeoutSeconds,
		"revision-response-start-timeout-seconds": d.RevisionResponseStartTimeoutSeconds,
		"revision-idle-timeout-seconds":           d.RevisionIdleTimeoutSeconds,
	} {
		if seconds < 0 || seconds > math.MaxInt32 {
			errs = append(errs, fmt.Errorf("%s = %d, must be in 0..%d", key, seconds, math.MaxInt32))
		}
	}
	return errs
}

func (d *Defaults) checkQuantities() []error {
	var errs []error
	for name, pair := range map[string]struct{ request, limit *resource.Quantity }{
		"cpu":               {d.RevisionCPURequest, d.RevisionCPULimit},
		"memory":            {d.RevisionMemoryRequest, d.RevisionMemoryLimit},
		"ephemeral-storage": {d.RevisionEphemeralStorageRequest, d.RevisionEphemeralStorageLimit},
	} {
		for bound, q := range map[string]*resource.Quantity{"request": pair.request, "limit": pair.limit} {
			if q != nil && q.Sign() < 0 {
				errs = append(errs, fmt.Errorf("revision-%s-%s = %s, must not be negative", name, bound, q))
			}
		}
		if pair.request != nil && pair.limit != nil && pair.request.Cmp(*pair.limit) > 0 {
			errs = append(errs, fmt.Errorf("revision-%s-request (%s) cannot be greater than revision-%s-limit (%s)",
				name, pair.request, name, pair.limit))
		}
	}
	return errs
}

// checkName tries a template of container names on samples; one that makes a
// name of any of them is good.
func checkName(key, text string) error {
	var name strings.Builder
	for _, values := range Samples(text) {
		name.Reset()
		meta := metav1.ObjectMeta{Name: "foo", Namespace: "bar", UID: "baz", Labels: values, Annotations: values}
		if err := expandName(text, meta, &name); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if len(validation.IsDNS1123Label(name.String())) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s gives %q, which is no DNS label", key, name.String())
}

// StrictAutoscaler is NewAutoscaler for the admission of config-autoscaler.
func StrictAutoscaler(data map[string]string) (*Autoscaler, error) {
	a, err := NewAutoscaler(data)
	if err != nil {
		return nil, err
	}
	var errs []error
	if class := a.PodAutoscalerClass; class != autoscaling.KPA && class != autoscaling.HPA && strings.HasSuffix(class, autoscaling.Domain) {
		errs = append(errs, fmt.Errorf("pod-autoscaler-class = %s is none of ours", class))
	}
	if a.PanicThresholdPercentage < 0 {
		errs = append(errs, fmt.Errorf("panic-threshold-percentage = %v, must not be negative", a.PanicThresholdPercentage))
	}
	return a, inOrder(errs)
}

// inOrder joins errors in the order of their texts, so that the same mistakes
// always make the same message.
func inOrder(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// inMap finds the keys that a template asks labels or annotations for:
// {{index .Labels "key"}} and {{.Labels.key}}.
var inMap = regexp.MustCompile("\"([^\"]+)\"|`([^`]+)`|\\.(?:Labels|Annotations)\\.(\\w+)")

// Samples are labels, or annotations, to try a template on: with all that it
// asks for, and with none.
func Samples(text string) []map[string]string {
	all := map[string]string{}
	for _, found := range inMap.FindAllStringSubmatch(text, -1) {
		all[found[1]+found[2]+found[3]] = "sample"
	}
	return []map[string]string{all, {}}
}
