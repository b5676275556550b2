"""The types that Python's data libraries, the CLI and Node give back: T itself, its unit and zone intact."""

import datetime
import json
import os
import subprocess

import duckdb
import numpy
import pandas
import pyarrow
import pytest

MAJOR = int(duckdb.__version__.split(".")[0])
# Type, unit, whether it has a zone, its name in SQL.
TYPES = [
    ("TIMESTAMP_S", "s", False, "TIMESTAMP_S"),
    ("TIMESTAMP_MS", "ms", False, "TIMESTAMP_MS"),
    ("TIMESTAMP", "us", False, "TIMESTAMP"),
    ("TIMESTAMP_NS", "ns", False, "TIMESTAMP_NS"),
    ("TIMESTAMPTZ", "us", True, "TIMESTAMP WITH TIME ZONE"),
    *([("TIMESTAMPTZ_NS", "ns", True, "TIMESTAMPTZ_NS")] if MAJOR >= 2 else []),
]
EACH = pytest.mark.parametrize("sql, unit, zone, name", TYPES, ids=[row[0] for row in TYPES])
SECONDS = 1_704_067_200  # 2024-01-01
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@pytest.fixture
def result(connect):
    def result(sql):
        connection = connect()
        connection.execute("SET TimeZone = 'America/New_York'")
        values = "(VALUES ('2024-01-01 12:34:56+00'::TIMESTAMPTZ), (NULL)) v(x)"
        bare = "(VALUES ('2024-01-01 12:34:56'), (NULL)) v(x)"
        source = values if sql.startswith("TIMESTAMPTZ") else bare
        return connection.sql(
            f"SELECT time_bucket(INTERVAL '1 day', x::{sql}) AS b, time_bucket_end(INTERVAL '1 day', x::{sql}) AS e FROM {source}"
        )

    return result


@EACH
def test_the_sql_type(result, sql, unit, zone, name):
    assert [str(t) for t in result(sql).types] == [name, name]


@EACH
def test_arrow(result, sql, unit, zone, name):
    table = result(sql).to_arrow_table()
    for column, seconds in (("b", SECONDS), ("e", SECONDS + 86_400)):
        assert table.schema.field(column).type == pyarrow.timestamp(unit, "America/New_York" if zone else None)
        assert table[column].combine_chunks().view(pyarrow.int64()).to_pylist() == [seconds * TICKS[unit], None]


@EACH
def test_numpy(result, sql, unit, zone, name):
    values = result(sql).fetchnumpy()["b"]
    if not zone:
        assert values.dtype == f"datetime64[{unit}]"
        assert values[0] == numpy.datetime64("2024-01-01")
    assert numpy.ma.getmaskarray(values).tolist() == [False, True] or pandas.isna(values).tolist() == [False, True]


@EACH
def test_pandas(result, sql, unit, zone, name):
    values = result(sql).df()["b"]
    # The client of 2.0.1 gives a plain TIMESTAMPTZ_NS column without its zone too.
    zoned = zone and sql != "TIMESTAMPTZ_NS"
    kind = f"datetime64[{unit}, America/New_York]" if zoned else f"datetime64[{unit}]"
    assert str(values.dtype) == kind
    assert values.isna().tolist() == [False, True]
    assert values[0].timestamp() == SECONDS


@EACH
def test_polars(result, sql, unit, zone, name):
    polars = pytest.importorskip("polars")
    values = result(sql).pl()["b"]
    # Polars has no second: Arrow's becomes its millisecond, with the same instant.
    assert values.dtype == polars.Datetime({"s": "ms"}.get(unit, unit), "America/New_York" if zone else None)
    assert values.dt.epoch("s").to_list() == [SECONDS, None]


@pytest.mark.parametrize("unit", TICKS)
def test_frames_are_read_without_a_change_of_type(connect, unit):
    connection = connect()
    ticks = [-1, 0, 3600 * TICKS[unit] - 1, None, 10**9 * TICKS[unit]]
    table = pyarrow.table({"ts": pyarrow.array(ticks, pyarrow.timestamp(unit))})
    width = 3600 * TICKS[unit]
    for source in (table, table.to_pandas()):
        connection.register("source", source)
        got = connection.sql("SELECT time_bucket(INTERVAL '1 hour', ts) AS b FROM source").to_arrow_table()["b"]
        assert got.type == pyarrow.timestamp(unit)
        assert got.combine_chunks().view(pyarrow.int64()).to_pylist() == [tick and tick // width * width for tick in ticks]


def test_a_frame_of_nanoseconds_keeps_them(connect):
    connection = connect()
    frame = pandas.DataFrame({"ts": numpy.array([1, 999_999_999, 1_000_000_001], "datetime64[ns]")})
    connection.register("frame", frame)
    got = connection.sql("SELECT time_bucket(INTERVAL '1 microsecond', ts) AS b FROM frame").df()["b"]
    assert got.dtype == "datetime64[ns]" and got.astype("int64").tolist() == [0, 999_999_000, 1_000_000_000]


def test_timedeltas_of_a_frame_become_widths(connect):
    connection = connect()
    days = [1, 29, 30, 45, 400]
    frame = pandas.DataFrame({"ts": pandas.to_datetime(["2024-03-04 05:06:07"] * len(days)), "width": pandas.to_timedelta(days, unit="D")})
    connection.register("frame", frame)
    with pytest.raises(duckdb.Error, match="time_bucket: width INTERVAL '1 month' is calendar"):
        connection.sql("SELECT time_bucket(width, ts) FROM frame").fetchall()
    got = connection.sql("SELECT epoch_us(time_bucket(to_microseconds(epoch_us(width)), ts)) FROM frame").fetchall()
    micros = int(frame["ts"][0].timestamp()) * 10**6
    assert got == [(micros - micros % (day * 86_400 * 10**6),) for day in days]


def test_parameters_are_values_that_bind(connect):
    connection, sql = connect(), "SELECT time_bucket(?, ?)"
    hour, ts = datetime.timedelta(hours=1), datetime.datetime(2024, 2, 29, 12, 34, 56)
    noon = (datetime.datetime(2024, 2, 29, 12),)
    assert connection.execute(sql, [hour, ts]).fetchone() == noon
    assert connection.execute(sql, [2 * hour, ts]).fetchone() == noon
    with pytest.raises(duckdb.Error, match="time_bucket: width must be positive"):
        connection.execute(sql, [-hour, ts])
    with pytest.raises(duckdb.BinderException, match="time_bucket: DATE is not accepted"):
        connection.execute(sql, [hour, ts.date()])
    assert connection.execute(sql, [hour, ts]).fetchone() == noon


def test_the_cli(extension, cli):
    sql = (
        f"LOAD '{extension}'; SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04 12:00:00') AS b, "
        "typeof(time_bucket(INTERVAL '1 microsecond', make_timestamp_ns(1999))) AS t, "
        "time_bucket(INTERVAL '1 microsecond', make_timestamp_ns(1999))::VARCHAR AS n"
    )
    done = subprocess.run([cli, "-unsigned", "-json", "-c", sql], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [{"b": "2024-01-04 00:00:00", "t": "TIMESTAMP_NS", "n": "1970-01-01 00:00:00.000001"}]
    wrong = "SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')"
    done = subprocess.run([cli, "-unsigned", "-c", f"LOAD '{extension}'", "-c", wrong], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "time_bucket: width INTERVAL '1 month' is calendar" in done.stderr


def test_node(extension, node):
    environment = {**os.environ, "TIME_BUCKET_EXTENSION": str(extension)}
    done = subprocess.run(["node", "--test", "test.mjs"], cwd=node, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stdout[-3000:]
