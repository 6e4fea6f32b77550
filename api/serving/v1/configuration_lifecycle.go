// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"strings"

	"weir.dev/pkg/apis"
)

func configurationConditions() apis.ConditionSet { return apis.NewLivingConditionSet().Explained() }

// GetConditionSet returns the conditions of Configurations.
func (*Configuration) GetConditionSet() apis.ConditionSet { return configurationConditions() }

// IsReady says whether the current generation's Revision is ready.
func (c *Configuration) IsReady() bool {
	return c.Status.ObservedGeneration == c.Generation &&
		c.Status.GetCondition(ConfigurationConditionReady).IsTrue()
}

// IsFailed says whether the current generation's Revision failed.
func (c *Configuration) IsFailed() bool {
	return c.Status.ObservedGeneration == c.Generation &&
		c.Status.GetCondition(ConfigurationConditionReady).IsFalse()
}

// IsLatestReadyRevisionNameUpToDate says whether the latest created Revision
// is also the latest ready one.
func (cs *ConfigurationStatus) IsLatestReadyRevisionNameUpToDate() bool {
	return cs.LatestReadyRevisionName != "" &&
		cs.LatestCreatedRevisionName == cs.LatestReadyRevisionName
}

func (cs *ConfigurationStatus) manage() apis.ConditionManager {
	return configurationConditions().Manage(cs)
}

// InitializeConditions adds missing conditions as Unknown.
func (cs *ConfigurationStatus) InitializeConditions() { cs.manage().InitializeConditions() }

// SetLatestCreatedRevisionName records the newest Revision; until it is ready
// the Configuration is not.
func (cs *ConfigurationStatus) SetLatestCreatedRevisionName(name string) {
	cs.LatestCreatedRevisionName = name
	if cs.LatestReadyRevisionName != name {
		cs.MarkLatestCreatedWaiting(name, ReasonDeploying, "")
	}
}

// SetLatestReadyRevisionName records the newest ready Revision.
func (cs *ConfigurationStatus) SetLatestReadyRevisionName(name string) {
	cs.LatestReadyRevisionName = name
	if cs.LatestCreatedRevisionName == name {
		cs.manage().MarkTrue(ConfigurationConditionReady)
	}
}

// MarkLatestCreatedFailed says that the newest Revision failed.
func (cs *ConfigurationStatus) MarkLatestCreatedFailed(name, message string) {
	cs.manage().MarkFalse(ConfigurationConditionReady, ReasonRevisionFailed,
		"Revision %q failed with message: %s.", name, strings.TrimSuffix(message, "."))
}

// MarkLatestCreatedWaiting says what the newest Revision waits for.
func (cs *ConfigurationStatus) MarkLatestCreatedWaiting(name, reason, message string) {
	text := fmt.Sprintf("Revision %q is not yet ready.", name)
	if message != "" {
		text = fmt.Sprintf("Revision %q is not yet ready: %s", name, message)
	}
	cs.manage().MarkUnknown(ConfigurationConditionReady, reason, "%s", text)
}

// MarkRevisionCreationFailed says that no Revision could be made.
func (cs *ConfigurationStatus) MarkRevisionCreationFailed(message string) {
	cs.manage().MarkFalse(ConfigurationConditionReady, ReasonRevisionFailed,
		"Revision creation failed with message: %s.", strings.TrimSuffix(message, "."))
}

// MarkLatestReadyDeleted says that the ready Revision is gone.
func (cs *ConfigurationStatus) MarkLatestReadyDeleted() {
	cs.manage().MarkFalse(ConfigurationConditionReady, ReasonRevisionDeleted,
		"Revision %q was deleted.", cs.LatestReadyRevisionName)
}
