// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"weir.dev/pkg/logging"
	"weir.dev/pkg/observability"
)

// strictDomain is NewDomain for the admission of config-domain.
func strictDomain(cm *corev1.ConfigMap) (*Domain, error) {
	d, err := NewDomain(cm)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range d.entries {
		if err := tryDomain(e, cm.Data[e.name]); err != nil {
			errs = append(errs, fmt.Errorf("domain %q: %w", e.name, err))
		}
	}
	return d, errors.Join(errs...)
}

// tryDomain judges a domain and what is said of it: a misspelt selector would take in all Routes.
func tryDomain(e domainEntry, text string) error {
	if problems := validation.IsDNS1123Subdomain(strings.ToLower(e.name)); len(problems) > 0 {
		return fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	var value domainValue
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		return err
	}
	if value.Type != "" && value.Type != "wildcard" {
		return fmt.Errorf("type %q, must be wildcard if anything", value.Type)
	}
	return trySelector(e.selector)
}

func trySelector(selector map[string]string) error {
	if _, err := labels.ValidatedSelectorFromSet(selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	return nil
}

// strictDeployment is NewDeployment for the admission of config-deployment.
func strictDeployment(cm *corev1.ConfigMap) (*Deployment, error) {
	d, err := NewDeployment(cm)
	if err != nil {
		return nil, err
	}
	var errs []error
	if d.ProgressDeadline/time.Second > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("progress-deadline %s is more than a Deployment can wait", d.ProgressDeadline))
	}
	if err := yaml.UnmarshalStrict([]byte(cm.Data["runtime-class-name"]), &map[string]runtimeClass{}); err != nil {
		errs = append(errs, fmt.Errorf("runtime-class-name: %w", err))
	}
	for _, name := range slices.Sorted(maps.Keys(d.runtimeClasses)) {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("runtime-class-name: %q: %s", name, strings.Join(problems, "; ")))
		} else if err := trySelector(d.runtimeClasses[name].Selector); err != nil {
			errs = append(errs, fmt.Errorf("runtime-class-name: %q: %w", name, err))
		}
	}
	return d, errors.Join(errs...)
}

// strictObservability is NewObservability for the admission of config-observability: what processes need of it must do, too.
func strictObservability(cm *corev1.ConfigMap) (*Observability, error) {
	if _, err := observability.NewConfigFromConfigMap(cm); err != nil {
		return nil, err
	}
	return NewObservability(cm)
}

// strictLogging reads config-logging for its admission. A logger is built to see whether it can be; it writes nowhere.
func strictLogging(cm *corev1.ConfigMap) (*logging.Config, error) {
	cfg, err := logging.NewConfigFromConfigMap(cm)
	if err != nil {
		return nil, err
	}
	zc := zap.Config{}
	if err := json.Unmarshal([]byte(cfg.LoggingConfig), &zc); err != nil {
		return nil, fmt.Errorf("zap-logger-config: %w", err)
	}
	zc.OutputPaths, zc.ErrorOutputPaths = nil, nil
	if _, err := zc.Build(); err != nil {
		return nil, fmt.Errorf("zap-logger-config: %w", err)
	}
	return cfg, nil
}
