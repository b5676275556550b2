# What the builds of DuckDB's community extensions call, beside `release` and `debug`: see duckdb/extension-ci-tools, makefiles/c_api_extensions.
# The file is where they look for it. Part of the Makefile.

# They test outside of the container that builds for Linux, with DuckDB's Python client, which exists for this machine's platform only.
SKIPPED = $(or $(LINUX_CI_IN_DOCKER),$(SKIP_TESTS),$(filter-out $(HOST_PLATFORM),$(DUCKDB_PLATFORM)))

.PHONY: configure configure_ci set_duckdb_version set_duckdb_tag
# Nothing to prepare: cargo, the pinned crates and Python are all that a build takes.
configure configure_ci set_duckdb_version set_duckdb_tag:

.PHONY: test_release test_debug
test_release: $(if $(SKIPPED),,test-sql)
test_debug:
	$(if $(SKIPPED),,$(MAKE) test-sql BUILD=debug)
