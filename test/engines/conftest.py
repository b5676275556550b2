"""Runs against the DuckDB that this Python has, with the packaged extension loaded:

    build/engine-2.0.1/bin/python -m pytest test/engines

TIME_BUCKET_EXTENSION names the extension's file, if it is not the one that `make` builds.
"""
import os
import pathlib

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/release/extension/time_bucket/time_bucket.duckdb_extension"
EXTENSION = pathlib.Path(os.environ.get("TIME_BUCKET_EXTENSION", BUILT)).resolve()
MACROS = (ROOT / "sql/windows.sql").read_text(encoding="utf-8")


@pytest.fixture
def con():
    """An in-memory database with the extension and the macros, in UTC."""
    with duckdb.connect(config={"allow_unsigned_extensions": True}) as connection:
        connection.execute("LOAD '{}'".format(EXTENSION.as_posix().replace("'", "''")))
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(MACROS)
        yield connection


@pytest.fixture
def text(con):
    """The rows of a query, each value as DuckDB prints it: Python's own types hold no nanoseconds."""
    def rows(sql):
        names = con.sql(sql).columns
        casts = ", ".join(f"#{i + 1}::VARCHAR" for i in range(len(names)))
        return con.sql(f"SELECT {casts} FROM ({sql})").fetchall()
    return rows
