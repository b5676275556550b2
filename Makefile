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

# Only a library that is nothing but a cdylib is link-time optimised.
rustc    = $(CARGO) rustc --locked --lib --crate-type cdylib

$(EXT): $(SOURCES)
	$(rustc) --release
	$(PYTHON) scripts/package.py target/release/$(LIBRARY) $@

## debug: build it without optimisation
.PHONY: debug
debug: $(EXT_DEBUG)

$(EXT_DEBUG): $(SOURCES)
	$(rustc)
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
test: test-rust test-sql test-engines test-docs

## test-rust: the kernel against an exact oracle, edges and properties; the SQL runner's own tests
.PHONY: test-rust
test-rust: $(call engine,$(FIRST))
	$(CARGO) test --locked
	SQLTEST_PYTHON=$(abspath $(call engine,$(FIRST))) $(CARGO) test --locked --manifest-path test/runner/Cargo.toml

## test-sql: test/sql on every engine
.PHONY: test-sql
test-sql: $(ENGINES:%=test-sql-%)

SQLTEST := test/runner/target/debug/sqltest

.PHONY: test-sql-%
test-sql-%: $(EXT) build/engine-%/bin/python $(SQLTEST)
	$(SQLTEST) --python $(call engine,$*) --extension $(EXT) --define TIME_BUCKET_EXTENSION=$(abspath $(EXT)) \
	  $(if $(filter-out 1.%,$*),--define TIMESTAMPTZ_NS=1) test/sql

$(SQLTEST): $(shell find test/runner/src -type f) test/runner/Cargo.toml test/runner/engine.py
	$(CARGO) build --locked --manifest-path test/runner/Cargo.toml
	touch $@

## test-engines: what SQL files can't say, in pytest, on every engine
.PHONY: test-engines
test-engines: $(ENGINES:%=test-engines-%)

.PHONY: test-engines-%
test-engines-%: $(EXT) build/engine-%/bin/python
	TIME_BUCKET_EXTENSION=$(abspath $(EXT)) $(call engine,$*) -m pytest -q -p no:cacheprovider test/engines

## test-docs: every SQL block of README.md and docs/ in the CLI, against the output that it shows
.PHONY: test-docs
test-docs: $(EXT) build/tools/duckdb build/data/flights.csv
	$(PYTHON) scripts/check_docs.py --self-test build/tools/duckdb $(EXT) build/data
	$(PYTHON) scripts/check_docs.py build/tools/duckdb $(EXT) build/data README.md docs/windows.md

## lint: formats, clippy and rustdoc, with warnings denied
.PHONY: lint
lint:
	for crate in . test/runner benches; do \
	  $(CARGO) fmt --check --manifest-path $$crate/Cargo.toml; \
	  $(CARGO) clippy --locked --all-targets --target-dir target --manifest-path $$crate/Cargo.toml -- -D warnings; \
	done
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --document-private-items

EXT_BENCH := build/bench/time_bucket.duckdb_extension
ROWS   ?= 10000000
ROUNDS ?= 9
REPORT  = $(PYTHON) bench/report.py docs/performance.md docs/performance.svg $$(ls build/bench/*.json)

$(EXT_BENCH): $(SOURCES) | $(EXT)
	$(rustc) --release --features identity
	$(PYTHON) scripts/package.py target/release/$(LIBRARY) $@

## bench: time the functions against the built-in and a plain copy, on every engine
.PHONY: bench
bench: $(EXT) $(EXT_BENCH) $(ENGINES:%=build/engine-%/bin/python)
	for engine in $(ENGINES); do \
	  build/engine-$$engine/bin/python bench/sql.py --extension $(EXT_BENCH) --package $(EXT) --rows $(ROWS) \
	    --rounds $(ROUNDS) --json build/bench/sql-$$engine.json; \
	done
	$(REPORT)

build/peers/bin/python: bench/requirements.txt Cargo.toml
	$(PYTHON) -m venv build/peers
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$(lastword $(ENGINES)) -r bench/requirements.txt
	touch $@

## bench-peers: race Polars, ClickHouse, DataFusion, pandas and numpy
.PHONY: bench-peers
bench-peers: $(EXT) build/peers/bin/python
	build/peers/bin/python bench/peers.py --extension $(EXT) --rows $(ROWS) --rounds $(ROUNDS) \
	  --json build/bench/peers.json
	$(REPORT)

## bench-growth: 10^5 to 10^9 generated rows
.PHONY: bench-growth
bench-growth: $(EXT) $(ENGINES:%=build/engine-%/bin/python)
	for engine in $(ENGINES); do \
	  build/engine-$$engine/bin/python bench/growth.py --extension $(EXT) --json build/bench/growth-$$engine.json; \
	done
	$(REPORT)

## bench-kernel: criterion, the kernels alone
.PHONY: bench-kernel
bench-kernel:
	cd benches && $(CARGO) bench --locked

## clean: remove everything that was built or fetched
.PHONY: clean
clean:
	rm -rf build target test/runner/target benches/target fuzz/target

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-12s %s\n", $$1, $$2 }'
