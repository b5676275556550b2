"""Rows that lie in an S3, which runs here beside the tests: read through s3fs, since DuckDB's httpfs comes from a server of its own.

The store lies in a folder as ever.
"""

import socketserver

import pytest
import rows
from duckdb_time_bucket import cluster
from duckdb_time_bucket.cluster import tasks
from rows import KEYS, VALUES, grouped, source, write
from test_engines import dask

WIDTH = "15 minutes"
moto = pytest.importorskip("moto.server", reason="make test-cluster installs an S3")
s3fs = pytest.importorskip("s3fs")


def client(host, port, **more):
    return s3fs.S3FileSystem(key="key", secret="secret", endpoint_url=f"http://{host}:{port}", **more)


@pytest.fixture(scope="module")
def server():
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()
    server.stop()


@pytest.fixture
def s3(server):
    """The store's way to the rows."""
    return client(*server)


@pytest.fixture
def elsewhere(server):
    """Somebody else's, who puts rows there."""
    return client(*server, skip_instance_cache=True)


@pytest.fixture
def bucket(elsewhere, request):
    name = request.function.__name__.replace("_", "-")
    elsewhere.mkdir(name)
    return name


def a_store(tmp_path, s3):
    return cluster.Store(tmp_path / "store", ts="time", values=VALUES, width=WIDTH, keys=KEYS, settings=cluster.Settings(filesystems=(s3,), memory_limit="1GB"))


def test_stages_of_rows_on_s3(tmp_path, con, s3, elsewhere, bucket):
    """New, late and deleted files of rows are seen as on a disk, whatever a process has seen before; a name is no pattern."""
    store = a_store(tmp_path, s3)

    def put(name, day, first, count=2000):
        elsewhere.put_file(str(write(con, tmp_path / name, day, first, count)), f"{bucket}/days/{name}")

    def check(made):
        want = grouped(rows.rolling(source(sorted(file for file in tmp_path.iterdir() if file.is_file())).replace("[1]", "[[]1]"), WIDTH, "3 hours"))
        return rows.differences(con, made.files, want)

    for day, name in enumerate(["0.parquet", "x[1].parquet", "x1.parquet"]):
        put(name, day, 2000 * day)
    with dask(2) as run:
        for computed, name, day, first in [(3, None, 0, 0), (1, "3.parquet", 3, 6000), (1, "late.parquet", 0, 8000)]:
            if name:
                put(name, day, first, 50)
            update = store.update(f"s3://{bucket}/days/*.parquet", run)
            assert (update.computed, update.dropped) == (computed, 0)
            assert check(store.windows(cluster.Rolling("3 hours"), run, partitions=2, span=96)) == []
        elsewhere.rm(f"{bucket}/days/late.parquet")
        (tmp_path / "late.parquet").unlink()
        put("3.parquet", 3, 9000, 70)
        update = store.update(f"s3://{bucket}/days/*.parquet", run)
        assert (update.computed, update.kept, update.dropped) == (1, 3, 2)
        assert check(store.windows(cluster.Rolling("3 hours"), run, partitions=2, span=96)) == []


def test_what_is_wrong_on_s3(tmp_path, con, s3, elsewhere, bucket):
    url = f"s3://{bucket}/0.parquet"
    elsewhere.put_file(str(write(con, tmp_path / "0.parquet")), url)
    elsewhere.pipe_file(f"{bucket}/broken.parquet", b"PAR1 half of a file")
    store = a_store(tmp_path, s3)
    for wrong, text in [(f"s3://{bucket}/none.parquet", "no file is at s3://{}/none.parquet"), ("s3://none/*.parquet", r"no file is at s3://none/\*.parquet"),
                        (f"s3://{bucket}/broken.parquet", r"worker \S+:\d+: file s3://{}/broken.parquet: ")]:
        with pytest.raises(cluster.ClusterError, match=text.format(bucket)) as raised:
            store.update([url, wrong])
        assert "\n" not in str(raised.value) and store.files() == ()

    def meanwhile(todo):
        elsewhere.put_file(str(write(con, tmp_path / "0.parquet", 0, 15000, 20)), url)
        return map(tasks.work, todo)
    with pytest.raises(cluster.ClusterError, match=rf"worker \S+:\d+: the file {url} changed while it was read; run the update again"):
        store.update(url, meanwhile)
    assert store.files() == () and store.update(url).computed == 1


def test_no_answer_from_s3(tmp_path, con):
    """The driver asks first, and says which file it asked for."""
    with socketserver.TCPServer(("127.0.0.1", 0), None) as nobody:
        address = nobody.server_address
    away = client(*address, config_kwargs={"connect_timeout": 1, "retries": {"max_attempts": 0}})
    with pytest.raises(cluster.ClusterError, match=r"duckdb_time_bucket\.cluster: file s3://rows/0\.parquet: ") as raised:
        a_store(tmp_path, away).update("s3://rows/0.parquet")
    assert "\n" not in str(raised.value)
