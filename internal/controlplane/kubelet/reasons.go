// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubelet knows the words in which nodes say how containers are. Whoever reads pods goes by it.
package kubelet

// ReasonLost is how a container ended that its node lost sight of: that is no fault of the program.
const ReasonLost = "ContainerStatusUnknown"

// Hopeless says that a container that waits for this reason waits in vain: somebody has to mend something. The node keeps
// trying, so the reason goes away when they have.
func Hopeless(waitingReason string) bool {
	switch waitingReason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable",
		"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff", "PostStartHookError":
		return true
	}
	return false
}
