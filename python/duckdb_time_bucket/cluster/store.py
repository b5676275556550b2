"""A store of panes in a folder, kept to a list of input files, and the windows that are made of it.

    store.json             what the panes are of
    manifest-00000007.json which files of panes count, and of which inputs they are; the highest number is the present
    panes/<hash>.parquet   the partial panes of a group of inputs
    windows/<kind>-<hash>/ the windows of one kind: <hash>.parquet, and current.json, which names those that count

A hash is one of all that the file is made of, so that a file which is there need not be made again, and one that an input or a
setting no longer stands behind is simply not named. Two jobs that write one store at once would each miss what the other added: the
second finds the number of its manifest taken, and is refused.
"""

from __future__ import annotations

import glob
import hashlib
import inspect
import json
import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from .engines import Run, local
from .tasks import SLOT, SLOTS, Input, MergeTask, PaneTask, Refused, Report, Task, WindowTask, columns_of, panes
from .windows import JUMP, Definition, Gapfill, Made, Span, Windows
from .worker import NAME, ClusterError, Settings, Versions, connection, first_line, is_url, literal, name, paths

_FORMAT = 1
# Types whose equal values have different texts, so that a key would fall into two slots.
_NO_KEY = ("INTERVAL", "TIME WITH TIME ZONE")
# What a file gives back as a type that holds the same values.
_WIDENED = {"TIMESTAMP_S": "TIMESTAMP", "TIMESTAMP_MS": "TIMESTAMP"}


@dataclass(frozen=True)
class Entry:
    """A file of panes that counts."""

    file: str
    inputs: tuple[Input, ...]
    rows: int
    time: Span | None
    slots: Span | None
    merged: tuple[str, ...] = ()
    """The files of panes that it was merged from, if it was: then its inputs may be gone, but can't change."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The files whose panes it has, by which windows are named: of these or of their merger they are the same."""
        return self.merged or (self.file,)


@dataclass(frozen=True)
class Manifest:
    """Which files of panes count."""

    number: int = 0
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Update:
    """What an update or a compaction did."""

    computed: int
    """Files of panes that were made."""
    kept: int
    """Files of panes that stayed."""
    dropped: int
    """Files of panes that no longer count."""
    workers: dict[str, float] = field(default_factory=dict)
    """The seconds that tasks took on each worker."""


