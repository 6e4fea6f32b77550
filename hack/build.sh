#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the commands into the directory $1 and says how far it is: the first build compiles Kubernetes, which takes minutes.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
mkdir -p "$out"
start=$SECONDS

# build MODULE PACKAGE: go build -v names each package as it compiles it; those in the build cache it does not name.
build() {
  local module=$1 package=$2 name=${2##*/} total
  total=$(cd "$module" && go list -deps "$package" | wc -l)
  (cd "$module" && go build -v -ldflags '-s -w' -o "$out/$name" "$package" 2>&1) | awk -v name="$name" -v total="$total" '
    /^[a-z0-9.]+[a-z0-9.\/_-]*$/ { n++; if (n % 100 == 0) { printf "  %s: compiled %d of at most %d packages\n", name, n, total; fflush() } next }
    { print; fflush() }'
}

echo "Building weir (the first time compiles Kubernetes: about ten minutes on two cores) ..."
build embedded ./cmd/weir
build . ./cmd/controller
build . ./cmd/gateway
build . ./cmd/weirctl
echo "Built in $((SECONDS - start)) s: $(ls "$out" | tr '\n' ' ')"
