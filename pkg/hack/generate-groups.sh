#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs Kubernetes' generators for the API groups of a repository:
#
#   generate-groups.sh "deepcopy,client,informer,lister" <client package> <APIs package> "group:v1,v2 ..." --go-header-file <file>
#
# "all" stands for all four. It is called from the root of the repository's
# module, which has tool lines for those it uses in its go.mod:
# k8s.io/code-generator/cmd/{deepcopy-gen,client-gen,informer-gen,lister-gen}.
# The output is <client package>/{clientset,listers,informers}, each wiped first,
# and zz_generated.deepcopy.go beside the types. The environment variable
# PLURAL_EXCEPTIONS ("Type:Plural,...") names plurals that follow no rule.
set -euo pipefail

if [ "$#" -lt 4 ]; then
	sed -n '6,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
fi
readonly generators=",${1/all/deepcopy,client,informer,lister},"
readonly client="$2" apis="$3" groups="$4"
shift 4
readonly flags=("$@")
readonly plurals=(--plural-exceptions "${PLURAL_EXCEPTIONS:-Endpoints:Endpoints}")

module="$(go list -m)"
module="${module%%$'\n'*}" # a workspace lists all of its modules
readonly dir="${client#"$module"/}"
if [ "$dir" = "$client" ]; then
	echo "generate-groups.sh: $client is outside the module $module" >&2
	exit 2
fi

inputs=() packages=()
for group in $groups; do
	for version in $(tr , ' ' <<<"${group#*:}"); do
		inputs+=(--input "${group%%:*}/$version")
		packages+=("$apis/${group%%:*}/$version")
	done
done
go list "${packages[@]}" >/dev/null # before anything is wiped

# generate NAME ARGS...: runs NAME-gen if it is asked for.
generate() {
	local name="$1"
	shift
	[[ "$generators" == *",$name,"* ]] || return 0
	echo "generate-groups.sh: generating with $name-gen" >&2
	go run "k8s.io/code-generator/cmd/$name-gen" "${flags[@]}" "$@"
}
# wipe NAME DIR: so that nothing stays of kinds that are gone.
wipe() { [[ "$generators" != *",$1,"* ]] || rm -rf "./$dir/$2"; }

wipe client clientset && wipe lister listers && wipe informer informers
generate deepcopy --output-file zz_generated.deepcopy.go "${packages[@]}"
generate client "${plurals[@]}" --clientset-name versioned --input-base "$apis" "${inputs[@]}" \
	--output-dir "$dir/clientset" --output-pkg "$client/clientset"
generate lister "${plurals[@]}" --output-dir "$dir/listers" --output-pkg "$client/listers" "${packages[@]}"
generate informer "${plurals[@]}" --versioned-clientset-package "$client/clientset/versioned" \
	--listers-package "$client/listers" \
	--output-dir "$dir/informers" --output-pkg "$client/informers" "${packages[@]}"
