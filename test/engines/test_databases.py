"""Several databases in one process, LOAD again and at once, and what is left when a database is closed."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest


@pytest.fixture
def load(extension):
    """load(connection), once more or for the first time."""
    return lambda connection: connection.execute(f"LOAD '{extension}'")


def works(connection):
    """Epoch-aligned weeks start on Thursday; the built-in's start on Monday."""
    week = "SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04 12:00:00')::VARCHAR"
    end = "SELECT time_bucket_end(INTERVAL '7 days', TIMESTAMP_NS '2024-01-04 12:00:00')::VARCHAR"
    (start,), (stop,) = connection.execute(week).fetchone(), connection.execute(end).fetchone()
    return start == "2024-01-04 00:00:00" and stop == "2024-01-11 00:00:00"


@pytest.mark.parametrize("places", list(itertools.product(["memory", "file"], repeat=2)), ids="-".join)
@pytest.mark.parametrize("first_to_close", [0, 1])
@pytest.mark.parametrize("loads", ["before both are open", "after both are open"])
def test_two_databases_in_one_process(connect, load, tmp_path, places, first_to_close, loads):
    early = loads == "before both are open"
    paths = [":memory:" if place == "memory" else tmp_path / f"{n}.db" for n, place in enumerate(places)]
    databases = [connect(path, load=early) for path in paths]
    for database in databases:
        if not early:
            load(database)
        assert works(database)
    databases[first_to_close].close()
    other = databases[1 - first_to_close]
    assert works(other)
    again = connect(paths[first_to_close], load=False)
    with pytest.raises(duckdb.CatalogException):
        again.execute("SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP '2024-01-01')")
    load(again)
    assert works(again) and works(other)


def test_one_database_does_not_load_for_another(connect):
    one, two = connect(), connect(load=False)
    assert works(one)
    start = two.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::VARCHAR").fetchone()
    assert start == ("2024-01-01 00:00:00",)


def test_open_and_close_a_hundred_times(connect, tmp_path):
    for path in [":memory:", tmp_path / "again.db"] * 50:
        with connect(path) as database:
            assert works(database)


def test_load_again_and_on_every_connection(connect, load):
    database = connect()
    for _ in range(3):
        load(database)
        with database.cursor() as cursor:
            load(cursor)
            assert works(cursor)
    assert works(database)


def test_load_in_threads_of_one_database(connect, load):
    database = connect(load=False)

    def task(_):
        with database.cursor() as cursor:
            load(cursor)
            return works(cursor)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(task, range(32)))


def test_load_in_threads_each_with_its_database(connect):
    def task(_):
        with connect() as database:
            return works(database)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(task, range(32)))


def test_load_while_queries_run(connect, load):
    database = connect()
    database.execute("CREATE TABLE t AS SELECT make_timestamp(i * 1000000) AS ts FROM range(200000) t(i)")

    def query(_):
        with database.cursor() as cursor:
            return cursor.execute("SELECT count(DISTINCT time_bucket(INTERVAL '1 hour', ts)) FROM t").fetchone()

    def again(_):
        with database.cursor() as cursor:
            load(cursor)

    with ThreadPoolExecutor(4) as pool:
        queries = [pool.submit(query, n) for n in range(12)]
        loads = [pool.submit(again, n) for n in range(12)]
        assert {task.result() for task in queries} == {(-(-200000 // 3600),)}
        assert all(task.result() is None for task in loads)


def test_nothing_is_held_after_close(connect, in_process, tmp_path):
    path = tmp_path / "held.db"
    with connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT time_bucket(INTERVAL '1 day', TIMESTAMP '2024-01-01 12:00:00') AS b")
    assert [file.name for file in tmp_path.iterdir()] == ["held.db"], "a connection kept the log alive"
    # Another process gets the file while this one lives.
    bucket = in_process('print(duckdb.connect(sys.argv[1]).execute("SELECT b::VARCHAR FROM t").fetchone()[0])', path)
    assert bucket == "2024-01-01 00:00:00\n"
    assert works(connect(path))


def test_load_leaves_the_file_as_it_is(connect, tmp_path):
    path = tmp_path / "same.db"
    with connect(path, load=False) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS i")
    before = path.read_bytes()
    with connect(path, read_only=True) as database:
        assert works(database)
    assert path.read_bytes() == before
