"""The tasks: pure functions from files to one file, which may run anywhere, twice, or at the same time as themselves.

What is wrong for good, such as a file without the time column, comes back in the report, so that no engine tries it again; what may
pass, such as a full disk, is raised as a ClusterError, which engines retry. Both name the worker and the file.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from .windows import Definition, Gapfill, Span, Windows
from .worker import NAME, ClusterError, Settings, Versions, connection, first_line, is_url, literal, name, names, paths, whoami, write

SLOTS = 4096
"""Into so many parts keys fall, by their md5; a task takes a range of them. In every store alike, so that it is never parted anew."""

SLOT = "pane_slot"

# What reading the same bytes again would say again.
_FINAL = (duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException, duckdb.InvalidInputException,
          duckdb.NotImplementedException, duckdb.OutOfRangeException, duckdb.ParserException, duckdb.SyntaxException)


@dataclass(frozen=True)
class Input:
    """A file of rows, as it was when the job began."""

    path: str
    size: int
    changed: int | None
    """When it was written last, in nanoseconds from the epoch, unless its server does not say."""

    @staticmethod
    def at(path: str) -> Input:
        """A file as it is now. Raises OSError."""
        found = os.stat(path)
        return Input(path, found.st_size, found.st_mtime_ns)

    @staticmethod
    def behind(con: duckdb.DuckDBPyConnection, urls: str) -> list[Input]:
        """The files that an SQL expression of URLs or patterns of them names, as they are now. Raises duckdb.Error."""
        found = con.execute(f"SELECT filename, size, epoch_ns(last_modified) FROM read_blob({urls})").fetchall()
        return [Input(*file) for file in found]

    def is_here(self, con: duckdb.DuckDBPyConnection) -> bool:
        """Whether it is still as it was."""
        return [self] == (Input.behind(con, paths((self.path,))) if is_url(self.path) else [Input.at(self.path)])


@dataclass(frozen=True)
class Report:
    """What became of a task."""

    target: str
    """The file that it wrote."""
    worker: str
    """Host and process."""
    seconds: float
    rows: int = 0
    time: Span | None = None
    """The first and the last start of a pane, in microseconds."""
    slots: Span | None = None
    """The least and the greatest slot."""
    refusal: str | None = None
    """Why it can't be done, in one line."""


@dataclass(frozen=True)
class Task:
    """A file that is to be made."""

    target: str
    store: Definition
    settings: Settings
    versions: Versions
    extent = f"count(*), epoch_us(min(pane_start)), epoch_us(max(pane_start)), min({SLOT}), max({SLOT})"

    @property
    def macros(self) -> tuple[str, ...]:
        """Those of the extension's that it calls; each costs a worker a millisecond or two."""
        return ("pane_rows",)

    def sources(self) -> str:
        """What errors name."""
        raise NotImplementedError

    def write(self, con: duckdb.DuckDBPyConnection) -> None:
        raise NotImplementedError

    def culprits(self) -> Sequence[Task]:
        """The same task for each source alone, to find out which is at fault."""
        return ()


@dataclass(frozen=True)
class PaneTask(Task):
    """Partial panes of rows in files."""

    inputs: tuple[Input, ...]

    def sources(self) -> str:
        return _few([file.path for file in self.inputs])

    def write(self, con: duckdb.DuckDBPyConnection) -> None:
        for file in self.inputs:
            check_columns(con, self.store, file.path)
        con.execute(f"CREATE TEMP VIEW source AS {rows_of(self.store, tuple(file.path for file in self.inputs))}")
        write(con, panes(self.store), Path(self.target))
        for file in self.inputs:
            if not file.is_here(con):
                Path(self.target).unlink(missing_ok=True)
                raise Refused(f"the file {file.path} changed while it was read; run the update again")

    def culprits(self) -> Sequence[Task]:
        return [replace(self, inputs=(file,)) for file in self.inputs] if len(self.inputs) > 1 else ()


@dataclass(frozen=True)
class MergeTask(Task):
    """Panes of several files in one."""

    parts: tuple[str, ...]

    @property
    def macros(self) -> tuple[str, ...]:
        return ("merge_panes",)

    def sources(self) -> str:
        return _few(self.parts)

    def write(self, con: duckdb.DuckDBPyConnection) -> None:
        con.execute(f"CREATE TEMP VIEW parts AS SELECT * EXCLUDE ({SLOT}) FROM read_parquet({paths(self.parts)})")
        write(con, f"SELECT {slot(self.store)} AS {SLOT}, * FROM merge_panes('parts', {names(self.store.keys)}) ORDER BY {SLOT}, pane_start",
              Path(self.target))


