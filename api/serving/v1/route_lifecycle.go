// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"time"

	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	"weir.dev/pkg/apis"
)

func routeConditions() apis.ConditionSet {
	return apis.NewLivingConditionSet(
		RouteConditionAllTrafficAssigned,
		RouteConditionIngressReady,
		RouteConditionCertificateProvisioned,
	).Explained()
}

// GetConditionSet returns the conditions of Routes.
func (*Route) GetConditionSet() apis.ConditionSet { return routeConditions() }

// IsReady says whether the current generation is programmed.
func (r *Route) IsReady() bool {
	return r.Status.ObservedGeneration == r.Generation &&
		r.Status.GetCondition(RouteConditionReady).IsTrue()
}

// IsFailed says whether the current generation cannot be programmed.
func (r *Route) IsFailed() bool {
	return r.Status.ObservedGeneration == r.Generation &&
		r.Status.GetCondition(RouteConditionReady).IsFalse()
}

// RolloutDuration returns how long a gradual rollout takes, if an annotation
// says so.
func (r *Route) RolloutDuration() (time.Duration, bool) {
	d, err := time.ParseDuration(serving.RolloutDurationAnnotation().Value(r.Annotations))
	return d, err == nil
}

func (rs *RouteStatus) manage() apis.ConditionManager { return routeConditions().Manage(rs) }

// InitializeConditions adds missing conditions as Unknown.
func (rs *RouteStatus) InitializeConditions() { rs.manage().InitializeConditions() }

// MarkTrafficAssigned says that all targets are there and ready.
func (rs *RouteStatus) MarkTrafficAssigned() {
	rs.manage().MarkTrue(RouteConditionAllTrafficAssigned)
}

func (rs *RouteStatus) trafficUnknown(reason, format string, args ...any) {
	rs.manage().MarkUnknown(RouteConditionAllTrafficAssigned, reason, format, args...)
}

func (rs *RouteStatus) trafficFalse(reason, format string, args ...any) {
	rs.manage().MarkFalse(RouteConditionAllTrafficAssigned, reason, format, args...)
}

// MarkUnknownTrafficError says that the targets could not be found out.
func (rs *RouteStatus) MarkUnknownTrafficError(message string) {
	rs.trafficUnknown(ReasonUnknown, "%s", message)
}

// MarkConfigurationNotReady says that a Configuration has no ready Revision
// yet.
func (rs *RouteStatus) MarkConfigurationNotReady(name string) {
	rs.trafficUnknown(ReasonRevisionMissing, "Configuration %q is waiting for a Revision to become ready.", name)
}

// MarkConfigurationFailed says that a Configuration will have no ready
// Revision.
func (rs *RouteStatus) MarkConfigurationFailed(name string) {
	rs.trafficFalse(ReasonRevisionMissing, "Configuration %q does not have any ready Revision.", name)
}

// MarkRevisionNotReady says that a Revision is not ready yet.
func (rs *RouteStatus) MarkRevisionNotReady(name string) {
	rs.trafficUnknown(ReasonRevisionMissing, "Revision %q is not yet ready.", name)
}

// MarkRevisionFailed says that a Revision failed.
func (rs *RouteStatus) MarkRevisionFailed(name string) {
	rs.trafficFalse(ReasonRevisionMissing, "Revision %q failed to become ready.", name)
}

// MarkMissingTrafficTarget says that a Revision or Configuration is not there.
func (rs *RouteStatus) MarkMissingTrafficTarget(kind, name string) {
	rs.trafficFalse(kind+"Missing", "%s %q referenced in traffic not found.", kind, name)
}

// MarkRevisionNotOwned says that a Revision belongs to another Service, or
// ("") to none.
func (rs *RouteStatus) MarkRevisionNotOwned(revision, owner, service string) {
	message := fmt.Sprintf("Revision %q does not belong to Service %q.", revision, service)
	if owner != "" {
		message = fmt.Sprintf("Revision %q belongs to Service %q, not Service %q.", revision, owner, service)
	}
	rs.trafficFalse(ReasonRevisionNotOwned, "%s", message)
}

