"""Ibis's own method and types over the extension."""

import datetime

import duckdb
import ibis
import pytest
from conftest import EXTENSION

NOON = datetime.datetime(2024, 1, 4, 12)
# How many digits of a second each type holds.
TYPES = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP": 6, "TIMESTAMP_NS": 9}


@pytest.fixture
def con():
    connection = ibis.duckdb.connect(allow_unsigned_extensions=True)
    connection.raw_sql(f"LOAD '{EXTENSION.as_posix()}'")
    yield connection
    connection.disconnect()


@pytest.fixture
def table(con):
    """One row, 34 minutes after noon on a Thursday."""
    con.raw_sql("CREATE TABLE t AS SELECT TIMESTAMP '2024-01-04 12:34:00' AS ts")
    return con.table("t")


def value(con, expression):
    return con.to_pyarrow(expression.name("value").as_table())["value"].to_pylist()


@pytest.mark.parametrize("name, digits", TYPES.items())
def test_bucket_is_the_extensions_and_keeps_the_type(con, name, digits):
    con.raw_sql(f"CREATE TABLE t AS SELECT make_timestamp_ns(i * 1234567890123456789)::VARCHAR::{name} AS ts FROM range(-3, 4) AS t(i)")
    ts = con.table("t").ts
    assert ts.type().scale == digits
    made = ibis.to_sql(ts.bucket(hours=1).name("b"), dialect="duckdb")
    assert con.raw_sql(f"SELECT DISTINCT typeof(b) FROM ({made})").fetchall() == [(name,)]
    hour = 3600 * 10**9
    ticks = con.raw_sql("SELECT epoch_ns(ts) FROM t").fetchall()
    assert con.raw_sql(f"SELECT epoch_ns(b) FROM ({made})").fetchall() == [(tick // hour * hour,) for (tick,) in ticks]


def test_offset_moves_the_grid(con, table):
    assert value(con, table.ts.bucket(days=7)) == [datetime.datetime(2024, 1, 4)]
    assert value(con, table.ts.bucket(days=7, offset=ibis.interval(days=4))) == [datetime.datetime(2024, 1, 1)]


def test_a_refusal_is_the_extensions_own(con, table):
    with pytest.raises(duckdb.BinderException, match="time_bucket: width INTERVAL '1 month' is calendar"):
        value(con, table.ts.bucket(months=1))
    assert value(con, table.ts.bucket(hours=1)) == [NOON]


def test_the_functions_that_ibis_does_not_know(con, table):
    @ibis.udf.scalar.builtin
    def time_bucket_end(width: ibis.dtype("interval('h')"), ts: datetime.datetime) -> datetime.datetime: ...

    assert value(con, time_bucket_end(ibis.interval(hours=1), table.ts)) == [NOON + datetime.timedelta(hours=1)]
