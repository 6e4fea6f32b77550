#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Generates the injection packages: accessors of Kubernetes' own kinds for the
# controller kit, and accessors and reconcilers of our kinds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kube_kinds=(
	core/v1.ConfigMap core/v1.Endpoints core/v1.Event core/v1.Namespace core/v1.Node core/v1.Pod
	core/v1.Secret core/v1.Service core/v1.ServiceAccount
	apps/v1.Deployment apps/v1.ReplicaSet
	autoscaling/v2.HorizontalPodAutoscaler
	coordination/v1.Lease
	discovery/v1.EndpointSlice
)

echo "generate: injection of Kubernetes' kinds"
OUTPUT_PKG=weir.dev/pkg/client/injection/kube \
VERSIONED_CLIENTSET_PKG=k8s.io/client-go/kubernetes \
EXTERNAL_INFORMER_PKG=k8s.io/client-go/informers \
LISTERS_PKG=k8s.io/client-go/listers \
	bash hack/generate-knative.sh injection weir.dev/pkg/client k8s.io/api \
	"core:v1 apps:v1 autoscaling:v2 coordination:v1 discovery:v1" \
	--go-header-file hack/boilerplate.go.txt \
	--kinds "$(IFS=, && echo "${kube_kinds[*]}")"

echo "generate: injection of shapes"
bash hack/generate-knative.sh injection weir.dev/pkg/client weir.dev/pkg/apis "duck:v1" \
	--go-header-file hack/boilerplate.go.txt

echo "generate: injection of our kinds"
bash hack/generate-knative.sh injection weir.dev/client weir.dev/api \
	"serving:v1 networking:v1alpha1 autoscaling:v1alpha1" \
	--go-header-file hack/boilerplate.go.txt
