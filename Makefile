# Every step of the project, for people and for CI. `make help` lists them.
# Versions, engines and the C API are pinned in Cargo.toml, under [package.metadata.duckdb].
.DEFAULT_GOAL := release
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
CARGO  ?= cargo
pinned  = $(shell $(PYTHON) -c 'import tomllib;v=tomllib.load(open("Cargo.toml","rb"))["package"]["metadata"]["duckdb"]["$(1)"];print(*[v] if isinstance(v,str) else v)')

ENGINES := $(call pinned,engines)
FIRST   := $(firstword $(ENGINES))
EXT     := build/release/extension/time_bucket/time_bucket.duckdb_extension
EXT_DEBUG := build/debug/extension/time_bucket/time_bucket.duckdb_extension
ifeq ($(OS),Windows_NT)
LIBRARY := time_bucket.dll
else ifeq ($(shell uname -s),Darwin)
LIBRARY := libtime_bucket.dylib
else
LIBRARY := libtime_bucket.so
endif
SOURCES := $(shell find src -name '*.rs') sql/windows.sql Cargo.toml Cargo.lock scripts/package.py
# The Python of a virtual environment that holds one engine: $(call engine,1.5.6)
engine   = build/engine-$(1)/bin/python

## release: build the extension (the default)
.PHONY: release
release: $(EXT)

$(EXT): $(SOURCES)
	$(CARGO) build --release --locked
	$(PYTHON) scripts/package.py target/release/$(LIBRARY) $@

## debug: build it without optimisation
.PHONY: debug
debug: $(EXT_DEBUG)

$(EXT_DEBUG): $(SOURCES)
	$(CARGO) build --locked
	$(PYTHON) scripts/package.py target/debug/$(LIBRARY) $@

build/tools/duckdb: Cargo.toml scripts/fetch.py
	$(PYTHON) scripts/fetch.py cli $(@D)

build/data/flights.csv: Cargo.toml scripts/fetch.py
	$(PYTHON) scripts/fetch.py flights $(@D)

build/engine-%/bin/python:
	$(PYTHON) -m venv build/engine-$*
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$* -r test/requirements.txt

## shell: open the DuckDB CLI with the extension loaded
.PHONY: shell
shell: $(EXT) build/tools/duckdb
	build/tools/duckdb -unsigned -cmd "LOAD '$(EXT)'"

## demo: show the extension on a year of New York flights and weather
.PHONY: demo
demo: $(EXT) build/tools/duckdb build/data/flights.csv
	$(PYTHON) scripts/demo.py build/tools/duckdb $(EXT) build/data

## test: everything that a change has to pass, on every engine
.PHONY: test
test: test-rust test-sql

## test-rust: the kernel against an exact oracle, edges and properties
.PHONY: test-rust
test-rust:
	$(CARGO) test --locked

## test-sql: test/sql on every engine
.PHONY: test-sql
test-sql: $(ENGINES:%=test-sql-%)

.PHONY: test-sql-%
test-sql-%: $(EXT) build/engine-%/bin/python test/runner/target/debug/sqltest
	test/runner/target/debug/sqltest --python $(call engine,$*) --extension $(EXT) \
	  --define TIME_BUCKET_EXTENSION=$(abspath $(EXT)) $(if $(filter-out 1.%,$*),--define TIMESTAMPTZ_NS=1) test/sql

test/runner/target/debug/sqltest: $(shell find test/runner/src -type f) test/runner/Cargo.toml
	$(CARGO) build --locked --manifest-path test/runner/Cargo.toml
	touch $@

## clean: remove everything that was built or fetched
.PHONY: clean
clean:
	rm -rf build target test/runner/target

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-12s %s\n", $$1, $$2 }'