class Store:
    """Panes of rows in files.

    folder: a path that all workers see; it is made if it is not there.
    ts, values, keys: the columns of the time, of the numbers and of what they are grouped by.
    width: a pane's fixed length, as in an INTERVAL: `5 minutes`. Windows are made of whole panes.
    rows: the query that reads a group of files, which it calls `$files`. It may cast, compute and filter columns.
    origin: an SQL expression that moves the grid, as in `time_bucket`.
    zone: a time zone whose clock the grid is of. Panes of fixed length serve windows of every zone; those of local days only their own.

    Raises ClusterError if the folder holds something else, or panes of another definition.
    """

    def __init__(self, folder: str | os.PathLike[str], *, ts: str, values: Sequence[str], width: str, keys: Sequence[str] = (),
                 rows: str = "FROM read_parquet($files)", origin: str = "INTERVAL '0 seconds'", zone: str | None = None,
                 settings: Settings | None = None) -> None:
        if is_url(os.fspath(folder)):
            raise ClusterError(f"{NAME}: the store can't be at {folder}, since only a file system says which of two jobs came first; "
                               "give a folder that all workers see, and URLs to update")
        self.folder = Path(folder).absolute()
        self.settings = settings or Settings()
        columns = [ts, *values, *keys]
        if not values:
            raise ClusterError(f"{NAME}: values must name at least one column; add one of 1 in rows to count")
        if twice := [column for column, times in Counter(column.lower() for column in columns).items() if times > 1]:
            raise ClusterError(f"{NAME}: the column {twice[0]} is named twice; name it once, or copy it under another name in rows")
        if taken := [column for column in columns if column.lower() == SLOT]:
            raise ClusterError(f"{NAME}: {taken[0]} is a column of the store's own; rename it in rows")
        if "$files" not in rows:
            raise ClusterError(f"{NAME}: rows must read $files, not {rows!r}; as in FROM read_parquet($files)")
        self._definition = Definition(ts, tuple(values), width, tuple(keys), origin, zone, inspect.cleandoc(rows), {})
        self._open()

    def update(self, files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], run: Run | None = None, *,
               group: str | Callable[[str], str] = "file") -> Update:
        """Makes the store hold the panes of exactly these files: new and changed ones are read, those of files that are gone do not count.

        `files` are paths and patterns of all files of the store, whenever they came. `group` says which go into one task: "file",
        "folder", or a function from a path to a group's name. Files of one time range in a group make the fewest panes.
        """
        manifest = self._manifest()
        with self._driver(("pane_rows",)) as con:
            inputs = self._inputs(con, [files] if isinstance(files, str | os.PathLike) else list(files))
            versions = Versions.of(con)
            if not self._definition.columns:
                self._describe(con, inputs[0])
        sealed = {file.path: file for entry in manifest.entries if entry.merged for file in entry.inputs}
        for file in inputs:
            if sealed.get(file.path, file) != file:
                raise ClusterError(f"{NAME}: the file {file.path} changed, and its panes were merged with others by compact; "
                                   "give the rows that came late a file of their own")
        of = {"file": lambda path: path, "folder": lambda path: path.rpartition("/")[0]}.get(group, group) if isinstance(group, str) else group
        if not callable(of):
            raise ClusterError(f"{NAME}: group must be 'file', 'folder' or a function, not {group!r}")
        groups: dict[str, list[Input]] = defaultdict(list)
        for file in inputs:
            if file.path not in sealed:
                groups[of(file.path)].append(file)
        wanted = {f"{self._hash([asdict(file) for file in members])}.parquet": tuple(members) for members in groups.values()}
        there = {entry.file: entry for entry in manifest.entries}
        tasks = [PaneTask(str(self.folder / "panes" / file), self._definition, self.settings, versions, members)
                 for file, members in wanted.items() if file not in there]
        reports = self._done(run, tasks)
        entries = [entry for entry in manifest.entries if entry.merged or entry.file in wanted]
        entries += [_entry(report, wanted[Path(report.target).name]) for report in reports]
        return self._commit(manifest, entries, reports)

    def windows(self, kind: Windows, run: Run | None = None, *, partitions: int = 8, span: int = 1024) -> Made:
        """Makes the windows of a kind, and only those whose panes are not what they were when a file of them was made.

        A task is a range of keys, of `partitions`, and a span of time, of `span` panes.
        """
        entries = [entry for entry in self._manifest().entries if entry.time and entry.slots]
        if not entries:
            raise ClusterError(f"{NAME}: the store {self.folder} has no panes; call update with files that have rows")
        with self._driver(("pane_rows", *kind.macros)) as con:
            versions = Versions.of(con)
            reach, width = self._check(con, kind)
            members: list[Any] = [asdict(file) for file in self._inputs(con, [kind.members])] if isinstance(kind, Gapfill) and kind.members else []
        pane = width + (JUMP if self._definition.zone else 0)
        whole = min(entry.time[0] for entry in entries if entry.time), max(entry.time[1] for entry in entries if entry.time)
        spans = _spans(entries, reach, pane, width * max(span, 1)) if kind.divisible else [(whole[0] - reach[0], whole[1] + pane)]
        bounds = sorted({SLOTS * part // partitions for part in range(partitions + 1)})
        described = f"{type(kind).__name__.lower()}-{self._hash([type(kind).__name__, asdict(kind)])[:8]}"  # type: ignore[call-overload]
        folder = self.folder / "windows" / described
        # What else the windows depend on: the range that is filled, and who is a member.
        apart = [whole, members]
        tasks, files = [], []
        for start, end in spans:
            needs = start - reach[0] - pane, end + reach[1]
            for slots in zip(bounds, bounds[1:]):
                met = [entry for entry in entries if _meet(entry, needs, slots)]
                if not met:
                    continue
                parts = sorted(part for entry in met for part in entry.parts)
                target = folder / f"{self._hash([asdict(kind), (start, end), slots, parts, None if kind.divisible else apart])}.parquet"  # type: ignore[call-overload]
                files.append(str(target))
                if not target.exists():
                    tasks.append(WindowTask(str(target), self._definition, self.settings, versions, kind,
                                            tuple(str(self.folder / "panes" / entry.file) for entry in met), slots, (start, end), needs, whole))
        reports = self._done(run, tasks)
        _replace(folder / "current.json", {"windows": asdict(kind), "files": [Path(file).name for file in files]})  # type: ignore[call-overload]
        return Made(tuple(files), len(tasks), len(files) - len(tasks), _workers(reports))

    def compact(self, run: Run | None = None, *, span: str = "1 day", before: str | None = None) -> Update:
        """Merges the files of panes that begin in one span of time, and end before `before`, a timestamp, into one.

        Their inputs are sealed: they may be deleted, and their panes stay; they must not change. Rows that come later are in files of their own.
        """
        manifest = self._manifest()
        with self._driver() as con:
            versions = Versions.of(con)
            length = _microseconds(con, span)
            limit = con.execute(f"SELECT epoch_us(TIMESTAMPTZ {literal(before)})").fetchall()[0][0] if before else None
        spans: dict[int, list[Entry]] = defaultdict(list)
        for entry in manifest.entries:
            if entry.time and (limit is None or entry.time[1] < limit):
                spans[entry.time[0] // length].append(entry)
        merged = {f"{self._hash(sorted(entry.file for entry in entries))}.parquet": entries for entries in spans.values() if len(entries) > 1}
        tasks = [MergeTask(str(self.folder / "panes" / file), self._definition, self.settings, versions,
                           tuple(str(self.folder / "panes" / entry.file) for entry in entries)) for file, entries in merged.items()]
        reports = self._done(run, tasks)
        gone = {entry.file for entries in merged.values() for entry in entries}
        entries = [entry for entry in manifest.entries if entry.file not in gone]
        for report in reports:
            sources = merged[Path(report.target).name]
            entries.append(replace(_entry(report, tuple(file for entry in sources for file in entry.inputs)),
                                   merged=tuple(part for entry in sources for part in entry.parts)))
        return self._commit(manifest, entries, reports)

    def files(self) -> tuple[str, ...]:
        """The files of panes that count: a column `pane_slot`, the keys, `pane_start`, `pane_end`, and a pane of each value."""
        return tuple(str(self.folder / "panes" / entry.file) for entry in self._manifest().entries)

    def vacuum(self) -> int:
        """Deletes the files that do not count, and says how many. No job may be running, nor a reader of windows that were replaced."""
        keep = {Path(file) for file in self.files()}
        for current in self.folder.glob("windows/*/current.json"):
            keep |= {current.with_name(file) for file in json.loads(current.read_text(encoding="utf-8"))["files"]}
        manifests = sorted(self.folder.glob("manifest-*.json"))
        found = [*self.folder.glob("panes/*.parquet"), *self.folder.glob("windows/*/*.parquet"), *self.folder.rglob(".*.tmp"), *manifests[:-1]]
        gone = [file for file in found if file not in keep]
        for file in gone:
            file.unlink()
        return len(gone)

    def _driver(self, macros: Sequence[str] = ()) -> Any:
        # Paths are those of the workers; here the extension is where this package has it.
        return connection(replace(self.settings, extension=None, temp_directory=None), macros=macros)

    def _open(self) -> None:
        file = self.folder / "store.json"
        if not file.exists():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise ClusterError(f"{NAME}: the folder {self.folder} holds something else than a store of panes; give one that is empty or new")
            self.folder.mkdir(parents=True, exist_ok=True)
            return
        if not any(self.folder.glob("manifest-*.json")):
            return  # nothing counts yet, so that it may be defined anew
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.pop("format", None) != _FORMAT:
            raise ClusterError(f"{NAME}: the store {self.folder} was made by another version of {NAME}; make a new one")
        mine = json.loads(json.dumps(asdict(self._definition)))
        for key, value in mine.items():
            if key != "columns" and stored[key] != value:
                raise ClusterError(f"{NAME}: the folder {self.folder} holds panes of another job, with {key} = {stored[key]!r}, not {value!r}; "
                                   "give another folder")
        self._definition = replace(self._definition, columns=stored["columns"])

    def _describe(self, con: duckdb.DuckDBPyConnection, first: Input) -> None:
        """Takes the columns' types from the first file, and refuses what panes can't be made of, before any task runs."""
        try:
            definition = replace(self._definition, columns=columns_of(con, self._definition, first.path))
            for key in definition.keys:
                kind = definition.columns[key]
                nested = kind.endswith(("]", ")")) and not kind.startswith("DECIMAL")
                if kind in _NO_KEY or nested and any(inexact in kind for inexact in ("FLOAT", "DOUBLE", *_NO_KEY)):
                    raise Refused(f"the key {key} is of type {kind}, in which equal values have different texts; cast it in rows, as in {name(key)}::VARCHAR")
            _empty(con, definition, "source")
            probe = panes(definition)
            computed = _types(con, probe)
            con.execute(f"CREATE TEMP TABLE made AS {probe}")
            file = self.folder / f".{uuid.uuid4()}.tmp"
            try:
                con.execute(f"COPY made TO {literal(str(file))} (FORMAT parquet)")
                stored = _types(con, f"FROM read_parquet({paths((str(file),))})")
            finally:
                file.unlink(missing_ok=True)
            for column, kind in computed.items():
                if stored[column] not in (kind, _WIDENED.get(kind)) and not kind.startswith("ENUM"):
                    raise Refused(f"the column {column} is of type {definition.columns.get(column, kind)}, which files keep as {stored[column]}; "
                                  "cast it in rows, whole numbers to DECIMAL(38,0)")
        except (Refused, duckdb.Error) as error:
            raise ClusterError(f"{NAME}: file {first.path}: {first_line(error)}") from None
        self._definition = definition
        _replace(self.folder / "store.json", {"format": _FORMAT, **asdict(definition)})

    def _check(self, con: duckdb.DuckDBPyConnection, kind: Windows) -> tuple[Span, int]:
        """How far the windows' panes reach, and a pane's width; refuses what the windows can't be made of, before any task runs."""
        try:
            _empty(con, self._definition, "source")
            con.execute(f"CREATE TEMP TABLE parts AS SELECT * EXCLUDE ({SLOT}) FROM ({panes(self._definition)})")
            con.execute(f"CREATE TEMP TABLE members AS SELECT {', '.join(map(name, self._definition.keys)) or '1 AS one'} FROM parts")
            con.execute(f"DESCRIBE {kind.query(self._definition, (0, 0), (0, 0))}")
            width = _microseconds(con, self._definition.width)
            for length in kind.lengths():
                if _microseconds(con, length) % width:
                    raise Refused(f"{length} is not a multiple of the store's width {self._definition.width}; give whole panes")
            return kind.reach(self._definition, lambda interval: _microseconds(con, interval)), width
        except (Refused, duckdb.Error) as error:
            raise ClusterError(f"{NAME}: {kind}: {first_line(error)}") from None

    def _inputs(self, con: duckdb.DuckDBPyConnection, files: Sequence[str | os.PathLike[str]]) -> list[Input]:
        """The files that paths and patterns name, as they are now."""
        found: dict[str, Input] = {}
        for file in files:
            pattern = os.fspath(file)
            if os.path.isdir(pattern):
                raise ClusterError(f"{NAME}: {pattern} is a folder; give files or a pattern such as {pattern}/*.parquet")
            try:
                matching = Input.behind(con, literal(pattern)) if is_url(pattern) else _local(pattern)
            except (duckdb.Error, OSError) as error:
                raise ClusterError(f"{NAME}: file {pattern}: {first_line(error)}") from None
            if not matching:
                raise ClusterError(f"{NAME}: no file is at {pattern}; give the paths of files, or patterns that match some")
            found |= {file.path: file for file in matching}
        if not found:
            raise ClusterError(f"{NAME}: the list of files is empty; give the paths of files, or patterns that match some")
        return [found[path] for path in sorted(found)]

    def _done(self, run: Run | None, tasks: Sequence[Task]) -> list[Report]:
        reports = []
        for report in (run or local())(tasks) if tasks else ():
            if report.refusal:
                raise ClusterError(report.refusal)
            reports.append(report)
        return reports

    def _hash(self, made_of: Any) -> str:
        return hashlib.sha256(json.dumps([_FORMAT, asdict(self._definition), made_of], sort_keys=True).encode()).hexdigest()[:32]

    def _manifest(self) -> Manifest:
        latest = max(self.folder.glob("manifest-*.json"), default=None)
        if latest is None:
            return Manifest()
        stored = json.loads(latest.read_text(encoding="utf-8"))
        pair: Callable[[Any], Span | None] = lambda value: (value[0], value[1]) if value else None  # noqa: E731
        return Manifest(stored["number"], tuple(
            Entry(entry["file"], tuple(Input(**file) for file in entry["inputs"]), entry["rows"], pair(entry["time"]), pair(entry["slots"]), tuple(entry["merged"]))
            for entry in stored["entries"]))

    def _commit(self, before: Manifest, entries: Sequence[Entry], reports: Sequence[Report]) -> Update:
        files = {entry.file for entry in before.entries}
        now = {entry.file for entry in entries}
        update = Update(len(reports), len(now & files), len(files - now), _workers(reports))
        if now != files:
            after = Manifest(before.number + 1, tuple(sorted(entries, key=lambda entry: entry.file)))
            target = self.folder / f"manifest-{after.number:08}.json"
            with _written(target, asdict(after)) as partial:
                try:
                    os.link(partial, target)  # unlike a rename, fails where another job was faster
                except FileExistsError:
                    raise ClusterError(f"{NAME}: another job wrote to the store {self.folder} meanwhile; run this one again") from None
        return update


def _entry(report: Report, inputs: tuple[Input, ...]) -> Entry:
    return Entry(Path(report.target).name, inputs, report.rows, report.time, report.slots)


def _local(pattern: str) -> list[Input]:
    matching = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    return [Input.at(os.path.abspath(path)) for path in matching]


def _workers(reports: Iterable[Report]) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    for report in reports:
        seconds[report.worker] += report.seconds
    return dict(seconds)


def _meet(entry: Entry, time: Span, slots: Span) -> bool:
    """Whether a file may have panes of a time and some slots."""
    return bool(entry.time and entry.slots and entry.time[0] < time[1] and entry.time[1] >= time[0]
                and entry.slots[0] < slots[1] and entry.slots[1] >= slots[0])


def _spans(entries: Sequence[Entry], reach: Span, pane: int, length: int) -> list[Span]:
    """The spans that own a window, on a grid from the epoch."""
    numbers = {number for entry in entries if entry.time
               for number in range((entry.time[0] - reach[1]) // length, (entry.time[1] + pane - 1) // length + 1)}
    return [(number * length, (number + 1) * length) for number in sorted(numbers)]


def _empty(con: duckdb.DuckDBPyConnection, definition: Definition, table: str) -> None:
    columns = ", ".join(f"NULL::{type} AS {name(column)}" for column, type in definition.columns.items())
    con.execute(f"CREATE TEMP TABLE {table} AS SELECT {columns} LIMIT 0")


def _types(con: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    return {column: type for column, type, *_ in con.execute(f"DESCRIBE {query}").fetchall()}


def _microseconds(con: duckdb.DuckDBPyConnection, interval: str) -> int:
    """A fixed length, or one of the extension's own refusals."""
    con.execute(f"DESCRIBE SELECT time_bucket(INTERVAL {literal(interval)}, TIMESTAMP '1970-01-01')")
    microseconds: int = con.execute(f"SELECT epoch_us(INTERVAL {literal(interval)})").fetchall()[0][0]
    return microseconds


def _replace(target: Path, content: Any) -> None:
    with _written(target, content) as partial:
        partial.replace(target)


@contextmanager
def _written(target: Path, content: Any) -> Iterator[Path]:
    """A file beside its place, which it takes whole or not at all."""
    partial = target.with_name(f".{uuid.uuid4()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(content, indent=1), encoding="utf-8")
        yield partial
    except OSError as error:
        raise ClusterError(f"{NAME}: file {target}: {os.strerror(error.errno or 0)}") from None
    finally:
        partial.unlink(missing_ok=True)
