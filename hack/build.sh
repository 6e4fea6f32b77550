#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the commands into the directory $1 and says how far it is: the first build compiles Kubernetes, which takes minutes.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
mkdir -p "$out"
start=$SECONDS

# The API server reports the version that the linker gives it.
kubernetes=$(cd embedded && go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
flags="-s -w"
for pkg in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=" -X $pkg.gitVersion=$kubernetes -X $pkg.gitMajor=$major -X $pkg.gitMinor=$minor"
done

# build MODULE PACKAGE: go build -v names each package as it compiles it; those in the build cache it does not name.
build() {
  local module=$1 package=$2 name=${2##*/} total
  total=$(cd "$module" && go list -deps "$package" | wc -l)
  (cd "$module" && go build -v -ldflags "$flags" -o "$out/$name" "$package" 2>&1) | awk -v name="$name" -v total="$total" '
    /^[a-z0-9.]+[a-z0-9.\/_-]*$/ { n++; if (n % 100 == 0) { printf "  %s: compiled %d of at most %d packages\n", name, n, total; fflush() } next }
    { print; fflush() }'
}

echo "Building weir (the first time compiles Kubernetes: about ten minutes on two cores) ..."
build embedded ./cmd/weir
build . ./cmd/controller
build . ./cmd/gateway
build . ./cmd/weirctl
echo "Built in $((SECONDS - start)) s: $(ls "$out" | tr '\n' ' ')"
