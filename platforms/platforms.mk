# What is released, for every platform that Cargo.toml names: files, repository, wheels. Part of the Makefile.

HOST_PLATFORM = $(call pinned,host)
# What `make repository` and `make wheels` hold: PLATFORMS="linux_amd64 linux_arm64 …", or ALL of them.
PLATFORMS ?= $(HOST_PLATFORM)
RELEASED   = $(PLATFORMS:%=build/platforms/%/time_bucket.duckdb_extension)

build/platforms/%/time_bucket.duckdb_extension: $(SOURCES) platforms/tools.py platforms/tools.toml
	$(call build,release) --platform $*

## platforms: the released files of PLATFORMS (this machine's)
.PHONY: platforms
platforms: $(RELEASED)

## repository: build/repository, from which INSTALL takes the extension
.PHONY: repository
repository: $(RELEASED)
	rm -rf build/repository
	$(PYTHON) scripts/repository.py build/repository $(RELEASED)

## test-release: how files are built, stamped and released
.PHONY: test-release
test-release: $(call engine,$(lastword $(ENGINES)))
	$< -m pytest -q -p no:cacheprovider test/release
