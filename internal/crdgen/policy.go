// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crdgen

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "weir.dev/api/serving/v1"
)

// policy says what of the types becomes schema.
type policy struct {
	// allowed lists the fields, by JSON name, that a Kubernetes type may have;
	// a type that is not listed has all. The gated ones are allowed too.
	allowed map[reflect.Type][]string
	// gated lists fields behind a feature flag: there with any content.
	gated map[reflect.Type][]string
	// open are types that keep unknown fields.
	open map[reflect.Type]bool
	// optional lists fields that Go's tags make required.
	optional map[reflect.Type][]string
	// listKeys are the keys of lists that are maps.
	listKeys map[reflect.Type]map[string][]string
	// defaults are the defaults that the API server fills in, JSON.
	defaults map[reflect.Type]map[string]string
}

func (p policy) allows(t reflect.Type, name string) bool {
	if slices.Contains(p.gated[t], name) {
		return true
	}
	allowed, listed := p.allowed[t]
	return !listed || slices.Contains(allowed, name)
}

func (p policy) isOptional(t reflect.Type, name string) bool {
	return slices.Contains(p.optional[t], name)
}

func newPolicy() policy {
	return policy{
		allowed: allowedFields(),
		gated: map[reflect.Type][]string{
			reflect.TypeFor[corev1.PodSpec](): {
				"affinity", "topologySpreadConstraints", "hostAliases", "nodeSelector", "tolerations",
				"runtimeClassName", "securityContext", "shareProcessNamespace", "priorityClassName",
				"schedulerName", "initContainers", "dnsPolicy", "dnsConfig", "hostIPC", "hostPID",
				"hostNetwork",
			},
			reflect.TypeFor[corev1.EnvVarSource](): {"fieldRef", "resourceFieldRef"},
			reflect.TypeFor[corev1.VolumeSource](): {
				"emptyDir", "persistentVolumeClaim", "hostPath", "csi", "ephemeral", "image",
			},
		},
		open: map[reflect.Type]bool{reflect.TypeFor[metav1.ObjectMeta](): true},
		optional: map[reflect.Type][]string{
			reflect.TypeFor[corev1.Container]():            {"name", "resources"},
			reflect.TypeFor[corev1.ContainerPort]():        {"containerPort"},
			reflect.TypeFor[corev1.HTTPGetAction]():        {"port"},
			reflect.TypeFor[corev1.TCPSocketAction]():      {"port"},
			reflect.TypeFor[corev1.GRPCAction]():           {"port", "service"},
			reflect.TypeFor[servingv1.ConfigurationSpec](): {"template"},
		},
		listKeys: map[reflect.Type]map[string][]string{
			reflect.TypeFor[corev1.PodSpec]():   {"volumes": {"name"}},
			reflect.TypeFor[corev1.Container](): {"env": {"name"}, "volumeMounts": {"mountPath"}},
		},
		defaults: map[reflect.Type]map[string]string{
			reflect.TypeFor[corev1.ContainerPort](): {"protocol": `"TCP"`},
			reflect.TypeFor[corev1.GRPCAction]():    {"service": `""`},
		},
	}
}

// allowedFields is the subset of a pod that scales without state.
func allowedFields() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[metav1.ObjectMeta](): {"annotations", "finalizers", "labels", "name", "namespace"},
		reflect.TypeFor[corev1.PodSpec](): {
			"containers", "volumes", "serviceAccountName", "imagePullSecrets", "enableServiceLinks",
			"automountServiceAccountToken",
		},
		reflect.TypeFor[corev1.Container](): {
			"name", "image", "args", "command", "workingDir", "imagePullPolicy", "env", "envFrom",
			"ports", "resources", "livenessProbe", "readinessProbe", "startupProbe", "securityContext",
			"terminationMessagePath", "terminationMessagePolicy", "volumeMounts",
		},
		reflect.TypeFor[corev1.ContainerPort]():        {"name", "containerPort", "protocol"},
		reflect.TypeFor[corev1.EnvVar]():               {"name", "value", "valueFrom"},
		reflect.TypeFor[corev1.EnvVarSource]():         {"configMapKeyRef", "secretKeyRef"},
		reflect.TypeFor[corev1.ResourceRequirements](): {"limits", "requests"},
		reflect.TypeFor[corev1.Probe](): {
			"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold",
		},
		reflect.TypeFor[corev1.ProbeHandler](): {"exec", "httpGet", "tcpSocket", "grpc"},
		reflect.TypeFor[corev1.SecurityContext](): {
			"allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem",
			"runAsGroup", "runAsNonRoot", "runAsUser", "seccompProfile",
		},
		reflect.TypeFor[corev1.VolumeMount]():  {"name", "readOnly", "mountPath", "subPath", "mountPropagation"},
		reflect.TypeFor[corev1.VolumeSource](): {"secret", "configMap", "projected"},
		reflect.TypeFor[corev1.VolumeProjection](): {
			"secret", "configMap", "serviceAccountToken", "downwardAPI",
		},
		reflect.TypeFor[corev1.ObjectReference](): {"apiVersion", "kind", "name"},
	}
}
