#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Generates the injection packages: accessors of Kubernetes' own kinds for the
# controller kit, and accessors and reconcilers of our kinds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kube_kinds=(
	admissionregistration/v1.MutatingWebhookConfiguration admissionregistration/v1.ValidatingWebhookConfiguration
	admissionregistration/v1.ValidatingAdmissionPolicy admissionregistration/v1.ValidatingAdmissionPolicyBinding
	apps/v1.ControllerRevision apps/v1.DaemonSet apps/v1.Deployment apps/v1.ReplicaSet apps/v1.StatefulSet
	autoscaling/v1.HorizontalPodAutoscaler autoscaling/v2.HorizontalPodAutoscaler
	batch/v1.CronJob batch/v1.Job
	certificates/v1.CertificateSigningRequest
	coordination/v1.Lease
	core/v1.ConfigMap core/v1.Endpoints core/v1.Event core/v1.LimitRange core/v1.Namespace core/v1.Node
	core/v1.PersistentVolume core/v1.PersistentVolumeClaim core/v1.Pod core/v1.PodTemplate
	core/v1.ReplicationController core/v1.ResourceQuota core/v1.Secret core/v1.Service core/v1.ServiceAccount
	discovery/v1.EndpointSlice
	events/v1.Event
	networking/v1.Ingress networking/v1.IngressClass networking/v1.NetworkPolicy
	node/v1.RuntimeClass
	policy/v1.PodDisruptionBudget
	rbac/v1.ClusterRole rbac/v1.ClusterRoleBinding rbac/v1.Role rbac/v1.RoleBinding
	scheduling/v1.PriorityClass
	storage/v1.CSIDriver storage/v1.CSINode storage/v1.StorageClass storage/v1.VolumeAttachment
)

echo "generate: injection of Kubernetes' kinds"
OUTPUT_PKG=weir.dev/pkg/client/injection/kube \
VERSIONED_CLIENTSET_PKG=k8s.io/client-go/kubernetes \
EXTERNAL_INFORMER_PKG=k8s.io/client-go/informers \
LISTERS_PKG=k8s.io/client-go/listers \
	bash pkg/hack/generate-knative.sh injection weir.dev/pkg/client k8s.io/api \
	"$(printf '%s\n' "${kube_kinds[@]}" | sed 's|/\(.*\)\..*|:\1|' | sort -u | tr '\n' ' ')" \
	--go-header-file hack/boilerplate.go.txt \
	--kinds "$(IFS=, && echo "${kube_kinds[*]}")"

echo "generate: injection of CustomResourceDefinitions"
readonly apiextensions=k8s.io/apiextensions-apiserver/pkg/client
OUTPUT_PKG=weir.dev/pkg/client/injection/apiextensions \
VERSIONED_CLIENTSET_PKG=$apiextensions/clientset/clientset \
EXTERNAL_INFORMER_PKG=$apiextensions/informers/externalversions \
LISTERS_PKG=$apiextensions/listers \
	bash pkg/hack/generate-knative.sh injection weir.dev/pkg/client k8s.io/apiextensions-apiserver/pkg/apis \
	"apiextensions:v1" \
	--go-header-file hack/boilerplate.go.txt \
	--kinds apiextensions/v1.CustomResourceDefinition

echo "generate: injection of shapes"
bash pkg/hack/generate-knative.sh injection weir.dev/pkg/client weir.dev/pkg/apis "duck:v1" \
	--go-header-file hack/boilerplate.go.txt

echo "generate: injection of our kinds"
bash pkg/hack/generate-knative.sh injection weir.dev/client weir.dev/api \
	"serving:v1 networking:v1alpha1 autoscaling:v1alpha1" \
	--go-header-file hack/boilerplate.go.txt
