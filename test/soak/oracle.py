"""What the extension has to answer, from type, width, anchor and timestamp alone.

Nothing here is shared with the extension. Two ways that check each other: `bucket` and `windows` in Python's unbounded
integers, a line each, which nobody can get wrong; and `buckets` and `hops`, the same over numpy arrays, for bulk. The
numpy form is exact because it counts ticks from the smallest int64 in uint64, where nothing overflows:
`(ts - anchor) mod width = (ts' mod width) - (anchor' mod width)`, plus the width if negative, with x' = x + 2^63 taken
in Python integers for a constant and by flipping the sign bit for a column.
"""

from dataclasses import dataclass

import numpy as np

INT64 = 2**63
INFINITIES = (-INT64 + 1, INT64 - 1)
OUT = "out of range"

# DuckDB's finite TIMESTAMP in microseconds; _S and _MS stop where their value in microseconds would leave it.
LOW_MICROS, HIGH_MICROS = -9_223_372_022_400_000_000, INT64 - 2


@dataclass(frozen=True)
class Type:
    name: str
    nanos: int  # in a tick
    low: int  # the finite range, in ticks
    high: int
    instant: bool = False
    since: int = 1  # the engine's major version

    def finite(self, tick):
        return self.low <= tick <= self.high and tick not in INFINITIES

    def ticks(self, nanos):
        """Whole ticks, or None."""
        return nanos // self.nanos if nanos % self.nanos == 0 else None

    def sql(self, tick):
        """An expression for this value of the type."""
        if self.name == "DATE":
            return f"make_date({tick}::INTEGER)"
        if tick in INFINITIES:
            return f"'{'-' * (tick < 0)}infinity'::{self.name}"
        if self.nanos == 1:
            return f"make_timestamp_ns('{tick}'::BIGINT)" + f"::{self.name}" * self.instant
        return f"make_timestamp({tick * self.nanos // 1000})" + f"::{self.name}" * (self.name != "TIMESTAMP")


TYPES = [
    Type("TIMESTAMP_S", 10**9, LOW_MICROS // 10**6, HIGH_MICROS // 10**6),
    Type("TIMESTAMP_MS", 10**6, LOW_MICROS // 10**3, HIGH_MICROS // 10**3),
    Type("TIMESTAMP", 10**3, LOW_MICROS, HIGH_MICROS),
    Type("TIMESTAMP_NS", 1, -INT64, INT64 - 2),
    Type("TIMESTAMPTZ", 10**3, LOW_MICROS, HIGH_MICROS, instant=True),
    Type("TIMESTAMPTZ_NS", 1, -INT64, INT64 - 2, instant=True, since=2),
]
# An origin of a type without time zone may be a DATE too: its midnight.
DATE = Type("DATE", 86_400 * 10**9, -(2**31) + 2, 2**31 - 2)


def bucket(of, width, anchor, tick, end=False):
    """The bucket's start or end in ticks, or OUT. `width` and `anchor` are in ticks too, of any size."""
    if tick in INFINITIES:
        return tick
    edge = tick - (tick - anchor) % width + width * end
    return edge if of.finite(edge) else OUT


def windows(of, slide, size, anchor, tick):
    """The windows [s, s + size) that hold the tick, s on the slide grid, ascending; or OUT."""
    if tick in INFINITIES:
        return [(tick, tick)]
    found, start = [], tick - (tick - anchor) % slide
    while start + size > tick:
        found.insert(0, (start, start + size))
        start -= slide
    if any(not of.finite(edge) for window in found for edge in window):
        return OUT
    return found


def _lifted(ticks):
    """x + 2^63 as uint64."""
    return ticks.view(np.uint64) ^ np.uint64(INT64)


def _modulo(of, width, anchor, ticks):
    """(ticks - anchor) mod width as uint64; width below 2^63, constant or a column, and so the anchor."""
    if isinstance(width, int):
        assert 0 < width < INT64
        width = np.uint64(width)
        bias = np.uint64((anchor + INT64) % int(width))
    else:
        width = width.astype(np.uint64)
        bias = _lifted(np.asarray(anchor, np.int64)) % width
    rest = _lifted(ticks) % width
    # Both below the width, so neither branch overflows; the wrong branch may wrap and is not taken.
    return np.where(rest >= bias, rest - bias, rest + (width - bias)), width


def buckets(of, width, anchor, ticks, end=False):
    """`bucket` for an array: the edges, and which of them are right to be an error (their edge is then arbitrary)."""
    if isinstance(width, int) and (width >= INT64 or not -INT64 <= anchor < INT64):
        anchor %= width
        if width >= INT64 or anchor >= INT64:
            edges = [bucket(of, width, anchor, tick, end) for tick in ticks.tolist()]
            out = np.array([edge is OUT for edge in edges], bool)
            return np.array([0 if edge is OUT else edge for edge in edges], np.int64), out
    past, width = _modulo(of, width, anchor, ticks)
    infinite = (ticks == INFINITIES[0]) | (ticks == INFINITIES[1])
    if end:
        ahead = width - past
        out = ahead > _lifted(np.full_like(ticks, of.high)) - _lifted(ticks)
        edges = (ticks.view(np.uint64) + ahead).view(np.int64)
    else:
        out = past > _lifted(ticks) - _lifted(np.full_like(ticks, of.low))
        edges = (ticks.view(np.uint64) - past).view(np.int64)
    out |= (edges == INFINITIES[0]) | (edges == INFINITIES[1])
    return np.where(infinite, ticks, edges), out & ~infinite


def hops(of, slide, size, anchor, ticks):
    """`windows` for an array of finite ticks: how many each has, and all starts in a row. Nothing out of range."""
    past, _ = _modulo(of, slide, anchor, ticks)
    past = past.view(np.int64)  # below slide < 2^63
    counts = np.where(past < size, (size - past - 1) // slide + 1, 0)
    last = ticks - past
    row = np.repeat(np.arange(len(ticks)), counts)
    first_of_row = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.arange(len(row)) - first_of_row
    return counts, last[row] - slide * (counts[row] - 1 - rank)
