#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0
#
# Generates what is generated: deep copies, clients, listers, informers,
# injection, CRDs. The tools are built from tools/go.mod into .bin, so that
# their versions are pinned in one place. Nothing here needs a network once the
# modules are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly bin="$PWD/.bin"
readonly header="hack/boilerplate.go.txt"
readonly module="weir.dev"
readonly groups=(serving/v1 networking/v1alpha1 autoscaling/v1alpha1)

mkdir -p "$bin"
(cd tools && GOWORK=off go build -o "$bin/" \
	k8s.io/code-generator/cmd/client-gen \
	k8s.io/code-generator/cmd/deepcopy-gen \
	k8s.io/code-generator/cmd/informer-gen \
	k8s.io/code-generator/cmd/lister-gen)

apis=()
inputs=()
for group in "${groups[@]}"; do
	apis+=("$module/api/$group")
	inputs+=("--input" "$group")
done

echo "generate: deep copies"
"$bin/deepcopy-gen" --go-header-file "$header" --output-file zz_generated.deepcopy.go \
	./pkg/apis ./pkg/apis/duck/v1 ./pkg/tracker/reference "${apis[@]}"

echo "generate: clientset, listers, informers"
rm -rf client/clientset client/listers client/informers
"$bin/client-gen" --go-header-file "$header" \
	--clientset-name versioned --input-base "$module/api" "${inputs[@]}" \
	--output-dir client/clientset --output-pkg "$module/client/clientset"
"$bin/lister-gen" --go-header-file "$header" \
	--output-dir client/listers --output-pkg "$module/client/listers" "${apis[@]}"
"$bin/informer-gen" --go-header-file "$header" \
	--versioned-clientset-package "$module/client/clientset/versioned" \
	--listers-package "$module/client/listers" \
	--output-dir client/informers --output-pkg "$module/client/informers" "${apis[@]}"

if [ -d pkg/codegen/cmd/injection-gen ]; then
	echo "generate: injection"
	bash hack/generate-injection.sh
fi

echo "generate: the example's code"
bash examples/controller/hack/update-codegen.sh

if [ -d internal/crdgen ]; then
	echo "generate: CRDs"
	go run ./internal/crdgen/cmd/crdgen -out config/crd
fi

echo "generate: the feed's messages"
(cd tools && GOWORK=off go build -o "$bin/" \
	google.golang.org/protobuf/cmd/protoc-gen-go \
	google.golang.org/grpc/cmd/protoc-gen-go-grpc)
command -v protoc >/dev/null || { echo "protoc is missing: install protobuf-compiler" >&2; exit 1; }
PATH="$bin:$PATH" protoc --go_out=. --go_opt=module=$module --go-grpc_out=. --go-grpc_opt=module=$module \
	internal/feed/feedpb/feed.proto
