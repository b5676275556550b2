"""Runs with the package that `make build/package` puts together, in an environment that does not have it installed:

    build/cluster/bin/python -m pytest test/cluster

TIME_BUCKET_PACKAGE names the folder that holds it, if it is not the one that make fills.
"""

import os
import pathlib
import sys

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(os.environ.get("TIME_BUCKET_PACKAGE", ROOT / "build/package")).resolve()
# Of this process alone: workers that inherit no path have to be sent the package.
sys.path.insert(0, str(PACKAGE))


@pytest.fixture
def con():
    import duckdb_time_bucket

    with duckdb_time_bucket.connect(macros=True) as con:
        con.execute("SET TimeZone = 'UTC'")
        yield con


@pytest.fixture
def plain():
    """DuckDB without the extension."""
    with duckdb.connect() as con:
        yield con
