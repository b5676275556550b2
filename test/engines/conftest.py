"""Runs against the DuckDB that this Python has, with the packaged extension loaded:

    build/engine-2.0.1/bin/python -m pytest test/engines

What else the tests need is found where `make test-inputs` puts it. A test whose input is missing fails, and says so.
TIME_BUCKET_EXTENSION names the extension's file, if it is not the one that `make` builds.
"""
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import tomllib

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/release/extension/time_bucket/time_bucket.duckdb_extension"
EXTENSION = pathlib.Path(os.environ.get("TIME_BUCKET_EXTENSION", BUILT)).resolve()
MACROS = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "sql/macros").glob("*.sql")))
PINNED = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["metadata"]["duckdb"]
CONFIG = {"allow_unsigned_extensions": True, "autoinstall_known_extensions": False}


def built(path):
    """An input of the tests."""
    if not (ROOT / path).exists():
        pytest.fail(f"{path} is missing; run `make test-inputs`", pytrace=False)
    return ROOT / path


def engine(version):
    """The interpreter of the virtual environment with this DuckDB."""
    return built(f"build/engine-{version}/bin/python")


@pytest.fixture(scope="session")
def faults():
    """The file that was built with the feature `fault-injection`."""
    return built("build/faults/time_bucket.duckdb_extension")


@pytest.fixture(scope="session")
def cli():
    """The DuckDB command line."""
    return built("build/tools/duckdb")


@pytest.fixture(scope="session")
def node():
    """A folder where @duckdb/node-api is installed; a machine without Node, unless it is CI, does without."""
    if not shutil.which("npm") and not os.environ.get("CI"):
        pytest.skip("there is no npm")
    built("build/node/node_modules")
    return ROOT / "build/node"


@pytest.fixture(scope="session")
def other_python():
    """The interpreter with the other engine that tests run on."""
    return engine(next(version for version in PINNED["engines"] if version != duckdb.__version__))


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


@pytest.fixture(scope="session")
def extension():
    """The packaged file."""
    return EXTENSION


@pytest.fixture
def connect(extension):
    """connect(path, **config): a connection with the extension loaded, closed after the test."""
    opened = []

    def connect(path=":memory:", load=True, read_only=False, **config):
        connection = duckdb.connect(str(path), read_only, {**CONFIG, **config})
        opened.append(connection)
        if load:
            connection.execute(f"LOAD '{extension}'")
        return connection

    yield connect
    for connection in opened:
        connection.close()
    gc.collect()


@pytest.fixture
def in_process(extension):
    """Runs code in a process of its own, where a crash or a hang is a failed test; gives its standard output.

    The code finds duckdb, EXTENSION, CONFIG and its arguments in sys.argv.
    """

    def run(code, *arguments, python=sys.executable, timeout=120, file=extension):
        start = f"import duckdb, os, sys, threading\nEXTENSION = {str(file)!r}\nCONFIG = {CONFIG!r}\n"
        command = [str(python), "-c", start + textwrap.dedent(code), *map(str, arguments)]
        environment = {**os.environ, "PYTHONSAFEPATH": "1"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
