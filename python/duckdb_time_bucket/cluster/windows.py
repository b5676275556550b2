"""The windows that are made of panes, each as one SQL query over the partial panes of some keys and some time.

A window is owned by one span of time, so that the spans' files side by side hold every window once. A query reads the view
`parts`, which has the panes that the windows of its span need, of all files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .worker import literal, name, names

DAY = 86_400_000_000
# How much longer a local bucket may be than its width: a day that was skipped, and an hour.
JUMP = DAY + DAY // 24

Span = tuple[int, int]
"""From, and up to but without, in microseconds from the epoch."""


@dataclass(frozen=True)
class Definition:
    """What the panes of a store are of."""

    ts: str
    values: tuple[str, ...]
    width: str
    keys: tuple[str, ...]
    origin: str
    zone: str | None
    rows: str
    columns: Mapping[str, str]
    """The types of these columns, as the first file has them."""

    def moment(self, microseconds: int) -> str:
        """An instant or a local time in SQL, of the type of the panes' starts or one that it is compared to exactly."""
        return f"make_timestamp{'tz' if 'WITH TIME ZONE' in self.columns[self.ts] else ''}({microseconds})"


class Lengths(Protocol):
    """What an INTERVAL's text is in microseconds."""

    def __call__(self, interval: str) -> int: ...


class Windows(Protocol):
    """A kind of windows."""

    divisible: bool
    """Whether a span of time can be computed without the others."""
    macros: tuple[str, ...]
    """The macros that its query calls."""

    def lengths(self) -> tuple[str, ...]:
        """The texts of its INTERVALs, which have to be fixed lengths."""

    def reach(self, store: Definition, length: Lengths) -> Span:
        """How far the panes lie from the span that owns their windows: from the first up to it, and from its end to the last."""

    def query(self, store: Definition, span: Span, whole: Span) -> str:
        """The windows that the span owns; `whole` is from the first pane's start to the last one's."""


@dataclass(frozen=True)
class Rolling:
    """For each key and pane the window of length `lookback` that ends with the pane: `rolling_panes`."""

    lookback: str
    divisible = True
    macros = ("merge_panes", "rolling_panes")

    def lengths(self) -> tuple[str, ...]:
        return (self.lookback,)

    def reach(self, store: Definition, length: Lengths) -> Span:
        return length(self.lookback) + (JUMP if store.zone else 0), 0

    def query(self, store: Definition, span: Span, whole: Span) -> str:
        keys = names(store.keys)
        since, until = map(store.moment, span)
        local = f", origin := {store.origin}, zone := {literal(store.zone)}" if store.zone else ""
        return (f"WITH merged AS MATERIALIZED (FROM merge_panes('parts', {keys})) FROM rolling_panes('merged', {keys}, "
                f"INTERVAL {literal(self.lookback)}, INTERVAL {literal(store.width)}, since := {since}, until := {until}{local})")


@dataclass(frozen=True)
class Tumble:
    """For each key the buckets of `width` that have panes, by the clock of `zone` if it is given; `origin` is an SQL expression."""

    width: str
    zone: str | None = None
    origin: str | None = None
    divisible = True
    macros = ("merge_panes",)

    def lengths(self) -> tuple[str, ...]:
        return (self.width,)

    def reach(self, store: Definition, length: Lengths) -> Span:
        return 0, length(self.width) + (JUMP if self.zone else 0)

    def query(self, store: Definition, span: Span, whole: Span) -> str:
        place = _place("pane_start", self.zone, self.origin)
        start, end = (f"time_bucket_{side}(INTERVAL {literal(self.width)}, {place})" for side in ("start", "end"))
        across = _refuse(f"pane_end > {end}", f"width {self.width}" + (f" in {self.zone}" if self.zone else ""))
        moved = f"SELECT * REPLACE ({start} AS pane_start, {end} AS pane_end) FROM parts WHERE {across}"
        return _merged(store, moved, span)


@dataclass(frozen=True)
class Hop:
    """For each key the windows of `size`, one each `slide`, that have panes; `zone` and `origin` as in Tumble."""

    slide: str
    size: str
    zone: str | None = None
    origin: str | None = None
    divisible = True
    macros = ("merge_panes",)

    def lengths(self) -> tuple[str, ...]:
        return (self.slide, self.size)

    def reach(self, store: Definition, length: Lengths) -> Span:
        return 0, length(self.size) + (JUMP if self.zone else 0)

    def query(self, store: Definition, span: Span, whole: Span) -> str:
        place = _place("pane_start", self.zone, self.origin)
        slide, size = f"INTERVAL {literal(self.slide)}", f"INTERVAL {literal(self.size)}"
        hops = f"time_bucket_hop({slide}, {size}, {place})"
        across = _refuse(f"pane_end > least(({hops})[1].window_end, time_bucket_end({slide}, {place}))",
                         f"slide {self.slide} and size {self.size}" + (f" in {self.zone}" if self.zone else ""))
        moved = (f"SELECT * REPLACE (pane_start.window_start AS pane_start, pane_start.window_end AS pane_end) "
                 f"FROM (SELECT * REPLACE (unnest({hops}) AS pane_start) FROM parts WHERE {across})")
        return _merged(store, moved, span)


