# What a user and a contributor need; CI runs `make lint` and `make test`. `make help` lists every step.
# What is released for all platforms is in platforms/platforms.mk, long runs are in test/long.mk, benchmarks in bench/bench.mk.
# Versions, engines, platforms and the C API are pinned in Cargo.toml, under [package.metadata.duckdb].
.DEFAULT_GOAL := release
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

CARGO  ?= cargo
# The first Python that is 3.11 or later, and what it reads in Cargo.toml: one start of it, since some take long to find their own.
PINNED := $(shell for python in $(or $(PYTHON),python3 python python3.14 python3.13 python3.12 python3.11); do \
  $$python scripts/project.py 2>/dev/null && echo python=$$python && break; done)
pinned  = $(patsubst $(1)=%,%,$(filter $(1)=%,$(PINNED)))
PYTHON := $(or $(call pinned,python),$(error Python 3.11 or later is needed))

# Tests run on ENGINES; OTHERS are asked only whether they take the file.
ENGINES := $(call pinned,engines)
OTHERS  := $(call pinned,refused) $(call pinned,taken)
FIRST   := $(firstword $(ENGINES))
# The file that is tested and measured: BUILD=debug takes an unoptimised one, which is built faster, PLATFORM=… a released one.
BUILD   ?= release
built    = build/$(1)/extension/time_bucket/time_bucket.duckdb_extension
# Microsoft's tools set a variable of this name.
ifeq ($(origin PLATFORM),environment)
PLATFORM :=
endif
released = build/platforms/$(1)/time_bucket.duckdb_extension
EXT     := $(if $(PLATFORM),$(call released,$(PLATFORM)),$(call built,$(BUILD)))
SOURCES := $(shell find src kernel/src zones/src zones/build -name '*.rs') $(wildcard sql/macros/*.sql) Cargo.toml kernel/Cargo.toml zones/Cargo.toml Cargo.lock \
  scripts/build.py scripts/binary.py scripts/package.py scripts/project.py
# The Python of a virtual environment that holds one engine: $(call engine,1.5.6)
bin     := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
exe     := $(if $(filter Windows_NT,$(OS)),.exe)
engine   = build/engine-$(1)/$(bin)/python$(exe)
engines  = $(foreach version,$(1),$(call engine,$(version)))

CLI     := build/tools/duckdb$(exe)

# What builds and stamps a variant: $(call build,release)
build    = CARGO=$(CARGO) $(PYTHON) scripts/build.py $(1) $@
# The crates below the extension, always named together: another choice has other features, and is compiled anew.
OTHER_CRATES := --package time_bucket_kernel --package time_bucket_zones --package sqltest --package sqlengine
# A subcommand of cargo on what a release is built from.
shared   = CARGO=$(CARGO) $(PYTHON) scripts/build.py cargo

## release: build the extension (the default); PLATFORM=… as it is released for a platform
.PHONY: release
release: $(if $(PLATFORM),$(EXT),$(call built,release))

## debug: build it without optimisation
.PHONY: debug
debug: $(call built,debug)

# DuckDB's own CI says in DUCKDB_PLATFORM what it wants.
$(call built,%): $(SOURCES)
	$(call build,$*) $(DUCKDB_PLATFORM:%=--expect %)

$(CLI): Cargo.toml scripts/fetch.py
	$(PYTHON) scripts/fetch.py cli $(@D)

build/data/flights.csv: Cargo.toml scripts/fetch.py
	$(PYTHON) scripts/fetch.py flights $(@D)

$(call engine,%): test/requirements.txt
	$(PYTHON) -m venv build/engine-$*
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$* $(if $(filter $*,$(ENGINES)),-r test/requirements.txt)
	touch $@

## shell: open the DuckDB CLI with the extension loaded
.PHONY: shell
shell: $(EXT) $(CLI)
	$(CLI) -unsigned -cmd "LOAD '$(EXT)'"

## demo: show the extension on a year of New York flights and weather
.PHONY: demo
demo: $(EXT) $(CLI) build/data/flights.csv
	$(PYTHON) scripts/demo.py $(CLI) $(EXT) build/data

## test: everything that a change has to pass, on every engine
.PHONY: test
test: test-rust test-sql test-engines test-dask test-release test-docs soak-short

## test-rust: the kernel against an exact oracle, edges and properties; the extension's own tests; the SQL runner's
.PHONY: test-rust
test-rust: $(call engine,$(FIRST)) | $(call built,release)
	SQLTEST_PYTHON=$(abspath $(call engine,$(FIRST))) $(CARGO) test --locked $(OTHER_CRATES)
	$(shared) test --locked --package time_bucket

## test-sql: test/sql on every engine; TESTS=test/sql/width.test for one file, BUILD=debug for a quick build
.PHONY: test-sql
test-sql: $(ENGINES:%=test-sql-%)

SQLTEST := $(or $(CARGO_TARGET_DIR),target)/debug/sqltest$(exe)

# test/sql in the Python of one engine: $(call sql,PYTHON,1.5.6)
sql      = $(SQLTEST) --python $(1) --extension $(EXT) --define TIME_BUCKET_EXTENSION=$(abspath $(EXT)) \
  $(if $(filter-out 1.%,$(2)),--define TIMESTAMPTZ_NS=1) $(or $(TESTS),test/sql)

.PHONY: test-sql-%
test-sql-%: $(EXT) $(call engine,%) $(SQLTEST)
	$(call sql,$(call engine,$*),$*)

$(SQLTEST): $(shell find test/runner/src -type f) test/runner/Cargo.toml test/runner/engine.py
	$(CARGO) build --locked $(OTHER_CRATES)
	touch $@

## test-engines: what SQL files can't say, in pytest, on every engine; TESTS='test/engines/test_soak.py -k hop' for some
.PHONY: test-engines
test-engines: $(ENGINES:%=test-engines-%)

# Every callback of this build panics on demand.
FAULTS := build/faults/time_bucket.duckdb_extension

$(FAULTS): $(SOURCES) | $(call built,release)
	$(call build,faults)

# The tests of the Node client run where there is a Node.
NODE := $(if $(shell command -v npm),build/node)

build/node/node_modules: test/clients/node/package-lock.json
	mkdir -p $(@D)
	cp test/clients/node/* $(@D)
	cd $(@D) && npm ci --silent --no-audit --no-fund
	touch $@

NEEDED := $(EXT) $(FAULTS) $(CLI) build/data/flights.csv $(call engines,$(OTHERS) $(ENGINES)) $(NODE:%=%/node_modules)

## test-inputs: what pytest needs to be run by hand
.PHONY: test-inputs
test-inputs: $(NEEDED)

.PHONY: test-engines-%
test-engines-%: $(NEEDED)
	TIME_BUCKET_EXTENSION=$(abspath $(EXT)) $(call engine,$*) -m pytest -q -p no:cacheprovider $(or $(TESTS),test/engines)

## test-docs: every SQL block of README.md and docs/ in the CLI, against the output that it shows
.PHONY: test-docs
test-docs: $(EXT) $(CLI) build/data/flights.csv
	$(PYTHON) scripts/check_docs.py --self-test $(CLI) $(EXT) build/data
	$(PYTHON) scripts/check_docs.py $(CLI) $(EXT) build/data README.md docs/windows.md docs/cookbook.md docs/local-time.md docs/cluster.md

## soak-short: the soak test with a fixed seed, as a part of `make test`
.PHONY: soak-short
soak-short: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/soak.py --extension $(EXT) --seed 1 --values 2000000 --quiet; \
	  $$engine test/soak/local_time.py --extension $(EXT) --seed 1 --zones 25; \
	  $$engine test/soak/macros.py --extension $(EXT) --seed 1 --rows 300000; \
	  $$engine test/fuzz_sql.py --extension $(EXT) --seed 1 --seconds 5; \
	done

## lint: formats, clippy and rustdoc, with warnings denied; Rust's minimum version and the notices of other people's code
.PHONY: lint
lint:
	$(CARGO) fmt --all --check
	$(PYTHON) scripts/msrv.py
	$(PYTHON) scripts/notices.py --check
	$(shared) clippy --locked --package time_bucket --all-targets -- -D warnings
	$(CARGO) clippy --locked $(OTHER_CRATES) --all-targets -- -D warnings
	$(CARGO) clippy --locked --package kernel-benches --package kernel-fuzz --no-default-features --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(shared) doc --locked --package time_bucket --no-deps --document-private-items
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked $(OTHER_CRATES) --no-deps --document-private-items

include platforms/platforms.mk platforms/community.mk test/long.mk test/cluster/cluster.mk bench/bench.mk playground/playground.mk

## clean: remove everything that was built or fetched
.PHONY: clean
clean:
	rm -rf build target

## help: this list
.PHONY: help
help:
	@set -e; for file in $(MAKEFILE_LIST); do \
	  echo "$$file"; \
	  sed -n 's/^## //p' $$file | awk -F': ' '{ printf "  make %-14s %s\n", $$1, $$2 }'; \
	done
