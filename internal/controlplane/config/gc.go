// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
)

// Disabled is the value of a GC limit that is turned off.
const Disabled = -1

// GC is config-gc (facts.md 4.8): which superseded revisions are kept.
type GC struct {
	// RetainSinceCreateTime and RetainSinceLastActiveTime are ages below which a revision stays, or Disabled.
	RetainSinceCreateTime, RetainSinceLastActiveTime time.Duration
	// MinNonActiveRevisions stay whatever their age; above MaxNonActiveRevisions (or Disabled) the oldest go.
	MinNonActiveRevisions, MaxNonActiveRevisions int64
}

func defaultGC() *GC {
	return &GC{
		RetainSinceCreateTime:     48 * time.Hour,
		RetainSinceLastActiveTime: 15 * time.Hour,
		MinNonActiveRevisions:     20,
		MaxNonActiveRevisions:     1000,
	}
}

// NewGC parses config-gc.
func NewGC(cm *corev1.ConfigMap) (*GC, error) {
	g := defaultGC()
	err := parse(cm,
		asRetention("retain-since-create-time", &g.RetainSinceCreateTime),
		asRetention("retain-since-last-active-time", &g.RetainSinceLastActiveTime),
		configmap.AsInt64("min-non-active-revisions", &g.MinNonActiveRevisions),
		asLimit("max-non-active-revisions", &g.MaxNonActiveRevisions),
	)
	switch {
	case err != nil:
		return nil, err
	case g.MinNonActiveRevisions < 0:
		return nil, fmt.Errorf("ConfigMap %s: min-non-active-revisions must be non-negative", cm.Name)
	case g.MaxNonActiveRevisions != Disabled && g.MaxNonActiveRevisions < g.MinNonActiveRevisions:
		return nil, fmt.Errorf("ConfigMap %s: min-non-active-revisions (%d) must be at most max-non-active-revisions (%d)",
			cm.Name, g.MinNonActiveRevisions, g.MaxNonActiveRevisions)
	}
	return g, nil
}

// asRetention reads a non-negative duration or "disabled".
func asRetention(key string, target *time.Duration) configmap.ParseFunc {
	return optional(key, func(raw string) error {
		d, err := time.ParseDuration(raw)
		if err == nil && d < 0 {
			err = fmt.Errorf("%s must not be negative", raw)
		}
		*target = d
		return err
	}, func() { *target = Disabled })
}

// asLimit reads a non-negative number or "disabled".
func asLimit(key string, target *int64) configmap.ParseFunc {
	return optional(key, func(raw string) error {
		n, err := strconv.ParseUint(raw, 10, 31)
		*target = int64(n)
		return err
	}, func() { *target = Disabled })
}

// optional calls set with the value of key, or off when that is "disabled"; neither when the key is absent.
func optional(key string, set func(string) error, off func()) configmap.ParseFunc {
	return func(data map[string]string) error {
		raw, ok := data[key]
		switch raw = strings.TrimSpace(raw); {
		case !ok:
			return nil
		case strings.EqualFold(raw, "disabled"):
			off()
			return nil
		}
		if err := set(raw); err != nil {
			return fmt.Errorf("parsing %q: %w", key, err)
		}
		return nil
	}
}
