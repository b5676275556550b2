"""What becomes of panics, interruptions, limits, crashes and locked-down databases."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import duckdb
import pytest

ENGINE = tuple(int(part) for part in duckdb.__version__.split(".")[:2])
QUERY = "SELECT sum(epoch_us(time_bucket(INTERVAL '7 seconds', make_timestamp(i * 1000000)))) FROM range(10000) r(i)"
ANSWER = sum(i // 7 * 7 * 1_000_000 for i in range(10_000))


def works(connection):
    return connection.execute(QUERY).fetchone() == (ANSWER,)


# Panics

PANIC = """
    connection = duckdb.connect(sys.argv[1], config=CONFIG)
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute("CREATE TABLE t AS SELECT make_timestamp(i * 1000000) AS ts FROM range(10000) r(i)")
    QUERY = "SELECT sum(epoch_us(time_bucket(INTERVAL '7 seconds', ts))), count(*) FROM t WHERE ts IS NOT NULL"
    right = connection.execute(QUERY).fetchall()
    # One write transaction in flight beside the fault, one in the connection that meets it.
    writer = connection.cursor()
    writer.execute("BEGIN; CREATE TABLE w (x INTEGER); INSERT INTO w VALUES (1)")

    def outcome(sql):
        try:
            return connection.execute(sql).fetchall() == right and "right"
        except duckdb.Error as error:
            return f"{type(error).__name__}: {error}"

    fault = sys.argv[2]
    for _ in range(3):
        os.environ["TIME_BUCKET_FAULT"] = fault
        print(outcome(QUERY if fault != "display" else QUERY.replace("'7 seconds'", "'-1 seconds'")))
        os.environ["TIME_BUCKET_FAULT"] = ""
        assert outcome(QUERY) == "right"

    writer.execute("INSERT INTO w VALUES (2); COMMIT")
    assert connection.execute("SELECT count(*) FROM w").fetchone() == (2,)
    writer.close()
    connection.close()
    connection = duckdb.connect(sys.argv[1], config=CONFIG)
    connection.execute(f"LOAD '{EXTENSION}'")
    assert connection.execute("SELECT count(*) FROM w").fetchone() == (2,)
    assert outcome(QUERY) == "right"
