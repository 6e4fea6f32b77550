#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0

# Fuzzes each target of both modules for the time $1 (go's notation). What fails is kept in testdata/fuzz, where every later run
# of the tests finds it.
set -euo pipefail
each=${1:-30s}
cd "$(dirname "$0")/.."
for module in . embedded; do
  grep -rl --include='*_test.go' '^func Fuzz' "$module" --exclude-dir="$([[ $module == . ]] && echo embedded || echo none)" |
    sort | while read -r file; do
    for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$file"); do
      echo "== $target in ${file%/*}"
      (cd "${file%/*}" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" .)
    done
  done
done
