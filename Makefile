# Sandglass: every command a developer needs. `make` prints them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help up down check test test-all e2e clients bench soak images generate format clean

# A JDK 25 wherever it is; recipes that need Java say so by depending on `java`.
export JAVA_HOME := $(shell .ci/jdk 2>/dev/null || echo "$$JAVA_HOME")
# Debian's Maven brings a library that JDK 25 warns about.
export MAVEN_OPTS ?= --sun-misc-unsafe-memory-access=allow

help: ## what there is to run
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: ## a working endpoint on its own Kubernetes (CLUSTER=external: yours), then a demonstration with real output
	@.ci/doctor java go python image
	@e2e/up

down: ## ends the project's own cluster and leaves nothing behind
	@e2e/cluster/cluster down

images: ## builds the container images; with REGISTRY=HOST/PATH pushes them and writes the chart's values that name them
	@.ci/doctor java python image
	@images/build $(if $(REGISTRY),--push '$(REGISTRY)')

check: ## everything that needs no cluster
	@.ci/doctor java go python shell
	@.ci/check

test: ## what every change must pass: check, then a cluster and the tests of each capability and wall
	@.ci/doctor java go python shell image e2e
	@.ci/check
	@e2e/up
	@e2e/run --tier test

test-all: ## everything else there is, in six parts: SHARD=2/6 runs one of them
	$(if $(filter-out 1/6 2/6 3/6 4/6 5/6 6/6,$(SHARD)),$(error SHARD=$(SHARD): there are six parts, 1/6 to 6/6))
	@.ci/doctor java go python shell image e2e
	@e2e/up
	@failed=0; for part in $(if $(SHARD),$(SHARD:%/6=%),1 2 3 4 5 6); do e2e/run --tier $$part || failed=1; done; exit $$failed

e2e: ## the tests against the endpoint that `make up` left
	@.ci/doctor java python e2e
	@e2e/run

clients: ## MCP clients of frameworks, from their registries, through one scenario on that endpoint (e2e/clients/run_all.py NAME for one)
	@.ci/doctor java python
	@e2e/clients/run_all.py

bench: ## how fast and how big, as ratios; writes build/bench.json
	@e2e/bench

soak: ## bad messages for every decoder, 34 minutes of CPU (.ci/soak MINUTES EGRESS), and text through the endpoint if one is up; findings in build/soak
	@.ci/doctor java python
	@.ci/soak

generate: ## makes the generated files anew: CRD, API reference, golden files, recorded frames, chart
	@.ci/doctor java python
	@.ci/generate

format: ## formats Java, Python and Go
	@.ci/doctor java go python
	@mvn -q spotless:apply
	@kernel-image/check --fix
	@gofmt -w e2e/cluster

clean: ## removes what was built in the tree (caches outside it stay)
	@rm -rf build target */target
