// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import "slices"

// What processes themselves go by.

func logging() Map {
	level := oneOf("debug", "info", "warn", "error", "dpanic", "panic", "fatal")
	return Map{Name: "config-logging", About: "What the controller logs. Levels change at once, the rest at the next start.", Keys: []Key{
		{Name: "zap-logger-config", Type: object, Note: "JSON lines from info on", Effect: "the configuration of the logger, as zap has it; in the single binary only its level counts: where lines go and how they look is the process's"},
		{Name: "loglevel.controller", Type: level, Note: "that of `zap-logger-config`", Effect: "the level of the controller, with the autoscaler and the webhook in it"},
		{Name: "loglevel.<component>", Type: level, Effect: "autoscaler and webhook are in the controller", Idle: true},
	}}
}

func leaderElection() Map {
	return Map{Name: "config-leader-election", About: "How several controllers share the work. Read at the start of a controller; the single binary is alone and elects nobody.", Keys: []Key{
		{Name: "lease-duration", Type: duration, Default: "8s", Old: []string{"leaseDuration"}, Effect: "how long a controller that died keeps the others out; longer than `renew-deadline`"},
		{Name: "renew-deadline", Type: duration, Default: "5s", Old: []string{"renewDeadline"}, Effect: "how long a leader that cannot renew goes on; longer than 1.2 times `retry-period`"},
		{Name: "retry-period", Type: duration, Default: "1s", Old: []string{"retryPeriod"}, Effect: "the time between two attempts"},
		{Name: "buckets", Type: integer, Default: "1", Effect: "into how many parts the work of each kind is divided; 1 to 10"},
		{Name: "map-lease-prefix.<component.queue>", Type: text, Effect: "another name for the leases of a queue"},
	}}
}

func observability() Map {
	protocol := oneOf("none", "prometheus", "grpc", "http/protobuf")
	return Map{Name: "config-observability", About: "What processes tell about themselves and about requests.", Keys: slices.Concat([]Key{
		{Name: "logging.revision-url-template", Type: text, Effect: "`status.logUrl` of Revisions, with `${REVISION_UID}` replaced"},
	}, idle("the controller sends no metrics and traces yet",
		Key{Name: "metrics-protocol", Type: protocol, Default: "none"},
		Key{Name: "metrics-endpoint", Type: text},
		Key{Name: "metrics-export-interval", Type: duration, Default: "0s"},
		Key{Name: "tracing-protocol", Type: oneOf("none", "grpc", "http/protobuf", "stdout"), Default: "none"},
		Key{Name: "tracing-endpoint", Type: text},
		Key{Name: "tracing-sampling-rate", Type: number, Default: "0"},
		Key{Name: "runtime-profiling", Type: onOff, Default: "disabled"},
		Key{Name: "runtime-export-interval", Type: duration, Default: "15s"},
	), idle("the gateway does not do it yet",
		Key{Name: "request-metrics-protocol", Type: protocol, Default: "none"},
		Key{Name: "request-metrics-endpoint", Type: text},
		Key{Name: "request-metrics-export-interval", Type: duration, Default: "0s"},
		Key{Name: "logging.request-log-template", Type: tmpl},
		Key{Name: "logging.enable-request-log", Type: boolean, Default: "false"},
		Key{Name: "logging.enable-probe-request-log", Type: boolean, Default: "false"},
		Key{Name: "logging.enable-var-log-collection", Type: boolean, Default: "false"},
	))}
}
