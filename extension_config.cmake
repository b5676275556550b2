# For a DuckDB source tree that builds this extension among its own:
#
#   make EXTENSION_CONFIGS=/path/to/this/extension_config.cmake          (in DuckDB's tree; or `debug`)
#   build/release/test/unittest --autoloading available '/path/to/this/test/sql/*'
#
# DuckDB >= 1.5.6 is needed, and cargo, make and Python beside DuckDB's own tools. To build the extension alone, run
# `make` here: this file and CMakeLists.txt are not used then.
#
# Verified on DuckDB's branch v1.5-variegata (cmake 3.25, Linux): the tree configures with this file, the target
# time_bucket_loadable_extension builds, release and debug, with Ninja and with make, and DuckDB 1.5.6 INSTALLs and LOADs
# the file from the tree's local repository. DuckDB's own unittest was not built for it.
#
# DONT_LINK: the extension speaks DuckDB's C API, so it is always a loadable file and is never linked into DuckDB.
# LOAD_TESTS: registers test/sql with DuckDB's unittest. `require time_bucket` finds the file in the tree's local
#   extension repository when unittest runs with `--autoloading available`; without that option the tests are skipped.
# EXTENSION_VERSION: Cargo.toml's. Without it DuckDB would ask git, which fails where there is no commit.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/Cargo.toml" time_bucket_version REGEX "^version *= *\"" LIMIT_COUNT 1)
string(REGEX REPLACE "^version *= *\"([^\"]+)\".*$" "v\\1" time_bucket_version "${time_bucket_version}")

duckdb_extension_load(time_bucket
    SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}
    EXTENSION_VERSION ${time_bucket_version}
    DONT_LINK
    LOAD_TESTS
)
