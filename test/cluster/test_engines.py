"""The same store on Dask, Spark and Ray, of one worker and of two, with workers that are killed while they write.

    pytest test/cluster/test_engines.py -k dask

Everything is compared with what one DuckDB process says of the same rows, without panes.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
import rows
from duckdb_time_bucket import cluster
from rows import KEYS, VALUES, grouped, source, write

WIDTH = "15 minutes"
FILES, ROWS = 6, 200_000
# Its clock is set within these days, of which six of ten have rows.
ZONE, SINCE, UNTIL = "Europe/Berlin", "TIMESTAMPTZ '2026-03-25'", "TIMESTAMPTZ '2026-04-03'"


@contextlib.contextmanager
def dask(workers):
    from distributed import Client

    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) as client:
        yield cluster.dask(client)


@contextlib.contextmanager
def spark(workers):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (SparkSession.builder.master(f"local[{workers},4]").config("spark.ui.enabled", False).config("spark.driver.bindAddress", "127.0.0.1")
               .getOrCreate())
    try:
        yield cluster.spark(session)
    finally:
        session.stop()


@contextlib.contextmanager
def ray(workers):
    import duckdb_time_bucket
    import ray

    ray.init(num_cpus=workers, runtime_env={"py_modules": [duckdb_time_bucket]}, include_dashboard=False, logging_level="error", log_to_driver=False)
    try:
        yield cluster.ray()
    finally:
        ray.shutdown()


ENGINES = {"dask": dask, "spark": spark, "ray": ray}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six files, each of one day, but for some rows of the first day that came late; and what one process makes of them, by job."""
    import duckdb_time_bucket

    folder = tmp_path_factory.mktemp("rows")
    with duckdb_time_bucket.connect(macros=True) as con:
        for day in range(FILES - 1):
            write(con, folder / f"{day}.parquet", day, ROWS * day, ROWS, zoned=True)
        write(con, folder / "late.parquet", 0, ROWS * FILES, ROWS, zoned=True)
        everything = source(folder.glob("*.parquet"))
        local = f"(INTERVAL '1 day', time, '{ZONE}')"
        by_day = grouped(f"(SELECT *, time_bucket{local} AS window_start, time_bucket_end{local} AS window_end FROM {everything})")
        con.execute(f"CREATE TABLE days AS SELECT * EXCLUDE (whole, exact, float, window_end), float.n AS n, float.max AS last FROM ({by_day})")
        (folder / "want").mkdir()
        for job, query in {
            "rolled": grouped(rows.rolling(everything, WIDTH, "1 hour")),
            "tumbled": by_day,
            "hopped": grouped(f"(SELECT *, unnest(time_bucket_hop(INTERVAL '6 hours', INTERVAL '1 day', time), max_depth := 2) FROM {everything})"),
            "filled": f"FROM gapfill('days', 'window_start', INTERVAL '1 day', {list(KEYS)}, carry := ['last'], zero := ['n'], since := {SINCE}, until := {UNTIL}, zone := '{ZONE}')",
        }.items():
            con.execute(f"COPY ({query}) TO '{folder}/want/{job}.parquet'")
    return folder


def a_store(tmp_path, **settings):
    return cluster.Store(tmp_path / "store", ts="time", values=VALUES, width=WIDTH, keys=KEYS, settings=cluster.Settings(memory_limit="1GB", **settings))


