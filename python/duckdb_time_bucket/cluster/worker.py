"""What every task does on its worker: open a connection of its own with the extension, and write a file whole or not at all.

A connection lives as long as its task. None is kept between tasks or crosses a fork, so that an engine may start its workers
as it likes.
"""

from __future__ import annotations

import functools
import importlib.resources
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

import duckdb_time_bucket

PACKAGE = "duckdb_time_bucket"
NAME = f"{PACKAGE}.cluster"


class ClusterError(RuntimeError):
    """A task or a job that was refused or failed: one line that names the worker or the file and says what to do."""


@dataclass(frozen=True)
class Settings:
    """How DuckDB runs in each task."""

    threads: int = 1
    """Of a task; an engine runs as many tasks at once as a worker has slots for."""
    memory_limit: str | None = None
    """As DuckDB writes it, `2GB`. Its own default is four fifths of the machine, too much where several tasks share it."""
    temp_directory: str | None = None
    """Where a task makes a folder for what does not fit in memory; the system's if it is not given."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Other settings of DuckDB, by name."""
    setup: tuple[str, ...] = ()
    """SQL that is run first, such as `LOAD httpfs` and `CREATE SECRET …`."""
    filesystems: tuple[Any, ...] = ()
    """File systems of fsspec, such as `s3fs.S3FileSystem(…)`, that read the URLs of their protocols."""
    extension: str | None = None
    """The path of the extension's file on the workers, if it is not the one that comes with this package."""


@dataclass(frozen=True)
class Versions:
    """Which engine and which extension a job is computed with, on all workers alike."""

    engine: str
    extension: str

    @staticmethod
    def of(connection: duckdb.DuckDBPyConnection) -> Versions:
        """Those of a connection."""
        query = "SELECT version(), (SELECT extension_version FROM duckdb_extensions() WHERE extension_name = 'time_bucket' AND loaded)"
        return Versions(*connection.execute(query).fetchall()[0])


def whoami() -> str:
    """The host and the process, as errors and reports name a worker."""
    return f"{socket.gethostname()}:{os.getpid()}"


@functools.cache
def _unpacked() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix=f"{PACKAGE}-", ignore_cleanup_errors=True)


def extension() -> Path:
    """The file that comes with this package, which an engine may have shipped as a zip: then unpacked, once a process."""
    if duckdb_time_bucket.EXTENSION.is_file():
        return duckdb_time_bucket.EXTENSION
    name = duckdb_time_bucket.EXTENSION.name
    packed = importlib.resources.files(PACKAGE).joinpath(name)
    target = Path(_unpacked().name, name)
    if not target.is_file() and packed.is_file():
        partial = target.with_name(f"{uuid.uuid4()}.tmp")
        partial.write_bytes(packed.read_bytes())
        partial.replace(target)
    return target


@contextmanager
def connection(settings: Settings, versions: Versions | None = None, macros: Sequence[str] = ()) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with the extension and these of its macros, for one task.

    Raises ClusterError where the extension is missing, or this is not the engine and the extension of the job.
    """
    file = Path(settings.extension) if settings.extension else extension()
    if not file.is_file():
        raise ClusterError(f"{NAME}: worker {whoami()} has no extension at {file}; install duckdb-time-bucket there, or say where it is "
                           "with Settings(extension=…)")
    folder = tempfile.mkdtemp(prefix=f"{PACKAGE}-", dir=settings.temp_directory)
    config = {"threads": settings.threads, "temp_directory": folder, "preserve_insertion_order": False, **settings.config,
              "allow_unsigned_extensions": True} | ({"memory_limit": settings.memory_limit} if settings.memory_limit else {})
    try:
        with duckdb.connect(":memory:", config=config) as con:
            duckdb_time_bucket.load(con, file=file)
            here = Versions.of(con)
            if versions not in (None, here):
                raise ClusterError(f"{NAME}: worker {whoami()} has DuckDB {here.engine} and time_bucket {here.extension}, the job DuckDB "
                                   f"{versions.engine} and time_bucket {versions.extension}; install the same on all workers")
            for filesystem in settings.filesystems:
                filesystem.invalidate_cache()  # which would hide what came since this process looked last
                con.register_filesystem(filesystem)
            con.execute("SET TimeZone = 'UTC'")  # the text of an instant, by which keys are parted, depends on it
            con.execute("SET enable_progress_bar = false")  # which DuckDB would show where it sees no script
            for statement in settings.setup:
                con.execute(statement)
            for (macro,) in con.execute("SELECT sql FROM time_bucket_macros() WHERE list_contains(?, name)", [macros]).fetchall():
                con.execute(macro)
            yield con
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(con: duckdb.DuckDBPyConnection, select: str, target: Path) -> None:
    """Writes a query's rows to a Parquet file that appears whole or not at all, whoever else writes it at the same time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.stem}.{uuid.uuid4()}.tmp")
    try:
        # Small row groups, so that a reader of some keys skips the others.
        con.execute(f"COPY ({select}) TO {literal(str(partial))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480)")
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def name(column: str) -> str:
    """A column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'


def names(columns: tuple[str, ...]) -> str:
    """A list of columns' names, as the macros take it."""
    return f"[{', '.join(map(literal, columns))}]::VARCHAR[]"


def first_line(error: Exception) -> str:
    """What an error says, without where in a query it is."""
    return str(error).strip().partition("\n")[0]


def is_url(file: str) -> bool:
    """Whether DuckDB, and not this machine's file system, has to say what is there."""
    return "://" in file


def paths(files: tuple[str, ...]) -> str:
    """A list of files in SQL, in which nothing is a pattern. Over HTTP nothing is one anyway."""
    return "[" + ", ".join(literal(file if file.startswith("http") and is_url(file) else "".join(f"[{c}]" if c in "*?[" else c for c in file))
                           for file in files) + "]"
