"""Many threads, connections and databases in one process. TIME_BUCKET_STRESS_SECONDS: how long (3)."""

import itertools
import os
import random
import threading
import time

import duckdb
import pytest

SECONDS = float(os.environ.get("TIME_BUCKET_STRESS_SECONDS", "3"))


@pytest.mark.parametrize("databases", ["one", "one each"])
def test_load_from_16_threads_at_once(in_process, databases):
    code = """
        shared = duckdb.connect(config=CONFIG)
        barrier, errors = threading.Barrier(16), []

        def load():
            try:
                connection = shared.cursor() if sys.argv[1] == "one" else duckdb.connect(config=CONFIG)
                barrier.wait()
                for _ in range(20):
                    connection.execute(f"LOAD '{EXTENSION}'")
                    connection.execute("SELECT time_bucket_end(INTERVAL '1 hour', make_timestamp(i)) FROM range(3000) r(i)").fetchall()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=load) for _ in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        # LOADs of one database at once may conflict in the catalog, as any two changes may; nothing else may happen.
        other = [error for error in errors if not isinstance(error, duckdb.TransactionException)]
        assert not other, other
        assert sys.argv[1] == "one" or not errors, errors
        connection = shared if sys.argv[1] == "one" else duckdb.connect(config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        print(len(errors), connection.execute("SELECT epoch_us(time_bucket_end(INTERVAL '1 hour', make_timestamp(-1)))").fetchone())
    """
    assert in_process(code, databases).endswith("(0,)\n")


def test_64_connections_bind_execute_and_fail(connect):
    database = connect(threads=2)
    database.execute("CREATE TABLE t AS SELECT make_timestamp((i - 5000) * 1000001) AS ts, to_seconds(1 + i % 60) AS w FROM range(10000) r(i)")
    statements = [
        ("SELECT sum(epoch_us(time_bucket(INTERVAL '7 seconds', ts))) FROM t", None),
        ("SELECT sum(epoch_us(time_bucket_end(w, ts))) FROM t", None),
        ("SELECT sum(epoch_us(time_bucket(INTERVAL '1 minute', ts, TIMESTAMP '2001-01-01 00:00:30'))) FROM t WHERE epoch_us(ts) % 3 = 0", None),
        ("SELECT count(*) FROM t WHERE time_bucket(INTERVAL '0 days', ts) < ts", duckdb.BinderException),
        ("SELECT time_bucket(INTERVAL '1 month', ts) FROM t", duckdb.BinderException),
        ("SELECT max(time_bucket(w - INTERVAL '30 seconds', ts)) FROM t", duckdb.InvalidInputException),
        ("SELECT max(time_bucket_end(to_days(2147483647), ts)) FROM t", duckdb.InvalidInputException),
    ]
    answers = [None if error else database.execute(sql).fetchall() for sql, error in statements]
    stop, faults, done = time.monotonic() + SECONDS, [], []

    def work(seed):
        rng, count = random.Random(seed), 0
        try:
            connection = database.cursor()
            while time.monotonic() < stop and not faults:
                which = rng.randrange(len(statements))
                sql, expected = statements[which]
                try:
                    got = connection.execute(sql).fetchall()
                    if expected or got != answers[which]:
                        faults.append((sql, got))
                except duckdb.Error as error:
                    if not expected or not isinstance(error, expected):
                        faults.append((sql, error))
                count += 1
                if rng.random() < 0.05:
                    connection.close()
                    connection = database.cursor()
            connection.close()
        except BaseException as error:
            faults.append(error)
        done.append(count)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[:3]
    assert len(done) == 64 and sum(done) > 64
    print(f"{sum(done)} statements on 64 connections in {SECONDS} s")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_databases_closed_in_every_order(connect, tmp_path, order):
    opened = [connect(":memory:" if n == 1 else tmp_path / f"db{n}") for n in range(3)]
    for connection in opened:
        connection.execute("CREATE TABLE t AS SELECT time_bucket(INTERVAL '1 day', make_timestamp(i * 3600000000)) AS b FROM range(100) r(i)")
    left = set(range(3))
    for n in order:
        opened[n].close()
        left.remove(n)
        for other in left:
            sql = "SELECT count(*) FROM t WHERE time_bucket(INTERVAL '1 day', b) = b"
            assert opened[other].execute(sql).fetchone() == (100,)
    for n in (0, 2):
        assert connect(tmp_path / f"db{n}").execute("SELECT count(DISTINCT b) FROM t").fetchone() == (5,)


def test_a_database_is_closed_while_another_executes(connect):
    stop, faults = time.monotonic() + min(SECONDS, 3) / 2, []

    def churn(extension_query):
        try:
            while time.monotonic() < stop:
                connection = connect()
                connection.execute(extension_query).fetchall()
                connection.close()
        except BaseException as error:
            faults.append(error)

    sql = "SELECT count(DISTINCT time_bucket(to_seconds(60), make_timestamp(i * 1000000))) FROM range(100000) r(i)"
    threads = [threading.Thread(target=churn, args=(sql,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults
