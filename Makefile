# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0

# `make` lists the targets. CI runs `make test` and nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .bin
export GOFLAGS := -buildvcs=false

# What is tested without a cluster: all of both modules but what links Kubernetes itself.
UNIT_ROOT := ./api/... ./pkg/... ./config/... ./client/... ./internal/... ./cmd/... ./test/arch/... ./test/kit/... ./test/codegen/... ./test/docs/... ./test/summary/...
UNIT_EXAMPLE := ./cmd/... ./pkg/... ./seed/...
UNIT_EMBEDDED := ./cluster/pki ./cluster/datadir ./network/... ./node/... ./standalone/stack ./standalone/claim

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## the main job: start Weir, build images, deploy, scale to zero, wake; leaves nothing running
	go run ./test/demo --weir $(BIN)/weir

.PHONY: up
up: build ## start Weir and stay in the foreground (as root)
	$(BIN)/weir up

.PHONY: deps
deps: ## install what Weir needs from Debian's packages
	@hack/install-deps.sh

.PHONY: build
build: deps ## build .bin/weir (the first time takes minutes) and the other commands
	@hack/build.sh $(BIN)

.PHONY: test
test: test-unit test-integration test-conformance test-e2e ## everything that proves the project

.PHONY: test-unit
test-unit: deps ## unit tests, with the race detector
	go vet $(UNIT_ROOT)
	GOWORK=off go build ./...
	cd bench && GOWORK=off go vet ./...
	go test -race -timeout 15m $(UNIT_ROOT)
	cd embedded && go test -race -timeout 15m $(UNIT_EMBEDDED)
	cd examples/controller && GOWORK=off go vet ./... && GOWORK=off go test -race -timeout 15m $(UNIT_EXAMPLE)

.PHONY: test-integration
test-integration: build ## the API against the embedded API server, and what the controller kit does when that fails
	go test -count=1 -timeout 15m ./test/integration/... -args -weir $(CURDIR)/$(BIN)/weir
	go test -count=1 -race -timeout 10m ./test/failures/... -args -weir $(CURDIR)/$(BIN)/weir

.PHONY: test-conformance
test-conformance: build ## the rules of the specification, one test each or more, and a summary by rule
	go test -json -count=1 -parallel 8 -timeout 15m ./test/conformance/... -args -weir $(CURDIR)/$(BIN)/weir | go run ./test/summary docs/conformance.md

.PHONY: test-e2e
test-e2e: build build-race ## a running Weir from outside: controller and gateway with the race detector, then the one binary
	go test -count=1 -timeout 20m ./test/e2e/... -args -weir $(CURDIR)/$(BIN)/weir -split $(CURDIR)/$(BIN)/race
	go test -count=1 -race -timeout 10m ./test/convergence/... -args -weir $(CURDIR)/$(BIN)/weir -split $(CURDIR)/$(BIN)/race
	go test -count=1 -short -timeout 20m ./test/e2e/... -args -weir $(CURDIR)/$(BIN)/weir
	cd examples/controller && GOWORK=off go test -count=1 -timeout 15m ./test/... -args -weir $(CURDIR)/$(BIN)/weir

.PHONY: build-race
build-race:
	go build -race -o $(BIN)/race/ ./cmd/controller ./cmd/gateway

.PHONY: soak
soak: build build-race ## the e2e tests twenty times over, ten minutes of random work, and of fuzzing
	go test -count=20 -timeout 3h ./test/e2e/... -args -weir $(CURDIR)/$(BIN)/weir
	go test -count=1 -race -timeout 30m ./test/convergence/... -args -weir $(CURDIR)/$(BIN)/weir -split $(CURDIR)/$(BIN)/race -seed $$RANDOM -for 10m
	hack/fuzz.sh 2m

.PHONY: bench
bench: build ## benchmarks, what a thousand Services cost, and the controller kit beside controller-runtime (bench/README.md)
	go test -run '^$$' -bench . -benchmem ./internal/... ./pkg/...
	go run ./test/scale -weir $(BIN)/weir
	cd bench && go run . -weir ../$(BIN)/weir

.PHONY: generate
generate: ## regenerate clients, CRDs, deepcopy, the feed
	hack/generate.sh

.PHONY: lint
lint: ## golangci-lint, with the reasons in .golangci.yml
	cd tools/lint && GOWORK=off go build -o ../../$(BIN)/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	$(BIN)/golangci-lint run ./...
	cd embedded && ../$(BIN)/golangci-lint run ./...
	cd bench && ../$(BIN)/golangci-lint run ./...
	cd examples/controller && GOWORK=off ../../$(BIN)/golangci-lint run ./...

.PHONY: verify
verify: generate lint ## generate, format, lint, tidy; fails when that changes anything
	gofmt -l -w $$(git ls-files '*.go')
	GOWORK=off go mod tidy
	cd embedded && GOWORK=off go mod tidy
	cd bench && GOWORK=off go mod tidy
	cd examples/controller && GOWORK=off go mod tidy
	git diff --exit-code

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN)
