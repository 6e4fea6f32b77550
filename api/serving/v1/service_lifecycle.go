// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import "weir.dev/pkg/apis"

func serviceConditions() apis.ConditionSet {
	return apis.NewLivingConditionSet(
		ServiceConditionConfigurationsReady,
		ServiceConditionRoutesReady,
	).Explained()
}

// GetConditionSet returns the conditions of Services.
func (*Service) GetConditionSet() apis.ConditionSet { return serviceConditions() }

// IsReady says whether the current generation is served.
func (s *Service) IsReady() bool {
	return s.Status.ObservedGeneration == s.Generation &&
		s.Status.GetCondition(ServiceConditionReady).IsTrue()
}

// IsFailed says whether the current generation failed.
func (s *Service) IsFailed() bool {
	return s.Status.ObservedGeneration == s.Generation &&
		s.Status.GetCondition(ServiceConditionReady).IsFalse()
}

func (ss *ServiceStatus) manage() apis.ConditionManager { return serviceConditions().Manage(ss) }

// InitializeConditions adds missing conditions as Unknown.
func (ss *ServiceStatus) InitializeConditions() { ss.manage().InitializeConditions() }

// MarkConfigurationNotOwned says that the Configuration is somebody else's.
func (ss *ServiceStatus) MarkConfigurationNotOwned(name string) {
	ss.manage().MarkFalse(ServiceConditionConfigurationsReady, ReasonNotOwned,
		"%s", notOwnedMessage("Configuration", name))
}

// MarkRouteNotOwned says that the Route is somebody else's.
func (ss *ServiceStatus) MarkRouteNotOwned(name string) {
	ss.manage().MarkFalse(ServiceConditionRoutesReady, ReasonNotOwned,
		"%s", notOwnedMessage("Route", name))
}

// MarkConfigurationNotReconciled says that the Configuration is behind.
func (ss *ServiceStatus) MarkConfigurationNotReconciled() {
	ss.manage().MarkUnknown(ServiceConditionConfigurationsReady, ReasonOutOfDate,
		"The Configuration has not yet processed its latest generation.")
}

// MarkRouteNotReconciled says that the Route is behind.
func (ss *ServiceStatus) MarkRouteNotReconciled() {
	ss.manage().MarkUnknown(ServiceConditionRoutesReady, ReasonOutOfDate,
		"The Route has not yet processed its latest generation.")
}

// MarkRouteNotYetReady says that traffic is not at the latest Revision.
func (ss *ServiceStatus) MarkRouteNotYetReady() {
	ss.manage().MarkUnknown(ServiceConditionRoutesReady, ReasonTrafficNotMigrated,
		"Traffic is not yet migrated to the latest revision.")
}

// MarkRevisionNameTaken says that the chosen revision name is in use.
func (ss *ServiceStatus) MarkRevisionNameTaken(name string) {
	ss.manage().MarkFalse(ServiceConditionRoutesReady, ReasonRevisionNameTaken,
		"The revision name %q is taken by a conflicting Revision, so traffic will not be migrated", name)
}

// PropagateConfigurationStatus copies the Configuration's fields and its
// summary.
func (ss *ServiceStatus) PropagateConfigurationStatus(cs *ConfigurationStatus) {
	ss.ConfigurationStatusFields = cs.ConfigurationStatusFields
	mirror(ss.manage(), ServiceConditionConfigurationsReady, cs.GetCondition(ConfigurationConditionReady))
}

// PropagateRouteStatus copies the Route's fields and its summary.
func (ss *ServiceStatus) PropagateRouteStatus(rs *RouteStatus) {
	rs.RouteStatusFields.DeepCopyInto(&ss.RouteStatusFields)
	mirror(ss.manage(), ServiceConditionRoutesReady, rs.GetCondition(RouteConditionReady))
}
