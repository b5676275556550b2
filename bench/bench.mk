# Benchmarks, each side by side with what it is compared to, and the report of them in docs/performance.md. Part of the Makefile.

EXT_BENCH := build/bench/time_bucket.duckdb_extension
ROWS   ?= 10000000
ROUNDS ?= 9
REPORT  = $(PYTHON) bench/report.py docs/performance.md docs $$(ls build/bench/*.json)

$(EXT_BENCH): $(SOURCES) | $(EXT)
	$(call build,identity)

## bench: time the functions against the built-in and a plain copy, on every engine
.PHONY: bench
bench: $(EXT) $(EXT_BENCH) $(call engines,$(ENGINES))
	set -e; for engine in $(ENGINES); do \
	  $(call engine,$$engine) bench/sql.py --extension $(EXT_BENCH) --package $(EXT) --rows $(ROWS) \
	    --rounds $(ROUNDS) --json build/bench/sql-$$engine.json; \
	  build/engine-$$engine/bin/python bench/local.py --extension $(EXT) --rows $(ROWS) --rounds $(ROUNDS) \
	    --json build/bench/local-$$engine.json; \
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
	build/race/bin/python bench/local.py --peers --extension $(EXT) --rows $(ROWS) --rounds $(ROUNDS) \
	  --json build/bench/local-peers.json
	$(REPORT)

## bench-growth: 10^5 to 10^9 generated rows
.PHONY: bench-growth
bench-growth: $(EXT) $(call engines,$(ENGINES))
	set -e; for engine in $(ENGINES); do \
	  $(call engine,$$engine) bench/growth.py --extension $(EXT) --json build/bench/growth-$$engine.json; \
	done
	$(REPORT)

## bench-kernel: criterion, the kernels alone
.PHONY: bench-kernel
bench-kernel:
	$(CARGO) bench --locked --package kernel-benches

## bench-windows: windows against DuckDB by hand, Polars, pandas and ClickHouse, on one thread and two; their memory
.PHONY: bench-windows
bench-windows: $(EXT) build/race/bin/python $(call engines,$(ENGINES))
	rm -f build/bench/windows-*.json
	set -e; for threads in 1 2; do for engine in $(ENGINES); do \
	  python=$(call engine,$$engine); peers=; \
	  if [ $$engine = $(lastword $(ENGINES)) ]; then python=build/race/bin/python; peers=--peers; fi; \
	  $$python bench/windows.py --extension $(EXT) --threads $$threads $$peers --rounds $(or $(WINDOW_ROUNDS),5) \
	    --json build/bench/windows-$$engine-$$threads.json; \
	done; done
	set -e; for engine in $(ENGINES); do \
	  $(call engine,$$engine) bench/windows_memory.py --extension $(EXT) --json build/bench/windows_memory-$$engine.json; \
	done
	$(REPORT)

## bench-cluster: panes and windows on Dask against one DuckDB process, a late file, another lookback
.PHONY: bench-cluster
bench-cluster: package $(CLUSTER)
	$(CLUSTER) bench/cluster.py --package build/package --rows $(or $(CLUSTER_ROWS),40000000 100000000) --json build/bench/cluster.json
	$(REPORT)
