# What is released, for every platform that Cargo.toml names: files, repository, wheels. Part of the Makefile.

HOST_PLATFORM = $(shell $(PYTHON) scripts/project.py host)
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

## test-arm64: the kernel's tests and test/sql for linux_arm64 under qemu, on each engine (half an hour)
.PHONY: test-arm64
test-arm64: test-arm64-kernel $(ENGINES:%=test-arm64-%)

.PHONY: test-arm64-kernel
test-arm64-kernel:
	$(PYTHON) platforms/arm64.py kernel

.PHONY: test-arm64-%
test-arm64-%: EXT = $(call released,linux_arm64)
test-arm64-%: $(call released,linux_arm64) $(SQLTEST)
	$(PYTHON) platforms/arm64.py python $*
	$(call sql,build/cross/arm64-$*/python,$*)

## test-windows: the SQL of the documents in DuckDB's command line for Windows, under Wine
.PHONY: test-windows
test-windows: $(call released,windows_amd64) build/data/flights.csv
	$(PYTHON) platforms/windows.py
	$(PYTHON) scripts/check_docs.py build/cross/windows/duckdb $< build/data README.md docs/windows.md

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