class Killer(threading.Thread):
    """Kills the first process that is seen to write a file of a store, while it writes."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.killed, self.left = str(folder), None, None
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set() and self.killed is None:
            for path in pathlib.Path(self.folder).rglob(".*.tmp"):
                if path.suffixes[0] != ".json" and (pid := self.writer(path)):
                    os.kill(pid, signal.SIGKILL)
                    self.killed, self.left = pid, path
                    return
            time.sleep(0.001)

    @staticmethod
    def writer(path):
        for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                if os.readlink(link) == str(path) and int(link.parts[2]) != os.getpid():
                    return int(link.parts[2])
        return None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def differences(con, folder, job, made):
    return rows.differences(con, made.files, f"FROM '{folder}/want/{job}.parquet'")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_equal_to_one_process(tmp_path, con, folder, engine, workers):
    store = a_store(tmp_path)
    with ENGINES[engine](workers) as run:
        update = store.update(f"{folder}/*.parquet", run)
        assert (update.computed, len(update.workers)) == (FILES, workers) and str(os.getpid()) not in str(update.workers)
        assert differences(con, folder, "rolled", store.windows(cluster.Rolling("1 hour"), run, partitions=3)) == []
        assert differences(con, folder, "tumbled", store.windows(cluster.Tumble("1 day", zone=ZONE), run, partitions=3)) == []
        assert differences(con, folder, "hopped", store.windows(cluster.Hop("6 hours", "1 day"), run, partitions=3)) == []
        kind = cluster.Gapfill("1 day", {"n": "float.n", "last": "float.max"}, carry=("last",), zero=("n",), since=SINCE, until=UNTIL, zone=ZONE)
        got, want = (f"SELECT * REPLACE (v + 0 AS v) FROM read_parquet({files})" for files in (
            list(store.windows(kind, run, partitions=3).files), [f"{folder}/want/filled.parquet"]))
        assert con.execute(f"(({got}) EXCEPT ALL ({want})) UNION ALL (({want}) EXCEPT ALL ({got}))").fetchall() == []
        assert con.execute(f"SELECT count(*) FILTER (filled) / count(*) FROM ({want})").fetchone() == (4 / 10,)
        assert store.compact(run).computed == 1
        assert store.windows(cluster.Rolling("1 hour"), run, partitions=3).computed == 0
        assert differences(con, folder, "rolled", store.windows(cluster.Rolling("1 hour"), run, partitions=2)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_is_killed_in_each_stage(tmp_path, con, folder, engine):
    store = a_store(tmp_path)
    with ENGINES[engine](2) as run:
        with Killer(store.folder / "panes") as first:
            update = store.update(f"{folder}/*.parquet", run)
        assert first.killed and not any(worker.endswith(f":{first.killed}") for worker in list(update.workers)[-1:])
        with Killer(store.folder / "windows") as second:
            made = store.windows(cluster.Rolling("1 hour"), run, partitions=6)
        assert second.killed and second.killed != first.killed
    assert update.computed == FILES
    # What the dead left half-written is there, and nobody reads it.
    assert first.left.exists() and second.left.exists()
    assert differences(con, folder, "rolled", made) == []
    assert store.vacuum() >= 2 and not first.left.exists() and not second.left.exists()
    assert differences(con, folder, "rolled", store.windows(cluster.Rolling("1 hour"), partitions=6)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_name_the_worker_and_the_file(tmp_path, con, folder, engine):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes((folder / "late.parquet").read_bytes()[:5000])
    without = write(con, tmp_path / "without.parquet")
    con.execute(f"COPY (SELECT * EXCLUDE (time) FROM '{without}') TO '{without}'")
    with ENGINES[engine](1) as run:
        store = a_store(tmp_path)
        for wrong, text in [(broken, r"worker \S+:\d+: file .*/broken\.parquet: "), (without, r"worker \S+:\d+: the file .*/without\.parquet has no column time; it has ")]:
            with pytest.raises(cluster.ClusterError, match=text) as raised:
                store.update([f"{folder}/0.parquet", wrong], run)
            assert "\n" not in str(raised.value) and str(os.getpid()) not in str(raised.value) and store.files() == ()
        many = tmp_path / "many.parquet"
        con.execute(f"COPY (SELECT * REPLACE (row_number() OVER () AS v) FROM '{folder}/0.parquet') TO '{many}'")
        for number, (wrong, text) in enumerate([
            (dict(extension="/nowhere"), r"worker \S+:\d+ has no extension at /nowhere; install duckdb-time-bucket there"),
            # As many panes as rows fit neither into the memory given nor on the disk beside it.
            (dict(memory_limit="30MB", config={"max_temp_directory_size": "1MB"}), r"worker \S+:\d+: file .*/many\.parquet: Out of Memory Error: "),
        ]):
            (tmp_path / str(number)).mkdir()
            store = a_store(tmp_path / str(number))
            store.settings = cluster.Settings(**wrong)
            with pytest.raises(cluster.ClusterError, match=text) as raised:
                store.update(many, run)
            assert "\n" not in str(raised.value) and store.files() == () and list(store.folder.rglob("*.tmp")) == []
            store.settings = cluster.Settings()
            assert store.update(many, run).computed == 1


def test_dask_workers_that_were_started_elsewhere(tmp_path, con, folder, capsys):
    """A scheduler and workers from the command line, which know nothing of this package: it is sent to them."""
    from distributed import Client

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"DASK_DISTRIBUTED__DASHBOARD__LINK": ""}
    contact = tmp_path / "scheduler.json"
    arguments = {"scheduler": ["--port", "0", "--no-dashboard"], "worker": ["--nworkers", "2", "--nthreads", "1", "--no-dashboard"]}
    started = [subprocess.Popen([sys.executable, "-m", "dask", role, "--scheduler-file", contact, *more], env=environment, cwd=tmp_path,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for role, more in arguments.items()]
    try:
        deadline = time.monotonic() + 60
        while not contact.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with Client(scheduler_file=str(contact), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            with pytest.raises(ModuleNotFoundError):
                client.run(lambda: __import__("duckdb_time_bucket"))
            run = cluster.dask(client, progress=True)
            store = a_store(tmp_path)
            assert len(store.update(f"{folder}/*.parquet", run).workers) == 2
            assert "100% Completed" in capsys.readouterr().out
            assert differences(con, folder, "rolled", store.windows(cluster.Rolling("1 hour"), run, partitions=3)) == []
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)
