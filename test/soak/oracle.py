"""What the extension has to answer, from type, width, anchor and timestamp alone.

Nothing here is shared with the extension. Two ways that check each other: `bucket`, `windows` and what follows them in
Python's unbounded integers and ranges, a line or two each, which nobody can get wrong; and `buckets` and `hops`, the
same over numpy arrays, for bulk. The numpy form is exact because it counts ticks from the smallest int64 in uint64,
where nothing overflows: `(ts - anchor) mod width = (ts' mod width) - (anchor' mod width)`, plus the width if negative,
with x' = x + 2^63 taken in Python integers for a constant and by flipping the sign bit for a column.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

INT64 = 2**63
INFINITIES = (-INT64 + 1, INT64 - 1)
OUT = "out of range"
MOST_WINDOWS = 100_000  # of hopping ones a row

# DuckDB's finite TIMESTAMP in microseconds; _S and _MS stop where their value in microseconds would leave it.
LOW_MICROS, HIGH_MICROS = -9_223_372_022_400_000_000, INT64 - 2


@dataclass(frozen=True)
class Type:
    name: str
    nanos: int  # in a tick
    low: int  # the finite range, in ticks
    high: int
    make: str
    unit: int = 1000  # in nanoseconds, of the number that is made a timestamp
    instant: bool = False
    since: int = 1  # the engine's major version

    def finite(self, tick):
        return self.low <= tick <= self.high and tick not in INFINITIES

    def all_finite(self, ticks):
        """Whether all ticks of a range are; it may be longer than memory."""
        return not ticks or self.finite(ticks[0]) and self.finite(ticks[-1]) and not any(tick in ticks for tick in INFINITIES)

    def ticks(self, nanos):
        """Whole ticks, or None."""
        return nanos // self.nanos if nanos % self.nanos == 0 else None

    def number(self, tick):
        """What `make` takes: days, microseconds or nanoseconds."""
        return tick * self.nanos // self.unit

    def sql(self, tick):
        """An expression for this value of the type. 2^63 alone is no BIGINT, hence the quotes."""
        if tick in INFINITIES:
            return f"'{'-' * (tick < 0)}infinity'::{self.name}"
        return self.make.format(f"'{self.number(tick)}'")


TYPES = [
    Type("TIMESTAMP_S", 10**9, LOW_MICROS // 10**6, HIGH_MICROS // 10**6, "make_timestamp({}::BIGINT)::TIMESTAMP_S"),
    Type("TIMESTAMP_MS", 10**6, LOW_MICROS // 10**3, HIGH_MICROS // 10**3, "make_timestamp({}::BIGINT)::TIMESTAMP_MS"),
    Type("TIMESTAMP", 10**3, LOW_MICROS, HIGH_MICROS, "make_timestamp({}::BIGINT)"),
    Type("TIMESTAMP_NS", 1, -INT64, INT64 - 2, "make_timestamp_ns({}::BIGINT)", unit=1),
    # Not a cast: near the range's ends that of 1.5.6 rounds to milliseconds or fails.
    Type("TIMESTAMPTZ", 10**3, LOW_MICROS, HIGH_MICROS, "make_timestamptz({}::BIGINT)", instant=True),
    Type("TIMESTAMPTZ_NS", 1, -INT64, INT64 - 2, "make_timestamp_ns({}::BIGINT)::TIMESTAMPTZ_NS", unit=1, instant=True, since=2),
]
# An origin of a type without time zone may be a DATE too: its midnight.
DAY = 86_400 * 10**9
DATE = Type("DATE", DAY, -(2**31) + 2, 2**31 - 2, "make_date({}::INTEGER)", unit=DAY)


def bucket(of, width, anchor, tick, end=False):
    """The bucket's start or end in ticks, or OUT. `width` and `anchor` are in ticks too, of any size."""
    if tick in INFINITIES:
        return tick
    edge = tick - (tick - anchor) % width + width * end
    return edge if of.finite(edge) else OUT


def spans(of, starts, length):
    """[start, start + length) for each start of a range: the starts and the ends, or OUT."""
    ends = range(starts.start + length, starts.stop + length, starts.step)
    return (starts, ends) if of.all_finite(starts) and of.all_finite(ends) else OUT


def windows(of, slide, size, anchor, tick):
    """The windows [s, s + size) that hold the tick, s on the slide grid, ascending: starts and ends, or OUT."""
    if tick in INFINITIES:
        return range(tick, tick + 1), range(tick, tick + 1)
    last = tick - (tick - anchor) % slide
    return spans(of, range(last, tick - size, -slide)[::-1], size)


