// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import "fmt"

// Reasons that more than one kind or package gives.
const (
	// ReasonNotOwned is a child's name taken by an object of somebody else.
	ReasonNotOwned = "NotOwned"
	// ReasonOutOfDate is a child that has not processed its newest generation.
	ReasonOutOfDate = "OutOfDate"
	// ReasonRevisionNameTaken is a chosen revision name that is in use.
	ReasonRevisionNameTaken = "RevisionNameTaken"
	// ReasonTrafficNotMigrated is a Route that is not at the latest Revision.
	ReasonTrafficNotMigrated = "TrafficNotMigrated"
	// ReasonRevisionFailed is a Configuration whose latest Revision failed.
	ReasonRevisionFailed = "RevisionFailed"
	// ReasonRevisionDeleted is a Configuration whose ready Revision is gone.
	ReasonRevisionDeleted = "RevisionDeleted"

	// ReasonContainerMissing is an image that cannot be found.
	ReasonContainerMissing = "ContainerMissing"
	// ReasonResolvingDigests is a tag that is being looked up.
	ReasonResolvingDigests = "ResolvingDigests"
	// ReasonDeploying is a Revision that comes up.
	ReasonDeploying = "Deploying"
	// ReasonProgressDeadlineExceeded is a Revision that did not come up.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

	// ReasonRevisionMissing is a target that is not there or not ready.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonConfigurationMissing is a target that is not there.
	ReasonConfigurationMissing = "ConfigurationMissing"
	// ReasonRevisionNotOwned is a target that another Service owns.
	ReasonRevisionNotOwned = "RevisionNotOwned"
	// ReasonErrorConfig is a host that the templates make invalid.
	ReasonErrorConfig = "ErrorConfig"
	// ReasonUnknown is any other problem with traffic.
	ReasonUnknown = "Unknown"
	// ReasonIngressNotConfigured is an Ingress that has not been processed.
	ReasonIngressNotConfigured = "IngressNotConfigured"
	// ReasonRolloutInProgress is a gradual rollout.
	ReasonRolloutInProgress = "RolloutInProgress"
	// ReasonHostConflict is a host that an older Route has. Ours.
	ReasonHostConflict = "HostConflict"

	// ReasonTLSNotEnabled is a certificate that is not needed.
	ReasonTLSNotEnabled = "TLSNotEnabled"
	// ReasonHTTPDowngrade is plain HTTP until the certificate is there.
	ReasonHTTPDowngrade = "HTTPDowngrade"
	// ReasonCertificateNotReady is a certificate on its way.
	ReasonCertificateNotReady = "CertificateNotReady"
	// ReasonCertificateProvisionFailed is a certificate that was refused.
	ReasonCertificateProvisionFailed = "CertificateProvisionFailed"
	// ReasonCertificateNotOwned is a certificate of somebody else.
	ReasonCertificateNotOwned = "CertificateNotOwned"
)

// Messages of CertificateProvisioned while TLS is off.
const (
	// ExternalDomainTLSNotEnabledMessage is for external hosts.
	ExternalDomainTLSNotEnabledMessage = "external-domain-tls is not enabled"
	// TLSNotEnabledForClusterLocalMessage is for hosts inside the cluster.
	TLSNotEnabledForClusterLocalMessage = "TLS is not enabled for cluster-local"
)

// notOwnedMessage says that a name is taken.
func notOwnedMessage(kind, name string) string {
	return fmt.Sprintf("There is an existing %s %q that we do not own.", kind, name)
}