"""


@pytest.mark.parametrize(
    "callback, expected",
    [
        ("bind", "BinderException: Binder Error: time_bucket: unexpected panic: fault injected into bind"),
        ("execute", "InvalidInputException: Invalid Input Error: time_bucket: unexpected panic: fault injected into execute"),
        ("display", "BinderException: Binder Error: time_bucket: an error whose text can't be shown"),
        # Without the plan that was to be copied, execution works the plan out for itself.
        ("copy", "right"),
        # A destructor has nobody to tell.
        ("destroy", "right"),
    ],
)
def test_a_panic_becomes_an_error(in_process, faults, tmp_path, callback, expected):
    output = in_process(PANIC, tmp_path / "db", callback, file=faults).splitlines()
    assert len(output) == 3
    assert all(line.startswith(expected) for line in output), output


SERIES = "SELECT count(*) FROM time_bucket_series(INTERVAL '1 second', TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02')"
#  what the callbacks are of, their names, a function and a query of the kind
KINDS = [
    ("table", ("bind", "init", "produce"), "time_bucket_series", SERIES),
    ("macros", ("bind", "init", "produce"), "time_bucket_macros", "SELECT count(*) > 5 FROM time_bucket_macros()"),
    ("aggregate", ("update", "combine", "finalize"), "time_bucket_moments", "SELECT time_bucket_moments(i) FROM range(10000) r(i)"),
]


@pytest.mark.parametrize("fault, name, sql", [(f"{kind} {callback}", name, sql) for kind, callbacks, name, sql in KINDS for callback in callbacks])
def test_a_panic_in_a_table_or_aggregate_function_becomes_an_error(in_process, faults, fault, name, sql):
    code = """
        connection = duckdb.connect(config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        right = connection.execute(sys.argv[1]).fetchall()
        for _ in range(3):
            os.environ["TIME_BUCKET_FAULT"] = sys.argv[2]
            try:
                connection.execute(sys.argv[1]).fetchall()
            except duckdb.Error as error:
                print(error)
            os.environ["TIME_BUCKET_FAULT"] = ""
            assert connection.execute(sys.argv[1]).fetchall() == right
    """
    output = in_process(code, sql, fault, file=faults)
    assert output.count(f"{name}: unexpected panic: fault injected into {fault};") == 3


def test_a_panic_fails_load_with_its_reason_and_leaves_nothing_registered(in_process, faults):
    """The fault is met by LOAD itself, and by the registration of each function in turn."""
    code = """
        columns = "function_name, function_type, parameters, parameter_types, return_type, description"
        FUNCTIONS = f"SELECT count(*), sum(hash({columns})) FROM duckdb_functions()"

        def registered(connection):
            return connection.execute(FUNCTIONS).fetchone()

        loaded = duckdb.connect(config=CONFIG)
        before = registered(loaded)
        loaded.execute(f"LOAD '{EXTENSION}'")
        after = registered(loaded)
        names = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'time_bucket%'"
        ours = [name for name, in loaded.execute(names).fetchall()]
        assert len(ours) > 8 and before != after
        for fault in ["load", *ours]:
            connection = duckdb.connect(config=CONFIG)
            for _ in range(2):
                os.environ["TIME_BUCKET_FAULT"] = fault
                try:
                    connection.execute(f"LOAD '{EXTENSION}'")
                    raise SystemExit(f"no error while {fault} was registered")
                except duckdb.Error as error:
                    assert f"time_bucket: unexpected panic: fault injected into {fault};" in str(error), error
                monday, = connection.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::DATE::VARCHAR").fetchone()
                assert monday == "2024-01-01", monday
            assert registered(connection) == before, fault
            os.environ["TIME_BUCKET_FAULT"] = ""
            connection.execute(f"LOAD '{EXTENSION}'")
            assert registered(connection) == after, fault
            connection.close()
    """
    in_process(code, file=faults)


@pytest.mark.parametrize("callback", ["bind", "execute"])
def test_a_write_transaction_fares_as_with_any_other_error_of_the_kind(in_process, faults, tmp_path, callback):
    code = """
        connection = duckdb.connect(sys.argv[1], config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        connection.execute("CREATE TABLE t (x INTEGER)")

        def alive_after(sql):
            connection.execute("BEGIN; INSERT INTO t VALUES (1)")
            try:
                connection.execute(sql).fetchall()
                raise SystemExit("no error")
            except duckdb.Error:
                pass
            try:
                connection.execute("INSERT INTO t VALUES (2)")
                connection.execute("COMMIT")
                return True
            except duckdb.TransactionException:
                connection.execute("ROLLBACK")
                return False

        other = {"bind": "SELECT no_such_column", "execute": "SELECT error('x') FROM range(2)"}[sys.argv[2]]
        expected = alive_after(other)
        os.environ["TIME_BUCKET_FAULT"] = sys.argv[2]
        alive = alive_after("SELECT time_bucket(INTERVAL '1 day', make_timestamp(i)) FROM range(3000) r(i)")
        os.environ["TIME_BUCKET_FAULT"] = ""
        rows, = connection.execute("SELECT count(*) FROM t").fetchone()
        assert alive == expected and rows == (4 if alive else 0), (alive, expected, rows)
    """
    in_process(code, tmp_path / "db", callback, file=faults)


def test_the_shipped_file_has_no_fault_injection(extension, faults):
    assert b"TIME_BUCKET_FAULT" not in extension.read_bytes()
    assert b"TIME_BUCKET_FAULT" in faults.read_bytes()


# Interruptions and limits


def test_an_interrupted_query_leaves_the_connection_usable(connect):
    connection = connect()
    for after in (0.01, 0.1, 0.3):
        timer = threading.Timer(after, connection.interrupt)
        timer.start()
        with pytest.raises(duckdb.InterruptException):
            connection.execute(
                "SELECT count(DISTINCT time_bucket(to_microseconds(1 + i % 1000), make_timestamp(i * j))) "
                "FROM range(100000000000) r(i), range(1000) s(j)"
            ).fetchall()
        timer.join()
        assert works(connection)


def test_memory_limit(connect, tmp_path):
    connection = connect(memory_limit="32MB", threads=2, temp_directory="", max_temp_directory_size="0B")
    with pytest.raises(duckdb.OutOfMemoryException):
        connection.execute(
            "SELECT time_bucket(INTERVAL '1 microsecond', make_timestamp(i)) AS b, count(*) FROM range(30000000) r(i) GROUP BY b"
        ).fetchall()
    assert works(connection)


def test_lists_that_no_memory_is_left_for_are_an_error(in_process):
    """The address space is limited, so that the engine's allocations fail, in several threads at once.

    Each chunk of rows wants 2,048 lists of 2,000 windows, which is 66 MB.
    """
    code = """
        import resource
        connection = duckdb.connect(config={**CONFIG, "threads": 4})
        connection.execute(f"LOAD '{EXTENSION}'")
        connection.execute("CREATE TABLE t AS SELECT make_timestamp(i) AS ts FROM range(500000) r(i)")
        hop = "SELECT sum(len(time_bucket_hop(INTERVAL '1 second', INTERVAL '{} seconds', ts))) FROM t"
        assert connection.execute(hop.format(3)).fetchone() == (1500000,)
        used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), -1))
        for _ in range(5):
            try:
                connection.execute(hop.format(2000)).fetchone()
                print("no error")
            except duckdb.Error as error:
                print(error)
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        assert connection.execute(hop.format(3)).fetchone() == (1500000,)
    """
    output = in_process(code).splitlines()
    said = ("time_bucket_hop: 4096000 windows for 2048 rows are more than are made at once, or than memory holds; "
            "use a larger step, or fewer rows at a time")
    assert output == [f"Invalid Input Error: {said}"] * 5, output


# Databases that are locked down


def make_table(connection, rows=5000):
    connection.execute(
        "CREATE TABLE t (ts TIMESTAMP, b TIMESTAMP GENERATED ALWAYS AS (time_bucket(INTERVAL '1 hour', ts)) VIRTUAL);"
        f"INSERT INTO t SELECT make_timestamp(i * 1000000000) FROM range({rows}) r(i);"
        "CREATE VIEW v AS SELECT time_bucket_end(INTERVAL '1 hour', ts) AS e FROM t"
    )


BUCKETS = "SELECT count(*), count(DISTINCT b), bool_and(b <= ts AND ts < b + INTERVAL 1 HOUR) FROM t"


def test_read_only_database(connect, tmp_path):
    connection = connect(tmp_path / "db")
    make_table(connection)
    connection.close()
    connection = connect(tmp_path / "db", read_only=True)
    assert connection.execute(BUCKETS).fetchone()[::2] == (5000, True)
    assert connection.execute("SELECT count(e) FROM v").fetchone() == (5000,)
    with pytest.raises(duckdb.Error):
        connection.execute("INSERT INTO t VALUES (now()::TIMESTAMP)")
    assert works(connection)


def test_locked_down_after_load(connect):
    connection = connect()
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    assert works(connection)
    with pytest.raises(duckdb.BinderException, match="time_bucket: width"):
        connection.execute("SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')")


def test_load_is_the_engines_to_refuse_when_locked_down_before(connect, extension):
    connection = connect(load=False, enable_external_access=False)
    with pytest.raises(duckdb.PermissionException):
        connection.execute(f"LOAD '{extension}'")
    assert connection.execute("SELECT 42").fetchone() == (42,)
    locked = connect(load=False, lock_configuration=True)
    locked.execute(f"LOAD '{extension}'")
    assert works(locked)


def test_a_database_reopened_without_the_extension(connect, tmp_path):
    connection = connect(tmp_path / "db")
    make_table(connection)
    connection.execute("CREATE VIEW own AS SELECT time_bucket_start(INTERVAL '1 hour', ts) AS s FROM t")
    connection.close()
    connection = connect(tmp_path / "db", load=False)
    assert connection.execute("SELECT count(ts) FROM t").fetchone() == (5000,)
    for sql in ("SELECT e FROM v", "SELECT s FROM own"):
        with pytest.raises(duckdb.CatalogException, match="does not exist"):
            connection.execute(sql)
    connection.execute("INSERT INTO t VALUES (TIMESTAMP '2024-01-01')")
    connection.close()
    connection = connect(tmp_path / "db")
    assert connection.execute(BUCKETS).fetchone()[::2] == (5001, True)
    assert connection.execute("SELECT count(e) FROM v").fetchone() == (5001,)


# Crashes and other versions

INSERTER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], config={"allow_unsigned_extensions": True})
connection.execute(f"LOAD '{sys.argv[2]}'")
connection.execute("SET checkpoint_threshold = '1MB'")
print("open", flush=True)
batch = 0
while True:
    batch += 1
    connection.execute(f"INSERT INTO t SELECT make_timestamp(({batch} * 1000 + i) * 1000000) FROM range(1000) r(i)")
    print(batch, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("index", [False, True], ids=["column", "column and index"])
def test_kill_9_during_inserts_loses_no_committed_row(connect, extension, tmp_path, seed, index):
    path = tmp_path / "db"
    connection = connect(path)
    make_table(connection, rows=0)
    if index:
        connection.execute("CREATE INDEX i ON t (time_bucket(INTERVAL '1 hour', ts))")
    connection.close()
    command = [sys.executable, "-c", INSERTER, str(path), str(extension)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONSAFEPATH": "1"})
    assert child.stdout.readline() == "open\n"
    child.stdout.readline()
    time.sleep(0.05 + 0.13 * seed)
    child.send_signal(signal.SIGKILL)
    committed = int(([line for line in child.stdout.read().splitlines() if line.isdigit()] or ["1"])[-1])
    child.wait()
    connection = connect(path)
    rows, _, right = connection.execute(BUCKETS).fetchone()
    assert right and rows % 1000 == 0 and rows >= committed * 1000
    assert connection.execute("SELECT count(e) FROM v").fetchone() == (rows,)
    connection.execute("INSERT INTO t VALUES (TIMESTAMP '2024-01-01'); CHECKPOINT")


COLUMNS = {
    "plain": "",
    "generated": ", b TIMESTAMP GENERATED ALWAYS AS (time_bucket_start(INTERVAL '1 hour', ts)) VIRTUAL",
    "default": ", d TIMESTAMP DEFAULT time_bucket_start(INTERVAL '1 hour', TIMESTAMP '2024-01-01')",
    "check": ", CHECK (time_bucket_start(INTERVAL '1 hour', ts) <= ts)",
}
CHANGES = {
    "index": "CREATE INDEX i ON t (time_bucket_start(INTERVAL '1 hour', ts))",
    "view": "CREATE VIEW v AS SELECT time_bucket_start(INTERVAL '1 hour', ts) AS b FROM t",
    "alter": "ALTER TABLE t ADD COLUMN z TIMESTAMP DEFAULT time_bucket_start(INTERVAL '1 hour', TIMESTAMP '2024-01-01')",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_a_log_that_names_the_functions_is_replayed(connect, in_process, tmp_path, columns, change):
    """The log is replayed while a file is opened. Opened directly, that is before LOAD is possible.

    The engine then refuses a log that holds an ALTER TABLE of a table that needs an extension's function; the file
    opens by ATTACH from a connection that has the extension, and directly after that.
    """
    code = """
        connection = duckdb.connect(sys.argv[1], config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        insert = "INSERT INTO t (ts) SELECT make_timestamp(i * 1000000) FROM range(100) r(i)"
        for sql in (f"CREATE TABLE t (ts TIMESTAMP{sys.argv[2]})", insert, sys.argv[3], insert):
            connection.execute(sql)
        os._exit(0)
    """
    in_process(code, tmp_path / "db", COLUMNS[columns], CHANGES[change])
    if change == "alter":
        connection = connect()
        connection.execute(f"ATTACH '{tmp_path / 'db'}' AS d; CHECKPOINT d; DETACH d")
    connection = connect(tmp_path / "db")
    assert connection.execute("SELECT count(*), count(DISTINCT ts) FROM t").fetchone() == (200, 100)
    connection.execute("INSERT INTO t (ts) VALUES (TIMESTAMP '2024-01-01')")


def test_a_database_written_by_the_older_engine_opens_in_the_newer(in_process, other_python, tmp_path):
    write = """
        connection = duckdb.connect(sys.argv[1], config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        connection.execute("CREATE TABLE t (ts TIMESTAMP_NS, b TIMESTAMP_NS GENERATED ALWAYS AS (time_bucket(INTERVAL '1 hour', ts)) VIRTUAL)")
        connection.execute("INSERT INTO t SELECT make_timestamp_ns(i * 1000000001) FROM range(100000) r(i)")
        connection.execute("CREATE VIEW v AS SELECT b, time_bucket_end(INTERVAL '90 minutes', ts) AS e FROM t")
        connection.execute("CREATE MACRO hour(ts) AS time_bucket(INTERVAL '1 hour', ts)")
    """
    read = """
        connection = duckdb.connect(sys.argv[1], config=CONFIG)
        connection.execute(f"LOAD '{EXTENSION}'")
        print(connection.execute("SELECT sum(epoch_ns(b)::HUGEINT), sum(epoch_ns(e)::HUGEINT) FROM v").fetchall())
        print(connection.execute("SELECT sum(epoch_ns(hour(ts))::HUGEINT) FROM t").fetchall())
    """
    python = sys.executable
    older, newer = (other_python, python) if ENGINE >= (2, 0) else (python, other_python)
    path = tmp_path / "db"
    in_process(write, path, python=older)
    assert in_process(read, path, python=newer) == in_process(read, path, python=newer)
    hour, half = 3_600 * 10**9, 5_400 * 10**9
    ticks = [i * 1_000_000_001 for i in range(100_000)]
    start = sum(t - t % hour for t in ticks)
    end = sum(t - t % half + half for t in ticks)
    assert in_process(read, path, python=newer).splitlines() == [f"[({start}, {end})]", f"[({start},)]"]
