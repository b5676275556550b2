# What is released, for every platform that Cargo.toml names: files, repository, wheels. Part of the Makefile.

# Asked for once, and only where it is needed.
HOST_PLATFORM = $(eval HOST_PLATFORM := $(shell $(PYTHON) scripts/project.py host))$(HOST_PLATFORM)
# What `make repository` and `make wheels` hold: PLATFORMS="linux_amd64 linux_arm64 …", or ALL of them.
PLATFORMS ?= $(HOST_PLATFORM)
RELEASED   = $(foreach platform,$(PLATFORMS),$(call released,$(platform)))

$(call released,%): $(SOURCES) platforms/tools.py platforms/tools.toml
	$(call build,release) --platform $*

## platforms: the released files of PLATFORMS (this machine's)
.PHONY: platforms
platforms: $(RELEASED)

## repository: build/repository, from which INSTALL takes the extension
.PHONY: repository
repository: $(RELEASED)
	rm -rf build/repository
	$(PYTHON) scripts/repository.py build/repository $(RELEASED)

CHECKS := build/checks/$(bin)/python$(exe)

$(CHECKS): test/release/requirements.txt
	$(PYTHON) -m venv build/checks
	$@ -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

## test-release: how files are built, stamped and released
.PHONY: test-release
test-release: $(CHECKS)
	$(CHECKS) -m pytest -q -p no:cacheprovider test/release

# A job of a workflow, from the file itself, in a fresh clone: $(call job,ci.yml platform platform=linux_amd64)
job = $(CHECKS) test/release/run_workflow.py build/workflows $(1)

## test-workflows: each step of the workflows' jobs for this machine's platform, from the files themselves, on what is committed (half an hour)
.PHONY: test-workflows
test-workflows: $(CHECKS)
	rm -rf build/workflows/artifacts
	$(call job,ci.yml platform platform=$(HOST_PLATFORM))
	$(call job,release.yml build platform=$(HOST_PLATFORM))
	$(call job,release.yml publish)
	set -e; for run in soak soak-local soak-macros fuzz-sql stress; do \
	  LIMITS='SECONDS=20 VALUES=2000000 ZONES=25 OUT=300000' $(call job,nightly.yml run run=$$run); \
	done

## wheels: build/wheels, a wheel for Python for each of PLATFORMS
.PHONY: wheels
wheels: $(RELEASED)
	$(PYTHON) scripts/wheel.py build/wheels $(RELEASED)

## test-wheels: this machine's wheel, on each engine in an environment of its own
.PHONY: test-wheels
test-wheels: $(ENGINES:%=test-wheels-%)

wheel_python = build/wheel-$*/$(bin)/python$(exe)

.PHONY: test-wheels-%
test-wheels-%: wheels $(call engines,$(call pinned,refused))
	rm -rf build/wheel-$*
	$(PYTHON) -m venv build/wheel-$*
	$(wheel_python) -m pip install --quiet --disable-pip-version-check duckdb==$* -r python/tests/requirements.txt build/wheels/*.whl
	$(wheel_python) -m pytest -q -p no:cacheprovider python/tests

# test/sql on the engines of another platform, as `make test-NAME-ENGINE`: $(eval $(call elsewhere,NAME,PLATFORM))
define elsewhere
test-$(1)-%: EXT = $(call released,$(2))
test-$(1)-%: $(call released,$(2)) $(SQLTEST)
	$(PYTHON) platforms/engines.py $(2) $$*
	$$(call sql,build/cross/$(2)-$$*/engine,$$*) --timeout 600

# Else make would take it for a means and delete it.
.SECONDARY: $(call released,$(2))
endef

$(eval $(call elsewhere,arm64,linux_arm64))
$(eval $(call elsewhere,windows,windows_amd64))
$(eval $(call elsewhere,musl,linux_amd64_musl))

## test-arm64: the kernel's tests and test/sql for linux_arm64 under qemu, on each engine (half an hour)
.PHONY: test-arm64
test-arm64: test-arm64-kernel $(ENGINES:%=test-arm64-%)

.PHONY: test-arm64-kernel
test-arm64-kernel:
	$(PYTHON) platforms/arm64.py

## test-windows: test/sql for windows_amd64 under Wine, on each engine, and the documents in DuckDB's command line for Windows
.PHONY: test-windows
test-windows: test-windows-documents $(ENGINES:%=test-windows-%)

.PHONY: test-windows-documents
test-windows-documents: $(call released,windows_amd64) build/data/flights.csv
	$(PYTHON) platforms/windows.py
	$(PYTHON) scripts/check_docs.py build/cross/windows/duckdb $< build/data README.md docs/windows.md docs/cookbook.md docs/local-time.md

## test-musl: test/sql for linux_amd64_musl, on the engine that npm has for it
.PHONY: test-musl
test-musl: test-musl-$(FIRST)

## test-kernel: the kernel's tests alone
.PHONY: test-kernel
test-kernel:
	$(CARGO) test --locked --package time_bucket_kernel

# What a release is made of, from the files that are in build/platforms.
FOUND = $(wildcard $(call released,*))

## assets: build/assets, what a release offers for download: files, repository, wheels and checksums
.PHONY: assets
assets:
	$(PYTHON) scripts/assets.py build/assets $(FOUND)

## check-version: that TAG is the version of Cargo.toml
.PHONY: check-version
check-version:
	test "$(TAG)" = "v$(call pinned,version)"