def series(of, width, anchor, since, until):
    """The buckets that meet [since, until): starts and ends, or OUT."""
    first = since - (since - anchor) % width
    return spans(of, range(first, until, width) if since < until else range(0), width)


def pane(lookback, cadence):
    """The widest length of which both are whole multiples; no cadence is None or 0."""
    return math.gcd(lookback, cadence or 0)


def cadence(times):
    """The widest step on which all of them lie; 0 for less than two."""
    return math.gcd(*(later - earlier for earlier, later in pairwise(times)))


def panes(of, lookback, width, at):
    """The panes of the lookback before `at` floored to their grid, the newest first: starts and ends, or OUT."""
    end = at - at % width
    return spans(of, range(end - width, end - lookback - width, -width), width)


def cover(of, at, lookback, size, slide):
    """The windows that tile the lookback before `at` floored to the slide grid: starts and ends, or OUT."""
    end = at - at % slide
    return spans(of, range(end - lookback, end, size), size)


def staleness(of, at, end):
    """How far `at` is past the end, in nanoseconds: whole microseconds, as an interval has no less, and never understated."""
    return -((end - at) * of.nanos // 1000) * 1000


# Why a call is refused: patterns of messages. An interval has months and nanos and is None for NULL; a point in time has
# nanos and a tick, None for NULL.


def refusals(of, values):
    """Of arguments by their names."""
    refused = [(_refused_point if hasattr(value, "tick") else _refused_interval)(of, name, value) for name, value in values.items()]
    return [reason for reason in refused if reason]


def _refused_interval(of, argument, interval):
    """Only an offset may be negative, and a cadence zero or NULL."""
    if interval is None:
        return None if argument == "cadence" else f"{argument} must not be NULL"
    if interval.months:
        return f"{argument} INTERVAL '.*' is calendar"
    if argument == "cadence":
        return "cadence must not be negative" if interval.nanos < 0 else None
    if argument != "offset" and interval.nanos <= 0:
        return f"{argument} must be positive"
    return f"{argument} must be a whole number of" if interval.nanos % of.nanos else None


def _refused_point(of, argument, point):
    if point.tick is None:
        return f"{argument} must not be NULL"
    if point.tick in INFINITIES:
        return f"{argument} must be finite"
    return f"{argument} must be a whole number of" if point.nanos % of.nanos else None


def bucket_refusals():
    return ["the bucket's .* is out of range"]


def zone_refusals():
    return ["there is no time zone '.*'", "zone must"]


def window_refusals(*arguments):
    return [f"a window bound for {argument} '.*' is out of range" for argument in arguments]


def count_refusals(slide, size):
    """For legal lengths."""
    reason = f"size INTERVAL '.*' at slide INTERVAL '.*' makes .* windows a row, more than {MOST_WINDOWS}"
    return [reason] if -(-size // slide) > MOST_WINDOWS else []


def multiple_refusals(lengths):
    """Each has to be a multiple of the next."""
    return [f"{one} INTERVAL '.*' is not a multiple of {other} INTERVAL '.*'"
            for (one, length), (other, unit) in pairwise(lengths.items()) if length % unit]


def times_refusals(of, times):
    if None in times:
        return ["times must not hold NULL"]
    if not all(map(of.finite, times)):
        return ["times must be finite"]
    return ["times must be whole microseconds apart"] if cadence(times) * of.nanos % 1000 else []


def budget_refusals(budget, panes):
    if budget is None:
        return ["budget must not be NULL"]
    if budget <= 0:
        return ["budget must be positive"]
    return ["lookback INTERVAL '.*' makes .* panes of INTERVAL '.*', more than the budget of"] if panes > budget else []


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
    """`windows` for an array: how many each has, where the first starts, and which are right to be an error."""
    counts, firsts, out = np.zeros(len(ticks), np.int64), np.zeros(len(ticks), np.int64), np.zeros(len(ticks), bool)
    low, high = of.low + slide + size, of.high - slide - size
    safe = (low < ticks) & (ticks < high) if low < high else out.copy()
    if safe.any():
        # So slide and size are below 2^63.
        ticks_safe = ticks[safe]
        past = _modulo(of, slide, anchor % slide, ticks_safe)[0].view(np.int64)
        counts[safe] = np.where(past < size, (size - past - 1) // slide + 1, 0)
        firsts[safe] = ticks_safe - past - slide * (counts[safe] - 1)
    for row in np.flatnonzero(~safe):
        found = windows(of, slide, size, anchor, int(ticks[row]))
        out[row] = found is OUT
        if found is not OUT and found[0]:
            counts[row], firsts[row] = len(found[0]), found[0][0]
    return counts, firsts, out
