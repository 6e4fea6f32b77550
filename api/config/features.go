// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "strings"

// Flag says whether a feature is on.
type Flag string

const (
	// Enabled is on.
	Enabled Flag = "Enabled"
	// Allowed is on where asked for.
	Allowed Flag = "Allowed"
	// Disabled is off.
	Disabled Flag = "Disabled"
	// AllowRootBounded is a value of SecurePodDefaults only: on, but root is
	// left to the image.
	AllowRootBounded Flag = "AllowRootBounded"
)

// Features is config-features: one flag for each key, named after it (see flags).
type Features struct {
	MultiContainer                   Flag
	MultiContainerProbing            Flag
	PodSpecAffinity                  Flag
	PodSpecTopologySpreadConstraints Flag
	PodSpecFieldRef                  Flag
	PodSpecHostAliases               Flag
	PodSpecNodeSelector              Flag
	PodSpecRuntimeClassName          Flag
	PodSpecSecurityContext           Flag
	PodSpecShareProcessNamespace     Flag
	PodSpecHostIPC                   Flag
	PodSpecHostPID                   Flag
	PodSpecHostNetwork               Flag
	PodSpecPriorityClassName         Flag
	PodSpecSchedulerName             Flag
	PodSpecTolerations               Flag
	PodSpecInitContainers            Flag
	PodSpecDNSPolicy                 Flag
	PodSpecDNSConfig                 Flag
	PodSpecVolumesEmptyDir           Flag
	PodSpecVolumesHostPath           Flag
	PodSpecVolumesCSI                Flag
	PodSpecVolumesEphemeral          Flag
	PodSpecVolumesImage              Flag
	PodSpecVolumesMountPropagation   Flag
	PodSpecPersistentVolumeClaim     Flag
	PodSpecPersistentVolumeWrite     Flag
	ContainerSpecAddCapabilities     Flag
	SecurePodDefaults                Flag
	TagHeaderBasedRouting            Flag
	AutoDetectHTTP2                  Flag
}

// flags returns where each key's flag is stored.
func (f *Features) flags() map[string]*Flag {
	return map[string]*Flag{
		"multi-container":                              &f.MultiContainer,
		"multi-container-probing":                      &f.MultiContainerProbing,
		"kubernetes.podspec-affinity":                  &f.PodSpecAffinity,
		"kubernetes.podspec-topologyspreadconstraints": &f.PodSpecTopologySpreadConstraints,
		"kubernetes.podspec-fieldref":                  &f.PodSpecFieldRef,
		"kubernetes.podspec-hostaliases":               &f.PodSpecHostAliases,
		"kubernetes.podspec-nodeselector":              &f.PodSpecNodeSelector,
		"kubernetes.podspec-runtimeclassname":          &f.PodSpecRuntimeClassName,
		"kubernetes.podspec-securitycontext":           &f.PodSpecSecurityContext,
		"kubernetes.podspec-shareprocessnamespace":     &f.PodSpecShareProcessNamespace,
		"kubernetes.podspec-hostipc":                   &f.PodSpecHostIPC,
		"kubernetes.podspec-hostpid":                   &f.PodSpecHostPID,
		"kubernetes.podspec-hostnetwork":               &f.PodSpecHostNetwork,
		"kubernetes.podspec-priorityclassname":         &f.PodSpecPriorityClassName,
		"kubernetes.podspec-schedulername":             &f.PodSpecSchedulerName,
		"kubernetes.podspec-tolerations":               &f.PodSpecTolerations,
		"kubernetes.podspec-init-containers":           &f.PodSpecInitContainers,
		"kubernetes.podspec-dnspolicy":                 &f.PodSpecDNSPolicy,
		"kubernetes.podspec-dnsconfig":                 &f.PodSpecDNSConfig,
		"kubernetes.podspec-volumes-emptydir":          &f.PodSpecVolumesEmptyDir,
		"kubernetes.podspec-volumes-hostpath":          &f.PodSpecVolumesHostPath,
		"kubernetes.podspec-volumes-csi":               &f.PodSpecVolumesCSI,
		"kubernetes.podspec-volumes-ephemeral":         &f.PodSpecVolumesEphemeral,
		"kubernetes.podspec-volumes-image":             &f.PodSpecVolumesImage,
		"kubernetes.podspec-volumes-mount-propagation": &f.PodSpecVolumesMountPropagation,
		"kubernetes.podspec-persistent-volume-claim":   &f.PodSpecPersistentVolumeClaim,
		"kubernetes.podspec-persistent-volume-write":   &f.PodSpecPersistentVolumeWrite,
		"kubernetes.containerspec-addcapabilities":     &f.ContainerSpecAddCapabilities,
		"secure-pod-defaults":                          &f.SecurePodDefaults,
		"tag-header-based-routing":                     &f.TagHeaderBasedRouting,
		"autodetect-http2":                             &f.AutoDetectHTTP2,
	}
}

func defaultFeatures() *Features {
	f := &Features{}
	for _, flag := range f.flags() {
		*flag = Disabled
	}
	f.MultiContainer, f.PodSpecVolumesEmptyDir = Enabled, Enabled
	return f
}

// NewFeatures parses config-features. A value that is none of the known ones
// leaves the default, as it always did.
func NewFeatures(data map[string]string) (*Features, error) {
	f := defaultFeatures()
	is := func(key string, flag Flag) bool { return strings.EqualFold(strings.TrimSpace(data[key]), string(flag)) }
	for key, flag := range f.flags() {
		for _, known := range []Flag{Enabled, Allowed, Disabled} {
			if is(key, known) {
				*flag = known
			}
		}
	}
	if is("secure-pod-defaults", AllowRootBounded) {
		f.SecurePodDefaults = AllowRootBounded
	}
	if f.SecurePodDefaults == Allowed {
		f.SecurePodDefaults = Disabled
	}
	return f, nil
}
