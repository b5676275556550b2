"""What SQL files can't show: several databases in one process, bad files, other engines, and the types of results.

Run with an engine's Python, and TIME_BUCKET_EXTENSION set to the packaged file:

    TIME_BUCKET_EXTENSION=build/release/extension/time_bucket/time_bucket.duckdb_extension python -m pytest test/engines

TIME_BUCKET_OLD_ENGINES may list interpreters (separated as in PATH) with a DuckDB before 1.5.6.
"""

import itertools
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy
import pandas
import pyarrow
import pytest

EXTENSION = Path(os.environ["TIME_BUCKET_EXTENSION"]).resolve(strict=True)
OLD_ENGINES = [path for path in os.environ.get("TIME_BUCKET_OLD_ENGINES", "").split(os.pathsep) if path]
FOOTER = 534
CONFIG = {"allow_unsigned_extensions": True, "autoinstall_known_extensions": False}
ENGINE = tuple(int(part) for part in duckdb.__version__.split(".")[:2])


def connect(path=":memory:", **options):
    return duckdb.connect(str(path), config=CONFIG, **options)


def load(connection, file=EXTENSION):
    connection.execute(f"LOAD '{file}'")


def works(connection):
    """Epoch-aligned weeks start on Thursday; the built-in's start on Monday."""
    week = "SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04 12:00:00')::VARCHAR"
    end = "SELECT time_bucket_end(INTERVAL '7 days', TIMESTAMP_NS '2024-01-04 12:00:00')::VARCHAR"
    (start,), (stop,) = connection.execute(week).fetchone(), connection.execute(end).fetchone()
    return start == "2024-01-04 00:00:00" and stop == "2024-01-11 00:00:00"


def in_process(code, *arguments, python=sys.executable, timeout=60):
    """Runs the code in a process of its own, so that a crash or a hang is a failed test."""
    command = [python, "-c", textwrap.dedent(code), *map(str, arguments)]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


# Several databases


@pytest.mark.parametrize("places", list(itertools.product(["memory", "file"], repeat=2)), ids="-".join)
@pytest.mark.parametrize("first_to_close", [0, 1])
@pytest.mark.parametrize("loads", ["before both are open", "after both are open"])
def test_two_databases_in_one_process(tmp_path, places, first_to_close, loads):
    paths = [":memory:" if place == "memory" else tmp_path / f"{n}.db" for n, place in enumerate(places)]
    databases = []
    for path in paths:
        databases.append(connect(path))
        if loads == "before both are open":
            load(databases[-1])
    for database in databases:
        if loads == "after both are open":
            load(database)
        assert works(database)
    databases[first_to_close].close()
    other = 1 - first_to_close
    assert works(databases[other])
    with connect(paths[first_to_close]) as again:
        with pytest.raises(duckdb.CatalogException):
            again.execute("SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP '2024-01-01')")
        load(again)
        assert works(again)
        assert works(databases[other])
    databases[other].close()


def test_one_database_does_not_load_for_another():
    with connect() as one, connect() as two:
        load(one)
        assert works(one)
        assert two.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::VARCHAR").fetchone() == (
            "2024-01-01 00:00:00",
        )


def test_open_and_close_a_hundred_times(tmp_path):
    for path in [":memory:", tmp_path / "again.db"] * 50:
        with connect(path) as database:
            load(database)
            assert works(database)


def test_load_again_and_on_every_connection():
    with connect() as database:
        for _ in range(3):
            load(database)
            with database.cursor() as cursor:
                load(cursor)
                assert works(cursor)
        assert works(database)


def test_load_in_threads_of_one_database():
    with connect() as database, ThreadPoolExecutor(8) as pool:

        def task(_):
            with database.cursor() as cursor:
                load(cursor)
                return works(cursor)

        assert all(pool.map(task, range(32)))


def test_load_in_threads_each_with_its_database():
    def task(_):
        with connect() as database:
            load(database)
            return works(database)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(task, range(32)))


