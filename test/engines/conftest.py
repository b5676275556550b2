"""What the engine tests share. They run in an engine's Python, with TIME_BUCKET_EXTENSION naming the packaged file."""

import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

CONFIG = {"allow_unsigned_extensions": True, "autoinstall_known_extensions": False}


@pytest.fixture(scope="session")
def extension():
    return Path(os.environ["TIME_BUCKET_EXTENSION"]).resolve(strict=True)


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

    def run(code, *arguments, python=sys.executable, timeout=120, file=extension, environment=None):
        start = f"import duckdb, os, sys, threading\nEXTENSION = {str(file)!r}\nCONFIG = {CONFIG!r}\n"
        command = [str(python), "-c", start + textwrap.dedent(code), *map(str, arguments)]
        environment = {**os.environ, "PYTHONSAFEPATH": "1", **(environment or {})}
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
