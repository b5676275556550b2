# Every step of the project, for people and for CI. `make help` lists them.
# Versions, engines and the C API are pinned in Cargo.toml, under [package.metadata.duckdb].
.DEFAULT_GOAL := release
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
CARGO  ?= cargo
pinned  = $(shell $(PYTHON) -c 'import tomllib;v=tomllib.load(open("Cargo.toml","rb"))["package"]["metadata"]["duckdb"]["$(1)"];print(*[v] if isinstance(v,str) else v)')

# Tests run on ENGINES; OTHERS are asked only whether they take the file.
ENGINES := $(call pinned,engines)
OTHERS  := $(call pinned,refused) $(call pinned,taken)
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
SOURCES := $(shell find src -name '*.rs') $(wildcard sql/macros/*.sql) Cargo.toml Cargo.lock scripts/package.py
# The Python of a virtual environment that holds one engine: $(call engine,1.5.6)
engine   = build/engine-$(1)/bin/python
engines  = $(foreach version,$(1),$(call engine,$(version)))
# File names as one path list.
space   := $(subst ,, )
paths    = $(subst $(space),:,$(abspath $(1)))

## release: build the extension (the default)
.PHONY: release
release: $(EXT)

# Only a library that is nothing but a cdylib is link-time optimised.
rustc    = $(CARGO) rustc --locked --lib --crate-type cdylib
# The bindings would carry the folder's path into the file, which two builds in two folders would then differ by.
release  = RUSTFLAGS='$(RUSTFLAGS) --remap-path-prefix=$(CURDIR)=.' $(rustc) --release

$(EXT): $(SOURCES)
	$(release)
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

build/engine-%/bin/python: test/requirements.txt
	$(PYTHON) -m venv build/engine-$*
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$* $(if $(filter $*,$(ENGINES)),-r test/requirements.txt)
	touch $@

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
test: test-rust test-sql test-engines test-docs soak-short

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

# Every callback of this build panics on demand.
FAULTS := build/faults/time_bucket.duckdb_extension

$(FAULTS): $(SOURCES)
	$(rustc) --features fault-injection
	$(PYTHON) scripts/package.py target/debug/$(LIBRARY) $@

# The tests of the Node client run where there is a Node.
NODE := $(if $(shell command -v npm),build/node)

build/node/node_modules: test/clients/node/package-lock.json
	mkdir -p $(@D)
	cp test/clients/node/* $(@D)
	cd $(@D) && npm ci --silent --no-audit --no-fund
	touch $@

# What the tests of an engine get to know, and need.
KNOWN = TIME_BUCKET_EXTENSION=$(abspath $(EXT)) TIME_BUCKET_FAULTS=$(abspath $(FAULTS)) TIME_BUCKET_CLI=$(abspath build/tools/duckdb) \
  TIME_BUCKET_ENGINES=$(call paths,$(call engines,$(sort $(OTHERS) $(ENGINES)))) \
  TIME_BUCKET_OTHER_PYTHON=$(abspath $(call engine,$(firstword $(filter-out $(1),$(ENGINES))))) $(NODE:%=TIME_BUCKET_NODE=$(abspath %))
NEEDED := $(EXT) $(FAULTS) build/tools/duckdb build/data/flights.csv $(call engines,$(OTHERS) $(ENGINES)) $(NODE:%=%/node_modules)

.PHONY: test-engines-%
test-engines-%: $(NEEDED)
	$(call KNOWN,$*) $(call engine,$*) -m pytest -q -p no:cacheprovider test/engines

## loading-table: write docs/loading.md anew
.PHONY: loading-table
loading-table: $(NEEDED)
	TIME_BUCKET_LOADING_TABLE=1 $(call KNOWN,$(FIRST)) $(call engine,$(FIRST)) -m pytest -q -p no:cacheprovider test/engines/test_loading.py

## test-docs: every SQL block of README.md and docs/ in the CLI, against the output that it shows
.PHONY: test-docs
test-docs: $(EXT) build/tools/duckdb build/data/flights.csv
	$(PYTHON) scripts/check_docs.py --self-test build/tools/duckdb $(EXT) build/data
	$(PYTHON) scripts/check_docs.py build/tools/duckdb $(EXT) build/data README.md docs/windows.md

## soak-short: the soak test with a fixed seed, as a part of `make test`
.PHONY: soak-short
soak-short: $(EXT) $(call engines,$(ENGINES))
	for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/soak.py --extension $(EXT) --seed 1 --values 2000000 --quiet; \
	  $$engine test/fuzz_sql.py --extension $(EXT) --seed 1 --seconds 5; \
	done

## soak: compare 50 million values on each engine with an oracle that shares no code
.PHONY: soak
soak: $(EXT) $(call engines,$(ENGINES))
	for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/soak.py --extension $(EXT) --seed $${SEED:-$$RANDOM} --values $(or $(VALUES),50000000); \
	done

## stress: 64 connections that bind, execute and fail, for minutes
.PHONY: stress
stress: $(NEEDED)
	for engine in $(ENGINES); do \
	  TIME_BUCKET_STRESS_SECONDS=$(or $(SECONDS),180) $(call KNOWN,$(FIRST)) build/engine-$$engine/bin/python -m pytest -q -s \
	    -p no:cacheprovider test/engines/test_concurrency.py; \
	done

## fuzz-sql: random whole queries against the same ones in integer arithmetic, SECONDS on each engine
.PHONY: fuzz-sql
fuzz-sql: $(EXT) $(call engines,$(ENGINES))
	for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/fuzz_sql.py --extension $(EXT) --seed $${SEED:-$$RANDOM} --seconds $(or $(SECONDS),3600); \
	done

# A nightly toolchain, by the name that rustup has it by.
NIGHTLY ?= +nightly
HOST     = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZED  := slice rows interval windows

## fuzz: libFuzzer with AddressSanitizer on the kernel, SECONDS a target (nightly, cargo-fuzz)
.PHONY: fuzz
fuzz: $(FUZZED:%=fuzz-%)

.PHONY: fuzz-%
fuzz-%:
	mkdir -p fuzz/corpus/$*
	cd fuzz && $(CARGO) $(NIGHTLY) fuzz run $* corpus/$* seeds/$* -- -max_total_time=$(or $(SECONDS),3600) -max_len=600

## memory: AddressSanitizer and ThreadSanitizer in the engines, leaks, valgrind in the CLI (nightly with rust-src, gcc, valgrind)
.PHONY: memory
memory: $(EXT) $(call engines,$(ENGINES)) build/tools/duckdb build/asan/time_bucket.duckdb_extension build/tsan/time_bucket.duckdb_extension
	for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/memory.py sanitized --runtime "$$(gcc -print-file-name=libasan.so)" --extension build/asan/time_bucket.duckdb_extension; \
	  $$engine test/memory.py sanitized --runtime "$$(gcc -print-file-name=libtsan.so) $(CURDIR)/build/tsan/shim.so" \
	    --extension build/tsan/time_bucket.duckdb_extension; \
	  $$engine test/memory.py leak --extension $(EXT); \
	done
	$(PYTHON) test/memory.py valgrind --cli build/tools/duckdb --extension $(EXT)

build/asan/time_bucket.duckdb_extension: $(SOURCES)
	RUSTFLAGS='-Zsanitizer=address -Cforce-frame-pointers=yes' $(CARGO) $(NIGHTLY) build --locked --target $(HOST) --target-dir target/asan
	$(PYTHON) scripts/package.py target/asan/$(HOST)/debug/$(LIBRARY) $@

build/tsan/time_bucket.duckdb_extension: $(SOURCES) test/tsan_shim.c
	RUSTFLAGS='-Zsanitizer=thread -Cforce-frame-pointers=yes' $(CARGO) $(NIGHTLY) build --locked -Zbuild-std --target $(HOST) \
	  --target-dir target/tsan
	$(PYTHON) scripts/package.py target/tsan/$(HOST)/debug/$(LIBRARY) $@
	gcc -shared -fPIC -O0 -fno-builtin -o $(@D)/shim.so test/tsan_shim.c

## miri: the kernel's tests in the interpreter of undefined behaviour (nightly with miri)
.PHONY: miri
miri:
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) $(NIGHTLY) miri test --lib kernel::

## lint: formats, clippy and rustdoc, with warnings denied
.PHONY: lint
lint:
	for crate in . test/runner benches fuzz; do \
	  $(CARGO) fmt --check --manifest-path $$crate/Cargo.toml; \
	  $(CARGO) clippy --locked --all-targets --target-dir target --manifest-path $$crate/Cargo.toml -- -D warnings; \
	done
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --document-private-items

EXT_BENCH := build/bench/time_bucket.duckdb_extension
ROWS   ?= 10000000
ROUNDS ?= 9
REPORT  = $(PYTHON) bench/report.py docs/performance.md docs/performance.svg $$(ls build/bench/*.json)

$(EXT_BENCH): $(SOURCES) | $(EXT)
	$(release) --features identity
	$(PYTHON) scripts/package.py target/release/$(LIBRARY) $@

## bench: time the functions against the built-in and a plain copy, on every engine
.PHONY: bench
bench: $(EXT) $(EXT_BENCH) $(ENGINES:%=build/engine-%/bin/python)
	for engine in $(ENGINES); do \
	  build/engine-$$engine/bin/python bench/sql.py --extension $(EXT_BENCH) --package $(EXT) --rows $(ROWS) \
	    --rounds $(ROUNDS) --json build/bench/sql-$$engine.json; \
	done
	$(REPORT)

build/race/bin/python: bench/requirements.txt Cargo.toml
	$(PYTHON) -m venv build/race
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$(lastword $(ENGINES)) -r bench/requirements.txt
	touch $@

## bench-peers: race Polars, ClickHouse, DataFusion, pandas and numpy
.PHONY: bench-peers
bench-peers: $(EXT) build/race/bin/python
	build/race/bin/python bench/peers.py --extension $(EXT) --rows $(ROWS) --rounds $(ROUNDS) \
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

build/peers/bin/python: test/peers/requirements.txt
	$(PYTHON) -m venv build/peers
	$@ -m pip install --quiet --disable-pip-version-check -r test/peers/requirements.txt
	touch $@

## peers: compare answers with other programs, each difference explained in docs/compatibility.md (Java 17)
.PHONY: peers
peers: $(EXT) build/peers/bin/python
	build/peers/bin/python test/peers/compare.py --extension $(EXT) $(if $(WRITE),--write)

## reproducible: two builds in two folders, one hash
.PHONY: reproducible
reproducible:
	$(PYTHON) scripts/reproducible.py

## deny: licences, sources, duplicates and advisories of the dependencies (cargo-deny)
.PHONY: deny
deny:
	$(CARGO) deny check

## deny-offline: the same without advisories
.PHONY: deny-offline
deny-offline:
	$(CARGO) deny --offline check licenses bans sources

## clean: remove everything that was built or fetched
.PHONY: clean
clean:
	rm -rf build target test/runner/target benches/target fuzz/target

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-12s %s\n", $$1, $$2 }'
