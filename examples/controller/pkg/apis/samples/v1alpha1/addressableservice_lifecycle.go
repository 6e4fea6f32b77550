// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"weir.dev/pkg/apis"
	duckv1 "weir.dev/pkg/apis/duck/v1"
)

const (
	// ConditionReady is true when all others are.
	ConditionReady = apis.ConditionReady
	// ConditionServiceFound is true when there is such a Service.
	ConditionServiceFound apis.ConditionType = "ServiceFound"
)

func conditions() apis.ConditionSet { return apis.NewLivingConditionSet(ConditionServiceFound) }

// GetConditionSet implements duckv1.KRShaped.
func (*AddressableService) GetConditionSet() apis.ConditionSet { return conditions() }

func (s *AddressableServiceStatus) manage() apis.ConditionManager {
	return conditions().Manage(&s.Status)
}

// InitializeConditions adds missing conditions as Unknown.
func (s *AddressableServiceStatus) InitializeConditions() { s.manage().InitializeConditions() }

// MarkServiceFound says that there is such a Service, at url.
func (s *AddressableServiceStatus) MarkServiceFound(url *apis.URL) {
	s.Address = &duckv1.Addressable{URL: url}
	s.manage().MarkTrue(ConditionServiceFound)
}

// MarkServiceMissing says that there is none, so that there is no address.
func (s *AddressableServiceStatus) MarkServiceMissing(name string) {
	s.Address = nil
	s.manage().MarkFalse(ConditionServiceFound, "NotFound", "there is no Service %q in the namespace", name)
}