def test_load_while_queries_run():
    with connect() as database, ThreadPoolExecutor(4) as pool:
        load(database)
        database.execute("CREATE TABLE t AS SELECT make_timestamp(i * 1000000) AS ts FROM range(200000) t(i)")

        def query(_):
            with database.cursor() as cursor:
                return cursor.execute("SELECT count(DISTINCT time_bucket(INTERVAL '1 hour', ts)) FROM t").fetchone()

        def again(_):
            with database.cursor() as cursor:
                load(cursor)

        queries = [pool.submit(query, n) for n in range(12)]
        loads = [pool.submit(again, n) for n in range(12)]
        assert {task.result() for task in queries} == {(-(-200000 // 3600),)}
        assert all(task.result() is None for task in loads)


# Nothing is held


def test_nothing_is_held_after_close(tmp_path):
    path = tmp_path / "held.db"
    database = connect(path)
    load(database)
    database.execute("CREATE TABLE t AS SELECT time_bucket(INTERVAL '1 day', TIMESTAMP '2024-01-01 12:00:00') AS b")
    database.close()
    assert [file.name for file in tmp_path.iterdir()] == ["held.db"], "a connection kept the log alive"
    # Another process gets the file while this one lives.
    code = """
        import sys, duckdb
        print(duckdb.connect(sys.argv[1]).execute("SELECT b::VARCHAR FROM t").fetchone()[0])
    """
    done = in_process(code, path)
    assert (done.returncode, done.stdout) == (0, "2024-01-01 00:00:00\n"), done.stderr
    with connect(path) as again:
        load(again)
        assert works(again)


def test_load_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "same.db"
    with connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS i")
    before = path.read_bytes()
    with connect(path, read_only=True) as database:
        load(database)
        assert works(database)
    assert path.read_bytes() == before


def test_reopened_without_the_extension(tmp_path):
    path = tmp_path / "without.db"
    with connect(path) as database:
        load(database)
        database.execute("CREATE TABLE plain AS SELECT TIMESTAMP '2024-01-04 12:00:00' AS ts")
        database.execute("CREATE VIEW ends AS SELECT time_bucket_end(INTERVAL '7 days', ts) AS e FROM plain")
        database.execute("CREATE TABLE made(ts TIMESTAMP_NS, e TIMESTAMP_NS AS (time_bucket_end(INTERVAL '1 day', ts)))")
        database.execute("INSERT INTO made VALUES ('1969-12-31 23:59:59.999999999')")
    with connect(path) as database:
        assert database.execute("SELECT count(*) FROM plain").fetchone() == (1,)
        with pytest.raises(duckdb.CatalogException, match="time_bucket_end"):
            database.execute("FROM ends")
        with pytest.raises(duckdb.CatalogException, match="time_bucket_end"):
            database.execute("SELECT e FROM made")
        assert database.execute("SELECT count(*) FROM plain").fetchone() == (1,)
        load(database)
        assert database.execute("SELECT e::VARCHAR FROM ends").fetchone() == ("2024-01-11 00:00:00",)
        assert database.execute("SELECT e::VARCHAR FROM made").fetchone() == ("1970-01-01 00:00:00",)


# Files that are not the packaged one


def footer_field(data, number, text):
    """Replaces a footer field, counted from the one with the magic value as the engine does."""
    at = len(data) - 256 - 32 * number
    return data[:at] + text.encode().ljust(32, b"\0") + data[at + 32 :]


def flipped(data, back):
    at = len(data) - back
    return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1 :]


# A footer with an unknown ABI is not among them: the engine calls that an internal error of its own.
BAD_FILES = {
    "empty": lambda data: b"",
    "raw library, no footer": lambda data: data[:-FOOTER],
    "one byte short": lambda data: data[:-1],
    "a footer cut in two": lambda data: data[: -FOOTER // 2],
    "cut in two": lambda data: data[: len(data) // 2],
    "footer alone": lambda data: data[-FOOTER:],
    "text": lambda data: b"not an extension\n" * 100,
    "flipped magic": lambda data: flipped(data, 256 + 32),
    "flipped platform": lambda data: flipped(data, 256 + 64),
    "flipped C API version": lambda data: flipped(data, 256 + 96),
    "other platform": lambda data: footer_field(data, 2, "windows_arm64"),
    "newer C API": lambda data: footer_field(data, 3, "v9.9.9"),
    "no library, whole footer": lambda data: b"\x7fELF" * 1000 + data[-FOOTER:],
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_refused(tmp_path, name):
    file = tmp_path / EXTENSION.name
    file.write_bytes(BAD_FILES[name](EXTENSION.read_bytes()))
    code = """
        import sys, duckdb
        database = duckdb.connect(config={"allow_unsigned_extensions": True, "autoinstall_known_extensions": False})
        try:
            database.execute(f"LOAD '{sys.argv[1]}'")
        except duckdb.Error as error:
            print(type(error).__name__)
            # The refused file changed nothing, and the right one still loads.
            print(*database.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::DATE::VARCHAR").fetchone())
            database.execute(f"LOAD '{sys.argv[2]}'")
            print(*database.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::DATE::VARCHAR").fetchone())
    """
    done = in_process(code, file, EXTENSION)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[0].endswith(("Exception", "Error")) and lines[0] not in ("InternalException", "FatalException"), lines
    assert lines[1:] == ["2024-01-01", "2024-01-04", ""], done.stdout


def test_unsigned_is_refused_unless_allowed():
    with duckdb.connect() as database, pytest.raises(duckdb.IOException, match="signature|unsigned"):
        load(database)


def test_footer_is_what_the_engine_reads():
    data = EXTENSION.read_bytes()
    fields = [data[-256 - 32 * n :][:32].rstrip(b"\0").decode() for n in range(1, 9)]
    magic, platform, api, version, abi, *reserved = fields
    with connect() as database:
        (expected,) = database.execute("PRAGMA platform").fetchone()
    assert (magic, platform, api, abi, reserved) == ("4", expected, "v1.5.6", "C_STRUCT", ["", "", ""])
    assert version.startswith("v")
    assert data[-256:] == bytes(256)


@pytest.mark.skipif(not OLD_ENGINES, reason="TIME_BUCKET_OLD_ENGINES names no engine before 1.5.6")
@pytest.mark.parametrize("python", OLD_ENGINES)
def test_older_engine_refuses_it(python):
    code = """
        import sys, duckdb
        assert tuple(map(int, duckdb.__version__.split("."))) < (1, 5, 6), duckdb.__version__
        database = duckdb.connect(config={"allow_unsigned_extensions": True})
        try:
            database.execute(f"LOAD '{sys.argv[1]}'")
        except duckdb.Error as error:
            print(error)
            database.execute("SELECT 1")
            sys.exit(3)
    """
    done = in_process(code, EXTENSION, python=python)
    assert done.returncode == 3, done.stderr
    assert "v1.5.6" in done.stdout and "INTERNAL" not in done.stdout, done.stdout


# The types that reach numpy, pandas and Arrow

TYPES = {
    "TIMESTAMP_S": ("s", None),
    "TIMESTAMP_MS": ("ms", None),
    "TIMESTAMP": ("us", None),
    "TIMESTAMP_NS": ("ns", None),
    "TIMESTAMPTZ": ("us", "UTC"),
}
if ENGINE >= (2, 0):
    TYPES["TIMESTAMPTZ_NS"] = ("ns", "UTC")

FUNCTIONS = ["time_bucket", "time_bucket_start", "time_bucket_end"]


@pytest.fixture
def database():
    with connect() as database:
        load(database)
        database.execute("SET TimeZone = 'UTC'")
        yield database


def query(type_, function):
    """The bucket beside its timestamp: 1 hour, one second before the epoch, and a NULL."""
    return f"""
        SELECT ts, {function}(INTERVAL '1 hour', ts) AS b
        FROM (VALUES (1, '1969-12-31 23:59:59'::{type_}), (2, NULL)) t(i, ts) ORDER BY i
    """


def expected(function):
    return "1970-01-01T00:00:00" if function == "time_bucket_end" else "1969-12-31T23:00:00"


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("type_", TYPES)
def test_arrow(database, type_, function):
    unit, zone = TYPES[type_]
    table = database.sql(query(type_, function)).to_arrow_table()
    assert table.schema.field("b").type == pyarrow.timestamp(unit, tz=zone)
    assert table.schema.field("b").type == table.schema.field("ts").type
    ticks_per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    seconds = 0 if function == "time_bucket_end" else -3600
    assert table.column("b").cast(pyarrow.int64()).to_pylist() == [seconds * ticks_per_second, None]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("type_", TYPES)
def test_numpy(database, type_, function):
    arrays = database.execute(query(type_, function)).fetchnumpy()
    assert arrays["b"].dtype == arrays["ts"].dtype
    if TYPES[type_][1] is None:
        assert arrays["b"].dtype == numpy.dtype(f"datetime64[{TYPES[type_][0]}]")
        assert arrays["b"][0] == numpy.datetime64(expected(function))
    assert numpy.ma.is_masked(arrays["b"][1]) or numpy.isnat(arrays["b"][1])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("type_", TYPES)
def test_pandas(database, type_, function):
    unit, zone = TYPES[type_]
    frame = database.sql(query(type_, function)).df()
    assert frame["b"].dtype == frame["ts"].dtype
    if zone is None:
        assert frame["b"].dtype == numpy.dtype(f"datetime64[{unit}]")
    # Whether pandas learns of the zone is the engine's business.
    assert frame["b"][0] == pandas.Timestamp(expected(function), tz=frame["ts"].dt.tz)
    assert pandas.isna(frame["b"][1])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_data_from_arrow_and_pandas(database, unit):
    ticks_per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    ticks = [-1, 0, 3600 * ticks_per_second - 1, None, 10**9 * ticks_per_second]
    table = pyarrow.table({"ts": pyarrow.array(ticks, pyarrow.timestamp(unit))})
    width = 3600 * ticks_per_second
    want = [None if tick is None else tick // width * width for tick in ticks]
    for source in (table, table.to_pandas()):
        database.register("source", source)
        got = database.sql("SELECT time_bucket(INTERVAL '1 hour', ts) AS b FROM source").to_arrow_table()
        assert got.schema.field("b").type == pyarrow.timestamp(unit)
        assert got.column("b").cast(pyarrow.int64()).to_pylist() == want
        database.unregister("source")


# A parameter of a client is a value that binds


def test_client_parameters(database):
    import datetime

    sql = "SELECT time_bucket(?, ?)"
    hour, ts = datetime.timedelta(hours=1), datetime.datetime(2024, 2, 29, 12, 34, 56)
    assert database.execute(sql, [hour, ts]).fetchone() == (datetime.datetime(2024, 2, 29, 12),)
    assert database.execute(sql, [2 * hour, ts]).fetchone() == (datetime.datetime(2024, 2, 29, 12),)
    with pytest.raises(duckdb.Error, match="time_bucket: width must be positive"):
        database.execute(sql, [-hour, ts])
    with pytest.raises(duckdb.BinderException, match="time_bucket: DATE is not accepted"):
        database.execute(sql, [hour, ts.date()])
    assert database.execute(sql, [hour, ts]).fetchone() == (datetime.datetime(2024, 2, 29, 12),)
