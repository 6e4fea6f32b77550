#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs injection-gen for the API groups of a repository:
#
#   generate-knative.sh injection <client package> <APIs package> "group:v1,v2 ..." [flags of injection-gen]
#
# It is called from the root of the repository's module, which has the line
# "tool weir.dev/pkg/codegen/cmd/injection-gen" in its go.mod. The output is
# <client package>/injection, which is wiped first. The environment overrides
# where things are: OUTPUT_PKG, VERSIONED_CLIENTSET_PKG, EXTERNAL_INFORMER_PKG,
# LISTERS_PKG.
set -euo pipefail

if [ "$#" -lt 4 ] || [[ "$1" != *injection* ]]; then
	sed -n '6,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
fi
readonly client="$2" apis="$3" groups="$4"
shift 4

module="$(go list -m)"
module="${module%%$'\n'*}" # a workspace lists all of its modules
readonly output="${OUTPUT_PKG:-$client/injection}"
readonly dir="${output#"$module"/}"
if [ "$dir" = "$output" ]; then
	echo "generate-knative.sh: $output is outside the module $module" >&2
	exit 2
fi

inputs=()
for group in $groups; do
	for version in $(tr , ' ' <<<"${group#*:}"); do
		inputs+=("$apis/${group%%:*}/$version")
	done
done
go list "${inputs[@]}" >/dev/null # before anything is wiped

rm -rf "./$dir/client" "./$dir/informers" "./$dir/reconciler" "./$dir/ducks"
go run weir.dev/pkg/codegen/cmd/injection-gen \
	--input-dirs "$(IFS=, && echo "${inputs[*]}")" \
	--output-package "$output" \
	--output-dir "$dir" \
	--versioned-clientset-package "${VERSIONED_CLIENTSET_PKG:-$client/clientset/versioned}" \
	--external-versions-informers-package "${EXTERNAL_INFORMER_PKG:-$client/informers/externalversions}" \
	--listers-package "${LISTERS_PKG:-$client/listers}" \
	"$@"
