// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package leaderelection decides which replica acts. Each queue of a component
// has one lease a bucket. Without a builder in the context a process leads
// everything from the start.
package leaderelection

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"weir.dev/pkg/configmap"
)

const (
	configMapNameEnv = "CONFIG_LEADERELECTION_NAME"

	// MaxBuckets is the largest number of buckets.
	MaxBuckets = 10
)

// ConfigMapName is the name of the ConfigMap: the environment variable
// CONFIG_LEADERELECTION_NAME, else config-leader-election.
func ConfigMapName() string {
	if name := os.Getenv(configMapNameEnv); name != "" {
		return name
	}
	return "config-leader-election"
}

// Config is the content of the ConfigMap config-leader-election.
type Config struct {
	// Buckets is the number of buckets of each queue, 1 to MaxBuckets.
	Buckets uint32
	// LeaseDuration is how long a lease that is not renewed keeps others out.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader tries to renew before it gives up. It
	// is less than LeaseDuration.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two attempts. It is less than RenewDeadline.
	RetryPeriod time.Duration
	// LeaseNamesPrefixMapping maps <component>.<queue> to another prefix of
	// lease names, to take over the leases of a version that named them so.
	LeaseNamesPrefixMapping map[string]string
}

// defaultConfig lets another replica take over within 8 s of a crash. A leader
// that stops in order releases its leases, and the others follow within one
// retry period.
func defaultConfig() *Config {
	return &Config{
		Buckets:       1,
		LeaseDuration: 8 * time.Second,
		RenewDeadline: 5 * time.Second,
		RetryPeriod:   time.Second,
	}
}

// NewConfigFromMap parses the data of the ConfigMap.
func NewConfigFromMap(data map[string]string) (*Config, error) {
	cfg := defaultConfig()
	err := configmap.Parse(data,
		configmap.AsDuration("leaseDuration", &cfg.LeaseDuration),
		configmap.AsDuration("lease-duration", &cfg.LeaseDuration),
		configmap.AsDuration("renewDeadline", &cfg.RenewDeadline),
		configmap.AsDuration("renew-deadline", &cfg.RenewDeadline),
		configmap.AsDuration("retryPeriod", &cfg.RetryPeriod),
		configmap.AsDuration("retry-period", &cfg.RetryPeriod),
		configmap.AsUint32("buckets", &cfg.Buckets),
		configmap.CollectMapEntriesWithPrefix("map-lease-prefix", &cfg.LeaseNamesPrefixMapping),
	)
	if err != nil {
		return nil, err
	}
	return cfg, cfg.validate()
}

func (c *Config) validate() error {
	switch {
	case c.Buckets < 1 || c.Buckets > MaxBuckets:
		return fmt.Errorf("buckets: want 1 to %d, got %d", MaxBuckets, c.Buckets)
	case c.RetryPeriod <= 0:
		return errors.New("retry-period must be positive")
	case c.RenewDeadline*10 <= c.RetryPeriod*12: // client-go's jitter factor of 1.2
		return errors.New("renew-deadline must be longer than 1.2 times retry-period")
	case c.LeaseDuration <= c.RenewDeadline:
		return errors.New("lease-duration must be longer than renew-deadline")
	}
	return nil
}

// NewConfigFromConfigMap is NewConfigFromMap of a ConfigMap; nil gives the defaults.
func NewConfigFromConfigMap(cm *corev1.ConfigMap) (*Config, error) {
	if cm == nil {
		return defaultConfig(), nil
	}
	cfg, err := NewConfigFromMap(cm.Data)
	if err != nil {
		return nil, fmt.Errorf("configmap %s/%s: %w", cm.Namespace, cm.Name, err)
	}
	return cfg, nil
}

// GetComponentConfig returns the configuration of one component.
func (c *Config) GetComponentConfig(name string) ComponentConfig {
	return ComponentConfig{
		Component:               name,
		Buckets:                 c.Buckets,
		LeaseDuration:           c.LeaseDuration,
		RenewDeadline:           c.RenewDeadline,
		RetryPeriod:             c.RetryPeriod,
		LeaseNamesPrefixMapping: c.LeaseNamesPrefixMapping,
	}
}

// ComponentConfig is the configuration of one component.
type ComponentConfig struct {
	// Component is the first part of lease names.
	Component string
	// Buckets, LeaseDuration, RenewDeadline and RetryPeriod are as in Config.
	Buckets       uint32
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
	// LeaseName overrides the prefix of lease names for a queue; nil or an
	// empty result leaves it.
	LeaseName func(queue string) string
	// Identity tells this replica from others; empty means <hostname>_<uuid>.
	Identity string
	// LeaseNamesPrefixMapping is as in Config.
	LeaseNamesPrefixMapping map[string]string
}

// prefix is the first part of the lease names of a queue.
func (c *ComponentConfig) prefix(queue string) string {
	if c.LeaseName != nil {
		if name := c.LeaseName(queue); name != "" {
			return name
		}
	}
	name := c.Component + "." + queue
	if mapped, ok := c.LeaseNamesPrefixMapping[name]; ok {
		return mapped
	}
	return strings.ToLower(name)
}

// leaseNames are the names of the leases of a queue, one a bucket.
func (c *ComponentConfig) leaseNames(queue string) []string {
	buckets := max(c.Buckets, 1)
	names := make([]string, 0, buckets)
	for i := range buckets {
		names = append(names, fmt.Sprintf("%s.%02d-of-%02d", c.prefix(queue), i, buckets))
	}
	return names
}
