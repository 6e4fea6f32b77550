// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package serving holds the names of the serving.knative.dev API group: labels,
// annotations, resources. They are part of the interface: other systems and
// people's tools rely on each of them.
package serving

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"weir.dev/pkg/kmap"
)

// GroupName is the API group.
const GroupName = "serving.knative.dev"

// Labels.
const (
	// ServiceLabelKey names the Service that a resource belongs to.
	ServiceLabelKey = GroupName + "/service"
	// ServiceUIDLabelKey is the UID of that Service; Routes do not have it.
	ServiceUIDLabelKey = GroupName + "/serviceUID"
	// ConfigurationLabelKey names the Configuration that a Revision came from.
	ConfigurationLabelKey = GroupName + "/configuration"
	// ConfigurationUIDLabelKey is the UID of that Configuration.
	ConfigurationUIDLabelKey = GroupName + "/configurationUID"
	// ConfigurationGenerationLabelKey is the generation of the Configuration
	// that a Revision came from, decimal.
	ConfigurationGenerationLabelKey = GroupName + "/configurationGeneration"
	// RevisionLabelKey names the Revision that a resource belongs to.
	RevisionLabelKey = GroupName + "/revision"
	// RevisionUID is the UID of that Revision; pods are selected by it.
	RevisionUID = GroupName + "/revisionUID"
	// RouteLabelKey names the Route that a resource belongs to.
	RouteLabelKey = GroupName + "/route"
	// RouteNamespaceLabelKey is the namespace of that Route.
	RouteNamespaceLabelKey = GroupName + "/routeNamespace"
	// RoutingStateLabelKey says whether a Revision is routed to: pending,
	// active or reserve.
	RoutingStateLabelKey = GroupName + "/routingState"
	// DeploymentHashLabelKey is the hash of what a Deployment was made from.
	DeploymentHashLabelKey = GroupName + "/deployment-hash"
	// DomainMappingUIDLabelKey carries the name of a DomainMapping.
	DomainMappingUIDLabelKey = GroupName + "/domainMappingUID"
	// DomainMappingNamespaceLabelKey is the namespace of that mapping.
	DomainMappingNamespaceLabelKey = GroupName + "/domainMappingNamespace"
	// AppLabelKey is the label that many tools group pods by.
	AppLabelKey = "app"
)

// Annotations.
const (
	// RoutingStateModifiedAnnotationKey is when the routing state changed,
	// RFC 3339 in UTC.
	RoutingStateModifiedAnnotationKey = GroupName + "/routingStateModified"
	// RoutesAnnotationKey lists the Routes that refer to a resource, sorted,
	// separated by commas.
	RoutesAnnotationKey = GroupName + "/routes"
	// RevisionLastPinnedAnnotationKey is a legacy of older versions; it is not
	// copied to children.
	RevisionLastPinnedAnnotationKey = GroupName + "/lastPinned"
	// RevisionPreservedAnnotationKey, "true", exempts a Revision from garbage
	// collection.
	RevisionPreservedAnnotationKey = GroupName + "/no-gc"
	// CreatorAnnotation names who created a resource.
	CreatorAnnotation = GroupName + "/creator"
	// UpdaterAnnotation names who changed the spec last.
	UpdaterAnnotation = GroupName + "/lastModifier"
	// RolloutDurationKey is how long a gradual rollout takes.
	RolloutDurationKey = GroupName + "/rollout-duration"
	// ProgressDeadlineAnnotationKey is how long a Revision may take to come up.
	ProgressDeadlineAnnotationKey = GroupName + "/progress-deadline"
	// DrainTimeoutAnnotationKey is how long a pod that goes away waits for its
	// requests; the revision's timeout by default. Ours.
	DrainTimeoutAnnotationKey = "weir.dev/drain-timeout"
	// TimeoutResetAnnotationKey, "enabled", resets an HTTP/1.1 connection whose
	// response timed out after its first byte. Ours.
	TimeoutResetAnnotationKey = "weir.dev/timeout-reset"
	// FollowConfigAnnotationKey, "enabled" on the template of a Service, makes a
	// new Revision when a ConfigMap or Secret that the template refers to
	// changes. Ours.
	FollowConfigAnnotationKey = "weir.dev/follow-config"
	// FollowTagsAnnotationKey on the template of a Service is how often its
	// image tags are looked up; one that means another image makes a new
	// Revision. Ours.
	FollowTagsAnnotationKey = "weir.dev/follow-tags"
	// RetainRevisionsAnnotationKey on a Service or Configuration is how many of
	// its unrouted Revisions are kept, or "all", instead of what the operator says
	// in config-gc. Ours.
	RetainRevisionsAnnotationKey = "weir.dev/retain-revisions"
	// ConfigHashAnnotationKey is what FollowConfigAnnotationKey adds to the
	// template of the Configuration.
	ConfigHashAnnotationKey = "weir.dev/config-hash"
	// FollowedDigestsAnnotationKey is what FollowTagsAnnotationKey adds there.
	FollowedDigestsAnnotationKey = "weir.dev/followed-digests"

	// QueueSidecarPrefix begins the annotations that size upstream's sidecar.
	// They are checked and have no effect: there is no sidecar.
	QueueSidecarPrefix = "queue.sidecar." + GroupName + "/"
	// QueueSidecarResourcePercentageAnnotationKey sizes it relative to the
	// user container.
	QueueSidecarResourcePercentageAnnotationKey = QueueSidecarPrefix + "resource-percentage"
)

// RolloutDurationAnnotation returns the spellings of the rollout duration.
func RolloutDurationAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{RolloutDurationKey, GroupName + "/rolloutDuration"}
}

// ProgressDeadlineAnnotation returns the spellings of the progress deadline.
func ProgressDeadlineAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{ProgressDeadlineAnnotationKey}
}

// QueueSidecarResourcePercentageAnnotation returns the spellings of the
// percentage.
func QueueSidecarResourcePercentageAnnotation() kmap.KeyPriority {
	return kmap.KeyPriority{
		QueueSidecarResourcePercentageAnnotationKey, QueueSidecarPrefix + "resourcePercentage",
	}
}

// Resource returns the resource of this group with the given plural.
func Resource(plural string) schema.GroupResource {
	return schema.GroupResource{Group: GroupName, Resource: plural}
}
