// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import "slices"

// What decides how Revisions look and run.

func defaults() Map {
	const ofContainers = " of containers that name none"
	return Map{Name: "config-defaults", About: "What a Revision gets that does not say it, from its creation on.", Keys: []Key{
		{Name: "revision-timeout-seconds", Type: integer, Default: "300", Effect: "`timeoutSeconds` of Revisions that name none; at most `max-revision-timeout-seconds`"},
		{Name: "max-revision-timeout-seconds", Type: integer, Default: "600", Effect: "the greatest `timeoutSeconds` that is admitted"},
		{Name: "revision-response-start-timeout-seconds", Type: integer, Note: "`revision-timeout-seconds`", Effect: "`responseStartTimeoutSeconds` of Revisions that name none, where it is less than their timeout"},
		{Name: "revision-idle-timeout-seconds", Type: integer, Default: "0", Effect: "`idleTimeoutSeconds` of Revisions that name none, where it is less than their timeout; 0 is none"},
		{Name: "revision-cpu-request", Type: quantity, Effect: "CPU request" + ofContainers},
		{Name: "revision-memory-request", Type: quantity, Effect: "memory request" + ofContainers},
		{Name: "revision-ephemeral-storage-request", Type: quantity, Effect: "ephemeral storage request" + ofContainers},
		{Name: "revision-cpu-limit", Type: quantity, Effect: "CPU limit" + ofContainers + "; not less than the request"},
		{Name: "revision-memory-limit", Type: quantity, Effect: "memory limit" + ofContainers + "; not less than the request"},
		{Name: "revision-ephemeral-storage-limit", Type: quantity, Effect: "ephemeral storage limit" + ofContainers + "; not less than the request"},
		{Name: "container-name-template", Type: tmpl, Default: "user-container", Effect: "the name of an unnamed container, of the object's metadata; must give a DNS label"},
		{Name: "init-container-name-template", Type: tmpl, Default: "init-container", Effect: "the same for init containers"},
		{Name: "container-concurrency", Type: integer, Default: "0", Effect: "`containerConcurrency` of Revisions that name none; 0 is no limit"},
		{Name: "container-concurrency-max-limit", Type: integer, Default: "1000", Effect: "the greatest `containerConcurrency` that is admitted"},
		{Name: "allow-container-concurrency-zero", Type: boolean, Default: "true", Effect: "whether Revisions without a limit are admitted"},
		{Name: "enable-service-links", Type: oneOf("true", "false", "default"), Default: "false", Effect: "`enableServiceLinks` of new pods that name none; `default` leaves it to Kubernetes"},
	}}
}

func deployment() Map {
	return Map{Name: "config-deployment", About: "How Revisions run.", Keys: slices.Concat([]Key{
		{Name: "registries-skipping-tag-resolving", Type: list, Note: "the local ones", Old: []string{"registriesSkippingTagResolving"}, Effect: "registries whose tags are not looked up, besides `kind.local`, `ko.local`, `dev.local`, `weir.local` and `localhost`"},
		{Name: "digest-resolution-timeout", Type: duration, Default: "10s", Old: []string{"digestResolutionTimeout"}, Effect: "how long one look-up of a tag may take"},
		{Name: "progress-deadline", Type: duration, Default: "600s", Old: []string{"progressDeadline"}, Effect: "how long a Revision may take to become ready, in whole seconds; also when any Unknown becomes False"},
		{Name: "default-affinity-type", Type: oneOf("prefer-spread-revision-over-nodes", "none"), Default: "prefer-spread-revision-over-nodes", Effect: "whether pods of one Revision go to different nodes where they can, unless the Revision names an affinity"},
		{Name: "runtime-class-name", Type: yamlMap, Effect: "runtime classes of pods that name none: a map of names to `selector`, labels of the pods; the most specific one counts"},
		{Name: "pod-is-always-schedulable", Type: boolean, Default: "false", Effect: "whether a pod that does not fit waits for a node until the progress deadline, instead of failing its Revision at once"},
	}, idle("there is no sidecar",
		Key{Name: "queue-sidecar-image", Type: text, Old: []string{"queueSidecarImage"}},
		Key{Name: "queue-sidecar-cpu-request", Type: quantity, Old: []string{"queueSidecarCPURequest"}},
		Key{Name: "queue-sidecar-cpu-limit", Type: quantity, Old: []string{"queueSidecarCPULimit"}},
		Key{Name: "queue-sidecar-memory-request", Type: quantity, Old: []string{"queueSidecarMemoryRequest"}},
		Key{Name: "queue-sidecar-memory-limit", Type: quantity, Old: []string{"queueSidecarMemoryLimit"}},
		Key{Name: "queue-sidecar-ephemeral-storage-request", Type: quantity, Old: []string{"queueSidecarEphemeralStorageRequest"}},
		Key{Name: "queue-sidecar-ephemeral-storage-limit", Type: quantity, Old: []string{"queueSidecarEphemeralStorageLimit"}},
		Key{Name: "queue-sidecar-token-audiences", Type: list},
		Key{Name: "queue-sidecar-rootca", Type: text},
		Key{Name: "queue-sidecar-tls-min-version", Type: text},
		Key{Name: "queue-sidecar-tls-max-version", Type: text},
		Key{Name: "queue-sidecar-tls-cipher-suites", Type: text},
		Key{Name: "queue-sidecar-tls-curve-preferences", Type: text},
	))}
}

func gc() Map {
	return Map{Name: "config-gc", About: "Which superseded Revisions are kept. Never deleted are those that a Route leads to, by tag or share, " +
		"the latest created and the latest ready one, and those with `serving.knative.dev/no-gc: \"true\"`.", Keys: []Key{
		{Name: "retain-since-create-time", Type: ages, Default: "48h", Effect: "a Revision stays until it is that old"},
		{Name: "retain-since-last-active-time", Type: ages, Default: "15h", Effect: "a Revision stays until no Route has led to it for so long; with both ages disabled none is too old"},
		{Name: "min-non-active-revisions", Type: integer, Default: "20", Effect: "so many of a Configuration's unrouted Revisions stay whatever their age"},
		{Name: "max-non-active-revisions", Type: limit, Default: "1000", Effect: "of more than so many the longest unused go whatever their age; at least `min-non-active-revisions`"},
	}}
}
