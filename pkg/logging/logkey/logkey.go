// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package logkey names the keys of structured log lines, so that one query
// finds a thing in the logs of every component.
package logkey

const (
	// ControllerType is the name of the controller that logs.
	ControllerType = "knative.dev/controller"
	// Kind is the kind of the object at hand, as group.Kind.
	Kind = "knative.dev/kind"
	// Key is the namespace/name of the object at hand.
	Key = "knative.dev/key"
	// Name is an object's name.
	Name = "knative.dev/name"
	// Namespace is an object's namespace.
	Namespace = "knative.dev/namespace"
	// TraceID tells the lines of one reconcile from those of others.
	TraceID = "knative.dev/traceid"
	// Component is the process or part that logs.
	Component = "knative.dev/component"
	// Level is a logging level.
	Level = "knative.dev/level"
	// Operation is the verb of an API request.
	Operation = "knative.dev/operation"
	// Resource is an API resource.
	Resource = "knative.dev/resource"
	// SubResource is an API sub-resource.
	SubResource = "knative.dev/subresource"
	// UserInfo is who made an API request.
	UserInfo = "knative.dev/userinfo"
	// AdmissionReview is a webhook's review.
	AdmissionReview = "knative.dev/admissionreview"
	// Duration is a time span.
	Duration = "knative.dev/duration"
)
