// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import "slices"

func features() Map {
	pod := func(key, field string) Key {
		return Key{Name: "kubernetes.podspec-" + key, Type: feature, Default: "Disabled", Effect: "`" + field + "` of pods"}
	}
	volume := func(key, what string) Key {
		return Key{Name: "kubernetes.podspec-" + key, Type: feature, Default: "Disabled", Effect: what}
	}
	emptyDir := volume("volumes-emptydir", "`emptyDir` volumes")
	emptyDir.Default = "Enabled"
	return Map{Name: "config-features", About: "What Revisions may use. `Allowed` is as good as `Enabled` unless a line says otherwise.", Keys: slices.Concat([]Key{
		{Name: "multi-container", Type: feature, Default: "Enabled", Effect: "several containers; must be `Enabled`"},
		{Name: "multi-container-probing", Type: feature, Default: "Disabled", Effect: "readiness and liveness probes of containers that do not serve"},
		pod("affinity", "affinity"),
		pod("topologyspreadconstraints", "topologySpreadConstraints"),
		volume("fieldref", "`fieldRef` and `resourceFieldRef` in environment variables"),
		pod("hostaliases", "hostAliases"),
		pod("nodeselector", "nodeSelector"),
		pod("runtimeclassname", "runtimeClassName"),
		pod("securitycontext", "securityContext"),
		pod("shareprocessnamespace", "shareProcessNamespace"),
		pod("hostipc", "hostIPC"),
		pod("hostpid", "hostPID"),
		pod("hostnetwork", "hostNetwork"),
		pod("priorityclassname", "priorityClassName"),
		pod("schedulername", "schedulerName"),
		pod("tolerations", "tolerations"),
		volume("init-containers", "`initContainers` of pods; must be `Enabled`"),
		pod("dnspolicy", "dnsPolicy"),
		pod("dnsconfig", "dnsConfig"),
		emptyDir,
		volume("volumes-hostpath", "`hostPath` volumes"),
		volume("volumes-csi", "`csi` volumes"),
		volume("volumes-ephemeral", "`ephemeral` volumes"),
		volume("volumes-image", "`image` volumes"),
		volume("volumes-mount-propagation", "`mountPropagation` of volume mounts"),
		volume("persistent-volume-claim", "`persistentVolumeClaim` volumes, read"),
		volume("persistent-volume-write", "the same, written"),
		{Name: "kubernetes.containerspec-addcapabilities", Type: feature, Default: "Disabled", Effect: "`capabilities.add` of containers"},
		{Name: "secure-pod-defaults", Type: oneOf("Enabled", "AllowRootBounded", "Disabled"), Default: "Disabled", Effect: "pods get the restricted security settings that they do not name; `AllowRootBounded` leaves the user to the image"},
	}, idle("not there yet",
		Key{Name: "tag-header-based-routing", Type: feature, Default: "Disabled"},
		Key{Name: "autodetect-http2", Type: feature, Default: "Disabled"},
	), idle("there is no sidecar",
		Key{Name: "queueproxy.mount-podinfo", Type: feature, Default: "Disabled"},
		Key{Name: "queueproxy.resource-defaults", Type: feature, Default: "Disabled"},
	))}
}
