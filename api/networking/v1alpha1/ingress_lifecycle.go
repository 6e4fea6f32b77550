// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "weir.dev/pkg/apis"

func ingressConditions() apis.ConditionSet {
	return apis.NewLivingConditionSet(
		IngressConditionNetworkConfigured,
		IngressConditionLoadBalancerReady,
	).Explained()
}

// GetConditionSet returns the conditions of Ingresses.
func (*Ingress) GetConditionSet() apis.ConditionSet { return ingressConditions() }

// IsReady says whether the current generation is served.
func (i *Ingress) IsReady() bool {
	return i.Status.ObservedGeneration == i.Generation &&
		i.Status.GetCondition(IngressConditionReady).IsTrue()
}

// IsFailed says whether the current generation cannot be served.
func (i *Ingress) IsFailed() bool {
	return i.Status.ObservedGeneration == i.Generation &&
		i.Status.GetCondition(IngressConditionReady).IsFalse()
}

func (is *IngressStatus) manage() apis.ConditionManager { return ingressConditions().Manage(is) }

// InitializeConditions adds missing conditions as Unknown.
func (is *IngressStatus) InitializeConditions() { is.manage().InitializeConditions() }

// MarkNetworkConfigured says that all proxies serve the rules.
func (is *IngressStatus) MarkNetworkConfigured() {
	is.manage().MarkTrue(IngressConditionNetworkConfigured)
}

// MarkNetworkNotConfigured says that not all proxies serve the rules yet.
func (is *IngressStatus) MarkNetworkNotConfigured(reason, message string) {
	is.manage().MarkUnknown(IngressConditionNetworkConfigured, reason, "%s", message)
}

// MarkNetworkFailed says that the rules cannot be served.
func (is *IngressStatus) MarkNetworkFailed(reason, message string) {
	is.manage().MarkFalse(IngressConditionNetworkConfigured, reason, "%s", message)
}

// MarkIngressNotReady says that the Ingress is not ready without saying more
// about a part of it.
func (is *IngressStatus) MarkIngressNotReady(reason, message string) {
	is.manage().MarkUnknown(IngressConditionReady, reason, "%s", message)
}

// MarkLoadBalancerReady records where requests go.
func (is *IngressStatus) MarkLoadBalancerReady(public, private []LoadBalancerIngressStatus) {
	is.PublicLoadBalancer = &LoadBalancerStatus{Ingress: public}
	is.PrivateLoadBalancer = &LoadBalancerStatus{Ingress: private}
	is.manage().MarkTrue(IngressConditionLoadBalancerReady)
}

// MarkLoadBalancerNotReady says that the points of entry are not known yet.
func (is *IngressStatus) MarkLoadBalancerNotReady() {
	is.manage().MarkUnknown(IngressConditionLoadBalancerReady, apis.ReasonUninitialized,
		"Waiting for load balancer to be ready")
}

// MarkLoadBalancerFailed says that there is no point of entry.
func (is *IngressStatus) MarkLoadBalancerFailed(reason, message string) {
	is.manage().MarkFalse(IngressConditionLoadBalancerReady, reason, "%s", message)
}
