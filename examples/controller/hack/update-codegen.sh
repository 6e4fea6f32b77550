#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Generates the clients, informers, listers and reconcilers of the example's
# kinds, with the scripts of the kit wherever it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOWORK=off

kit="$(go list -f '{{.Dir}}' weir.dev/pkg/hack)"
readonly kit module=weir.dev/examples/controller

bash "$kit/generate-groups.sh" "deepcopy,client,informer,lister" \
	"$module/pkg/client" "$module/pkg/apis" "samples:v1alpha1" \
	--go-header-file hack/boilerplate.go.txt

bash "$kit/generate-knative.sh" "injection" \
	"$module/pkg/client" "$module/pkg/apis" "samples:v1alpha1" \
	--go-header-file hack/boilerplate.go.txt
