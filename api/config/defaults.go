// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"weir.dev/pkg/configmap"
)

// Defaults is config-defaults.
type Defaults struct {
	// RevisionTimeoutSeconds is the timeout of revisions that name none.
	RevisionTimeoutSeconds int64
	// MaxRevisionTimeoutSeconds bounds the timeout that a revision may name.
	MaxRevisionTimeoutSeconds int64
	// RevisionResponseStartTimeoutSeconds is until the response starts.
	RevisionResponseStartTimeoutSeconds int64
	// RevisionIdleTimeoutSeconds is between parts; 0 is none.
	RevisionIdleTimeoutSeconds int64

	// ContainerNameTemplate and InitContainerNameTemplate name containers,
	// templates over the object's metadata.
	ContainerNameTemplate, InitContainerNameTemplate string

	// ContainerConcurrency of revisions that name none; 0 is no limit.
	ContainerConcurrency int64
	// ContainerConcurrencyMaxLimit bounds what a revision may name.
	ContainerConcurrencyMaxLimit int64
	// AllowContainerConcurrencyZero permits revisions without a limit.
	AllowContainerConcurrencyZero bool

	// EnableServiceLinks of pods that name none; nil leaves it unset.
	EnableServiceLinks *bool

	// Requests and limits of containers that name none; nil is unset.
	RevisionCPURequest, RevisionMemoryRequest, RevisionEphemeralStorageRequest *resource.Quantity
	RevisionCPULimit, RevisionMemoryLimit, RevisionEphemeralStorageLimit       *resource.Quantity
}

func defaultDefaults() *Defaults {
	serviceLinks := false
	return &Defaults{
		RevisionTimeoutSeconds:              300,
		MaxRevisionTimeoutSeconds:           600,
		RevisionResponseStartTimeoutSeconds: 300,
		ContainerNameTemplate:               "user-container",
		InitContainerNameTemplate:           "init-container",
		ContainerConcurrencyMaxLimit:        1000,
		AllowContainerConcurrencyZero:       true,
		EnableServiceLinks:                  &serviceLinks,
	}
}

// NewDefaults parses config-defaults.
func NewDefaults(data map[string]string) (*Defaults, error) {
	d := defaultDefaults()
	err := configmap.Parse(data,
		configmap.AsInt64("revision-timeout-seconds", &d.RevisionTimeoutSeconds),
		configmap.AsInt64("max-revision-timeout-seconds", &d.MaxRevisionTimeoutSeconds),
		configmap.AsInt64("revision-idle-timeout-seconds", &d.RevisionIdleTimeoutSeconds),
		configmap.AsString("container-name-template", &d.ContainerNameTemplate),
		configmap.AsString("init-container-name-template", &d.InitContainerNameTemplate),
		configmap.AsInt64("container-concurrency", &d.ContainerConcurrency),
		configmap.AsInt64("container-concurrency-max-limit", &d.ContainerConcurrencyMaxLimit),
		configmap.AsBool("allow-container-concurrency-zero", &d.AllowContainerConcurrencyZero),
		configmap.AsQuantity("revision-cpu-request", &d.RevisionCPURequest),
		configmap.AsQuantity("revision-memory-request", &d.RevisionMemoryRequest),
		configmap.AsQuantity("revision-ephemeral-storage-request", &d.RevisionEphemeralStorageRequest),
		configmap.AsQuantity("revision-cpu-limit", &d.RevisionCPULimit),
		configmap.AsQuantity("revision-memory-limit", &d.RevisionMemoryLimit),
		configmap.AsQuantity("revision-ephemeral-storage-limit", &d.RevisionEphemeralStorageLimit),
	)
	if err != nil {
		return nil, err
	}
	d.RevisionResponseStartTimeoutSeconds = d.RevisionTimeoutSeconds
	if err := configmap.Parse(data, configmap.AsInt64(
		"revision-response-start-timeout-seconds", &d.RevisionResponseStartTimeoutSeconds)); err != nil {
		return nil, err
	}
	if v, ok := data["enable-service-links"]; ok {
		d.EnableServiceLinks = trueFalseOrNil(v)
	}
	return d, d.check()
}

func trueFalseOrNil(v string) *bool {
	v = strings.ToLower(strings.TrimSpace(v))
	if v != "true" && v != "false" {
		return nil
	}
	on := v == "true"
	return &on
}

func (d *Defaults) check() error {
	var errs []error
	atMost := func(what string, value int64, limit string, most int64) {
		if value > most {
			errs = append(errs, fmt.Errorf("%s (%d) cannot be greater than %s (%d)", what, value, limit, most))
		}
	}
	atMost("revision-timeout-seconds", d.RevisionTimeoutSeconds,
		"max-revision-timeout-seconds", d.MaxRevisionTimeoutSeconds)
	atMost("revision-response-start-timeout-seconds", d.RevisionResponseStartTimeoutSeconds,
		"revision-timeout-seconds", d.RevisionTimeoutSeconds)
	atMost("revision-idle-timeout-seconds", d.RevisionIdleTimeoutSeconds,
		"revision-timeout-seconds", d.RevisionTimeoutSeconds)
	if d.ContainerConcurrencyMaxLimit < 1 {
		errs = append(errs, fmt.Errorf("container-concurrency-max-limit = %d, must be at least 1", d.ContainerConcurrencyMaxLimit))
	}
	if d.ContainerConcurrency < 0 || d.ContainerConcurrency > d.ContainerConcurrencyMaxLimit {
		errs = append(errs, fmt.Errorf("container-concurrency = %d, must be in 0..%d",
			d.ContainerConcurrency, d.ContainerConcurrencyMaxLimit))
	}
	for key, text := range map[string]string{
		"container-name-template": d.ContainerNameTemplate, "init-container-name-template": d.InitContainerNameTemplate,
	} {
		if err := expandName(text, metav1.ObjectMeta{}, io.Discard); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// ContainerName returns the name of an unnamed container of the object.
func (d *Defaults) ContainerName(meta metav1.ObjectMeta) string {
	return nameOr(d.ContainerNameTemplate, meta, "user-container")
}

// InitContainerName returns the name of an unnamed init container.
func (d *Defaults) InitContainerName(meta metav1.ObjectMeta) string {
	return nameOr(d.InitContainerNameTemplate, meta, "init-container")
}

func nameOr(text string, meta metav1.ObjectMeta, fallback string) string {
	var b strings.Builder
	if err := expandName(text, meta, &b); err != nil || b.Len() == 0 {
		return fallback
	}
	return b.String()
}

func expandName(text string, meta metav1.ObjectMeta, w io.Writer) error {
	t, err := template.New("name").Parse(text)
	if err != nil {
		return fmt.Errorf("parse template: %w", err)
	}
	if err := t.Execute(w, meta); err != nil {
		return fmt.Errorf("execute template: %w", err)
	}
	return nil
}
