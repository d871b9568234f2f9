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
	@.ci/tests check

test: ## what every change must pass: check, then a cluster and the tests of each capability and wall
	@.ci/doctor java go python shell image e2e
	@.ci/tests test

test-all: ## all other tests; SHARD=2/6 runs the second of six parts
	@.ci/doctor java go python shell image e2e
	@.ci/tests rest $(SHARD)

e2e: ## tests by name against the endpoint that `make up` left: make e2e ONLY='FilesE2E e2e/split-dns'
	@.ci/doctor java python e2e
	@.ci/tests only $(ONLY)

clients: ## MCP clients of frameworks, from their registries, through one scenario on that endpoint (e2e/clients/run_all.py NAME for one)
	@.ci/doctor java python
	@e2e/clients/run_all.py

bench: ## how fast and how big, as ratios, in about 50 minutes; writes build/bench.json after each part
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