// MarkErrorConfig says that the templates make an invalid host.
func (rs *RouteStatus) MarkErrorConfig(message string) {
	rs.trafficFalse(ReasonErrorConfig, "%s", message)
}

// MarkIngressNotConfigured says that the Ingress has not been processed.
func (rs *RouteStatus) MarkIngressNotConfigured() {
	rs.manage().MarkUnknown(RouteConditionIngressReady, ReasonIngressNotConfigured,
		"Ingress has not yet been reconciled.")
}

// MarkIngressRolloutInProgress says that a gradual rollout goes on.
func (rs *RouteStatus) MarkIngressRolloutInProgress() {
	rs.manage().MarkUnknown(RouteConditionIngressReady, ReasonRolloutInProgress,
		"A gradual rollout of the latest revision(s) is in progress.")
}

// MarkServiceNotOwned says that the k8s Service is somebody else's.
func (rs *RouteStatus) MarkServiceNotOwned(name string) {
	rs.manage().MarkFalse(RouteConditionIngressReady, ReasonNotOwned, "%s", notOwnedMessage("Service", name))
}

// MarkIngressNotOwned says that the Ingress is somebody else's.
func (rs *RouteStatus) MarkIngressNotOwned(name string) {
	rs.manage().MarkFalse(RouteConditionIngressReady, ReasonNotOwned, "%s", notOwnedMessage("Ingress", name))
}

// MarkEndpointNotOwned says that the Endpoints are somebody else's.
func (rs *RouteStatus) MarkEndpointNotOwned(name string) {
	rs.manage().MarkFalse(RouteConditionIngressReady, ReasonNotOwned, "%s", notOwnedMessage("Endpoints", name))
}

// MarkHostConflict says that an older Route has the host; owner is its
// namespace/name.
func (rs *RouteStatus) MarkHostConflict(host, owner string) {
	rs.manage().MarkFalse(RouteConditionIngressReady, ReasonHostConflict,
		"The host %q is already used by Route %q.", host, owner)
}

// PropagateIngressStatus copies the Ingress's summary.
func (rs *RouteStatus) PropagateIngressStatus(is networkingv1alpha1.IngressStatus) {
	ready := is.GetCondition(networkingv1alpha1.IngressConditionReady)
	if ready == nil {
		rs.MarkIngressNotConfigured()
		return
	}
	mirror(rs.manage(), RouteConditionIngressReady, ready)
}

// MarkTLSNotEnabled says that no certificate is needed, and why.
func (rs *RouteStatus) MarkTLSNotEnabled(message string) {
	rs.manage().MarkTrueWithReason(RouteConditionCertificateProvisioned, ReasonTLSNotEnabled, "%s", message)
}

// MarkHTTPDowngrade says that plain HTTP is served until the certificate is
// ready.
func (rs *RouteStatus) MarkHTTPDowngrade(certificate string) {
	rs.manage().MarkTrueWithReason(RouteConditionCertificateProvisioned, ReasonHTTPDowngrade,
		"Certificate %s is not ready downgrade HTTP.", certificate)
}

// MarkCertificateReady says that the certificates are there.
func (rs *RouteStatus) MarkCertificateReady(string) {
	rs.manage().MarkTrue(RouteConditionCertificateProvisioned)
}

// MarkCertificateNotReady says that a certificate is on its way.
func (rs *RouteStatus) MarkCertificateNotReady(certificate, reason string) {
	rs.manage().MarkUnknown(RouteConditionCertificateProvisioned, ReasonCertificateNotReady,
		"Certificate %s is not ready: %s", certificate, reason)
}

// MarkCertificateProvisionFailed says that a certificate was refused.
func (rs *RouteStatus) MarkCertificateProvisionFailed(certificate string) {
	rs.manage().MarkFalse(RouteConditionCertificateProvisioned, ReasonCertificateProvisionFailed,
		"Certificate %s fails to be provisioned.", certificate)
}

// MarkCertificateNotOwned says that a certificate is somebody else's.
func (rs *RouteStatus) MarkCertificateNotOwned(certificate string) {
	rs.manage().MarkFalse(RouteConditionCertificateProvisioned, ReasonCertificateNotOwned,
		"%s", notOwnedMessage("Certificate", certificate))
}