@dataclass(frozen=True)
class WindowTask(Task):
    """The windows that a span of time owns, of the keys in a range of slots."""

    windows: Windows
    parts: tuple[str, ...]
    slots: Span
    span: Span
    needs: Span
    whole: Span
    extent = "count(*), NULL, NULL, NULL, NULL"

    @property
    def macros(self) -> tuple[str, ...]:
        return self.windows.macros

    def sources(self) -> str:
        return _few(self.parts)

    def write(self, con: duckdb.DuckDBPyConnection) -> None:
        since, until = map(self.store.moment, self.needs)
        con.execute(f"CREATE TEMP VIEW parts AS SELECT * EXCLUDE ({SLOT}) FROM read_parquet({paths(self.parts)}) "
                    f"WHERE {_within(self.slots)} AND pane_start >= {since} AND pane_start < {until}")
        if isinstance(self.windows, Gapfill) and self.windows.members:
            con.execute(f"CREATE TEMP VIEW members AS SELECT * EXCLUDE ({SLOT}) FROM (SELECT *, {slot(self.store)} AS {SLOT} "
                        f"FROM read_parquet({paths((self.windows.members,))})) WHERE {_within(self.slots)}")
        order = ", ".join([*map(name, self.store.keys), "window_start"])
        write(con, f"FROM ({self.windows.query(self.store, self.span, self.whole)}) ORDER BY {order}", Path(self.target))


class Refused(Exception):
    """What is wrong for good; the task's worker is put in front of it."""


def work(task: Task) -> Report:
    """Does a task on the worker that calls it. Raises ClusterError for what may pass."""
    began = time.perf_counter()
    try:
        with connection(task.settings, task.versions, task.macros) as con:
            task.write(con)
            rows, *extremes = con.execute(f"SELECT {task.extent} FROM read_parquet({paths((task.target,))})").fetchall()[0]
    except (duckdb.Error, Refused, ClusterError, OSError) as error:
        if isinstance(error, duckdb.Error) and not _no_room(error):
            task = next((one for one in task.culprits() if _fails(one)), task)
        said = error if isinstance(error, Refused | ClusterError) else f"{task.sources()}: {first_line(error)}"
        text = str(said) if isinstance(error, ClusterError) else f"{NAME}: worker {whoami()}: {said}"
        if isinstance(error, (Refused, ClusterError, *_FINAL)):
            return Report(task.target, whoami(), time.perf_counter() - began, refusal=text)
        raise ClusterError(text) from None
    first, last, low, high = extremes
    return Report(task.target, whoami(), time.perf_counter() - began, rows, None if first is None else (first, last),
                  None if low is None else (low, high))


def rows_of(store: Definition, files: tuple[str, ...]) -> str:
    """The query that reads the rows of files."""
    return store.rows.replace("$files", paths(files))


def slot(store: Definition) -> str:
    """The slot of a row's keys, the same on every machine and in every version: three digits of an md5 of their text.

    Two keys may share a text, for they then only share a slot; one key must not have two, so zero has no sign here.
    """
    floats = ("FLOAT", "DOUBLE")
    texts = [f"({name(key)}{' + 0' if store.columns[key] in floats else ''})::VARCHAR" for key in store.keys]
    return f"('0x' || left(md5(concat_ws(chr(31), {', '.join(texts)})), 3))::SMALLINT" if texts else "0::SMALLINT"


def panes(store: Definition) -> str:
    """The query for the panes of the view `source`, in the order of slots."""
    zone = f", zone := {literal(store.zone)}" if store.zone else ""
    return (f"SELECT {slot(store)} AS {SLOT}, * FROM pane_rows('source', {literal(store.ts)}, {names(store.values)}, "
            f"INTERVAL {literal(store.width)}, {names(store.keys)}, origin := {store.origin}{zone}) ORDER BY {SLOT}, pane_start")


def columns_of(con: duckdb.DuckDBPyConnection, store: Definition, file: str) -> dict[str, str]:
    """The types of the columns of a file that panes are made of, by the names that the store has for them. Raises Refused."""
    found = {column.lower(): type for column, type, *_ in con.execute(f"DESCRIBE {rows_of(store, (file,))}").fetchall()}
    for column in (store.ts, *store.values, *store.keys):
        if column.lower() not in found:
            raise Refused(f"the file {file} has no column {column}; it has {', '.join(found)}")
    return {column: found[column.lower()] for column in (store.ts, *store.values, *store.keys)}


def check_columns(con: duckdb.DuckDBPyConnection, store: Definition, file: str) -> None:
    """Raises Refused where a file's columns are not those of the store."""
    for column, type in columns_of(con, store, file).items():
        if type != store.columns[column]:
            raise Refused(f"the file {file} has the column {column} as {type}, the store as {store.columns[column]}; cast it in rows, "
                          f"as in SELECT * REPLACE ({name(column)}::{store.columns[column]} AS {name(column)}) FROM …")


def _within(slots: Span) -> str:
    return f"{SLOT} >= {slots[0]} AND {SLOT} < {slots[1]}"


def _few(files: Sequence[str]) -> str:
    return (f"file {files[0]}" if len(files) == 1 else f"{len(files)} files from {files[0]} to {files[-1]}") if files else "no file"


def _no_room(error: duckdb.Error) -> bool:
    """Whether memory or a disk is full, which is no file's fault."""
    return isinstance(error, duckdb.OutOfMemoryException) or os.strerror(errno.ENOSPC) in str(error)


def _fails(task: Task) -> bool:
    """Whether the rows of a task's one file can't be read through."""
    assert isinstance(task, PaneTask)
    try:
        with connection(task.settings, task.versions, task.macros) as con:
            con.execute(f"CREATE TEMP VIEW source AS {rows_of(task.store, tuple(file.path for file in task.inputs))}")
            con.execute(f"SELECT count(*) FROM ({panes(task.store)})").fetchall()
    except duckdb.Error:
        return True
    return False
