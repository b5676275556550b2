# Runs that take minutes to hours, and what a release is checked by. Part of the Makefile, which says what they need.

build/clients-%/bin/python: test/clients/requirements.txt
	$(PYTHON) -m venv build/clients-$*
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$* -r $<
	touch $@

.PRECIOUS: build/clients-%/bin/python

# Rust's example needs a libduckdb: the one that Node's package for this platform brings along.
LIBDUCKDB = $(abspath $(wildcard build/node/node_modules/@duckdb/node-bindings-*/libduckdb.so))

## test-clients: Ibis, dbt, SQLAlchemy, ADBC, pandas, Polars and Rust, and the examples of docs/clients.md, on every engine
.PHONY: test-clients
test-clients: $(ENGINES:%=test-clients-%)

.PHONY: test-clients-%
test-clients-%: $(EXT) build/clients-%/bin/python $(NODE:%=%/node_modules)
	TIME_BUCKET_EXTENSION=$(abspath $(EXT)) $(LIBDUCKDB:%/libduckdb.so=DUCKDB_LIB_DIR=%) build/clients-$*/bin/python -m pytest -q -p no:cacheprovider $(or $(TESTS),test/clients)

## soak: compare 50 million values on each engine with an oracle that shares no code
.PHONY: soak
soak: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/soak.py --extension $(EXT) --seed $${SEED:-$$RANDOM} --values $(or $(VALUES),50000000); \
	done

## soak-local: the same for local time: every zone or ZONES of them, near each change of its clock from 1900 to 2100, with every width
.PHONY: soak-local
soak-local: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/local_time.py --extension $(EXT) --seed $${SEED:-$$RANDOM} $(ZONES:%=--zones %); \
	done

## soak-macros: every row that the window macros give against exact arithmetic, OUT of them on each engine
.PHONY: soak-macros
soak-macros: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/soak/macros.py --extension $(EXT) --seed $${SEED:-$$RANDOM} --rows $(or $(OUT),60000000); \
	done

## stress: 64 connections that bind, execute and fail, for minutes
.PHONY: stress
stress: $(NEEDED)
	set -e; for engine in $(ENGINES); do \
	  TIME_BUCKET_STRESS_SECONDS=$(or $(SECONDS),180) $(call engine,$$engine) -m pytest -q -s \
	    -p no:cacheprovider test/engines/test_concurrency.py; \
	done

## fuzz-sql: random whole queries against the same ones in integer arithmetic, SECONDS on each engine
.PHONY: fuzz-sql
fuzz-sql: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/fuzz_sql.py --extension $(EXT) --seed $${SEED:-$$RANDOM} --seconds $(or $(SECONDS),3600); \
	done

# A nightly toolchain, by the name that rustup has it by.
NIGHTLY ?= +nightly
FUZZED  := slice rows interval windows local
# The release profile is for a small file; a fuzzer wants its checks and its symbols.
FUZZ_PROFILE := CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_STRIP=none CARGO_PROFILE_RELEASE_DEBUG=1 \
  CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true

## fuzz: libFuzzer with AddressSanitizer on the kernel, SECONDS a target (nightly, cargo-fuzz)
.PHONY: fuzz
fuzz: $(FUZZED:%=fuzz-%)

.PHONY: fuzz-%
fuzz-%:
	mkdir -p build/corpus/$*
	$(FUZZ_PROFILE) $(CARGO) $(NIGHTLY) fuzz run --fuzz-dir kernel/fuzz $* build/corpus/$* kernel/fuzz/seeds/$* \
	  -- -max_total_time=$(or $(SECONDS),3600) -max_len=600

## memory: AddressSanitizer and ThreadSanitizer in the engines, leaks, valgrind in the CLI (nightly with rust-src, gcc, valgrind)
.PHONY: memory
memory: $(EXT) $(call engines,$(ENGINES)) $(CLI) build/asan/time_bucket.duckdb_extension build/tsan/time_bucket.duckdb_extension
	set -e; for engine in $(call engines,$(ENGINES)); do \
	  $$engine test/memory.py sanitized --runtime "$$(gcc -print-file-name=libasan.so)" --extension build/asan/time_bucket.duckdb_extension; \
	  $$engine test/memory.py sanitized --runtime "$$(gcc -print-file-name=libtsan.so) $(CURDIR)/build/tsan/shim.so" \
	    --extension build/tsan/time_bucket.duckdb_extension; \
	  $$engine test/memory.py leak --extension $(EXT); \
	done
	$(PYTHON) test/memory.py valgrind --cli $(CLI) --extension $(EXT)

build/asan/time_bucket.duckdb_extension: $(SOURCES)
	NIGHTLY=$(NIGHTLY) $(call build,asan)

build/tsan/time_bucket.duckdb_extension: $(SOURCES) test/tsan_shim.c
	NIGHTLY=$(NIGHTLY) $(call build,tsan)
	gcc -shared -fPIC -O0 -fno-builtin -o $(@D)/shim.so test/tsan_shim.c

## miri: the kernel's tests in the interpreter of undefined behaviour (nightly with miri)
.PHONY: miri
miri:
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) $(NIGHTLY) miri test --package time_bucket_kernel --lib

build/peers/bin/python: test/peers/requirements.txt
	$(PYTHON) -m venv build/peers
	$@ -m pip install --quiet --disable-pip-version-check -r test/peers/requirements.txt
	touch $@

## peers: compare answers with other programs, each difference explained in docs/compatibility.md (Java 17)
.PHONY: peers
peers: $(EXT) build/peers/bin/python
	build/peers/bin/python test/peers/compare.py --extension $(EXT) $(if $(WRITE),--write)
	build/peers/bin/python test/peers/local.py --extension $(EXT) $(if $(WRITE),--write)

## loading-table: write docs/loading.md anew
.PHONY: loading-table
loading-table: $(NEEDED)
	TIME_BUCKET_LOADING_TABLE=1 $(call engine,$(FIRST)) -m pytest -q -p no:cacheprovider test/engines/test_loading.py test/engines/test_install.py

## reproducible: two builds that share no folder, one hash
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