@dataclass(frozen=True)
class Gapfill:
    """A row for every key and bucket of `width`, as the macro `gapfill` makes them.

    `columns` says what a row holds: a name, and an SQL expression over the values' windows, `{"mean": "temp.avg"}`. Those that
    `carry`, `interpolate` and `zero` name are filled so, others are NULL. `since` and `until` are SQL expressions; without them the
    range is that of all keys. `members` is a Parquet file with keys that appear even without a pane. `zone` and `origin` as in Tumble.
    """

    width: str
    columns: Mapping[str, str]
    carry: tuple[str, ...] = ()
    interpolate: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    max_gap: str | None = None
    members: str | None = None
    zone: str | None = None
    origin: str | None = None
    divisible = False
    macros = ("merge_panes", "gapfill")

    def lengths(self) -> tuple[str, ...]:
        return (self.width,)

    def reach(self, store: Definition, length: Lengths) -> Span:
        return length(self.width) + JUMP, 0  # the first bucket may begin before the first pane

    def query(self, store: Definition, span: Span, whole: Span) -> str:
        buckets = Tumble(self.width, self.zone, self.origin).query(store, span, whole)
        first, last = (f"time_bucket_{side}(INTERVAL {literal(self.width)}, {_place(store.moment(at), self.zone, self.origin)})"
                       for side, at in zip(("start", "end"), whole))
        columns = "".join(f", {expression} AS {name(column)}" for column, expression in self.columns.items())
        arguments = {"carry": names(tuple(self.carry)), "interpolate": names(tuple(self.interpolate)), "zero": names(tuple(self.zero)),
                     "since": self.since or first, "until": self.until or last}
        if self.max_gap:
            arguments["max_gap"] = f"INTERVAL {literal(self.max_gap)}"
        if self.zone:
            arguments["zone"] = literal(self.zone)
        if self.origin:
            arguments["origin"] = self.origin
        if self.members:
            arguments["members"] = "'members'"
        named = ", ".join(f"{argument} := {value}" for argument, value in arguments.items())
        keys = "".join(f"{name(key)}, " for key in store.keys)
        return (f"WITH buckets AS ({buckets}), chosen AS (SELECT {keys}window_start{columns} FROM buckets) "
                f"FROM gapfill('chosen', 'window_start', INTERVAL {literal(self.width)}, {names(store.keys)}, {named})")


@dataclass(frozen=True)
class Made:
    """The windows of a store, in files."""

    files: tuple[str, ...]
    """Parquet files that together hold every window once."""
    computed: int
    """How many of them this call has written."""
    kept: int
    """How many were there, of the same panes."""
    workers: Mapping[str, float] = field(default_factory=dict)
    """The seconds that tasks of this call took on each worker."""


def _place(at: str, zone: str | None, origin: str | None) -> str:
    return at + (f", {literal(zone)}" if zone else "") + (f", {origin}" if origin else "")


def _refuse(across: str, what: str) -> str:
    """A condition that ends the query where a pane lies across a bound of the windows."""
    text = literal(f"{what} cut through the pane from {{}} to {{}}; make panes of a length that divides them")
    return f"time_bucket_refuse(CASE WHEN {across} THEN format({text}, pane_start::VARCHAR, pane_end::VARCHAR) END) IS NULL"


def _merged(store: Definition, moved: str, span: Span) -> str:
    """The windows of panes that were given the bounds of their windows."""
    since, until = map(store.moment, span)
    keys = "".join(f"merged.{name(key)}, " for key in store.keys)
    values = ", ".join(f"{_window(f'merged.{name(value)}')} AS {name(value)}" for value in store.values)
    return (f"WITH moved AS ({moved}), merged AS (FROM merge_panes('moved', {names(store.keys)})) "
            f"SELECT {keys}pane_start AS window_start, pane_end AS window_end, {values} FROM merged "
            f"WHERE merged.pane_start >= {since} AND merged.pane_start < {until}")


def _window(v: str) -> str:
    """What rolling_panes gives of a value, from a pane that is as wide as the window."""
    return (f"struct_pack(n := {v}.n, sum := {v}.sum, min := {v}.min, max := {v}.max, avg := ({v}.sum::DOUBLE + {v}.residue) / {v}.n, "
            f"var_samp := CASE WHEN {v}.n > 1 THEN {v}.m2 / ({v}.n - 1) END)")
