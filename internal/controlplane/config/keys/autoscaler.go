// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import "slices"

func autoscaler() Map {
	return Map{Name: "config-autoscaler", About: "How Revisions are scaled that do not say it by annotation.", Keys: slices.Concat([]Key{
		{Name: "pod-autoscaler-class", Type: name, Default: "kpa.autoscaling.knative.dev", Effect: "the class of Revisions that name none"},
		{Name: "enable-scale-to-zero", Type: boolean, Default: "true", Effect: "whether the last pod may go"},
		{Name: "allow-zero-initial-scale", Type: boolean, Default: "false", Effect: "whether an initial scale of 0 is admitted"},
		{Name: "initial-scale", Type: integer, Default: "1", Effect: "how many pods a Revision starts with; at least 1 unless `allow-zero-initial-scale`"},
		{Name: "min-scale", Type: integer, Default: "0", Effect: "the least number of pods; not above `max-scale`"},
		{Name: "max-scale", Type: integer, Default: "0", Effect: "the greatest number of pods; 0 is no limit"},
		{Name: "max-scale-limit", Type: integer, Default: "0", Effect: "the greatest `max-scale` that is admitted, here and on Revisions; 0 is none"},
		{Name: "container-concurrency-target-percentage", Type: number, Default: "70", Effect: "the part of a target to aim for, in percent or, up to 1, as a fraction"},
		{Name: "container-concurrency-target-default", Type: number, Default: "100", Effect: "requests at a time that a pod without `containerConcurrency` is good for"},
		{Name: "requests-per-second-target-default", Type: number, Default: "200", Effect: "requests a second that a pod is good for, where the metric is `rps`"},
		{Name: "max-scale-up-rate", Type: number, Default: "1000", Effect: "the greatest factor of one step up; above 1"},
		{Name: "max-scale-down-rate", Type: number, Default: "2", Effect: "the greatest factor of one step down; above 1"},
		{Name: "stable-window", Type: duration, Default: "60s", Effect: "how long load is averaged over; 6s to 1h, whole seconds"},
		{Name: "panic-window-percentage", Type: number, Default: "10", Effect: "the panic window in percent of it; 1 to 100"},
		{Name: "panic-threshold-percentage", Type: number, Default: "200", Effect: "the load, in percent of what the pods are good for, at which a panic begins"},
		{Name: "scale-to-zero-grace-period", Type: duration, Default: "30s", Effect: "how long the last pod stays after a window without requests"},
		{Name: "scale-to-zero-pod-retention-period", Type: duration, Default: "0s", Effect: "the same, where it is longer"},
		{Name: "scale-down-delay", Type: duration, Default: "0s", Effect: "how long load must be lower before pods go; whole seconds"},
	}, idle("the gateway is always in the path",
		Key{Name: "target-burst-capacity", Type: number, Default: "211"},
		Key{Name: "activator-capacity", Type: number, Default: "100"},
	))}
}
