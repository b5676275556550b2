# Panes on Dask, Spark and Ray, and the package that their workers are sent. Part of the Makefile.

# What a wheel unpacks to.
.PHONY: package
package: $(EXT)
	rm -rf build/package
	mkdir -p build/package
	cp -R python/duckdb_time_bucket build/package/
	cp $(EXT) build/package/duckdb_time_bucket/

CLUSTER := build/cluster/$(bin)/python$(exe)

$(CLUSTER): test/cluster/requirements.txt Cargo.toml
	$(PYTHON) -m venv build/cluster
	$@ -m pip install --quiet --disable-pip-version-check duckdb==$(lastword $(ENGINES)) -r $<
	touch $@

build/cluster/engines: test/cluster/requirements-engines.txt $(CLUSTER)
	@java -version 2> /dev/null || { echo 'test-cluster: Spark needs Java 17 or later, such as the package default-jre-headless of Debian 12' >&2; exit 1; }
	$(CLUSTER) -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

cluster_tests = -m pytest -q -p no:cacheprovider -p no:logging $(or $(TESTS),test/cluster)

## test-dask: Dask with two workers that are killed, files that change, what is refused, docs/cluster.md
.PHONY: test-dask
test-dask: package $(CLUSTER) build/data/flights.csv
	$(CLUSTER) $(cluster_tests) -k 'dask and not dask-1 and not long or late_changed or unreadable or refusals or page'

## test-cluster: the same on Dask, Spark and Ray (Java 17), rows on S3, the store on each engine, and 20 million rows of 1,000 keys
.PHONY: test-cluster
test-cluster: package build/cluster/engines build/data/flights.csv $(call engine,$(FIRST))
	$(CLUSTER) $(cluster_tests)
	$(call engine,$(FIRST)) -m pytest -q -p no:cacheprovider test/cluster/test_store.py
