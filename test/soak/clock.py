"""Buckets of local time, from the rule alone: what a zone's clock shows, and at which instants a bucket starts.

A bucket starts at each instant at which the clock shows a point of the grid for the first time, or jumps over one or more,
then at the jump; where it is set back by at least a width, the points that it shows again start buckets again. As in
oracle.py there are two ways that check each other: `bucket` in Python's integers, by a search for the first instant at
which the highest reading so far has passed as many points; and `Buckets` over numpy arrays, which knows of each stretch
between two changes its first and its last start. The changes are those of PyPI's `tzdata`, files of RFC 9636.
"""

import re
import struct
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import tzdata

from oracle import INFINITIES

FOLDER = Path(tzdata.__file__).parent
NAMES = (FOLDER / "zones").read_text().split()
VERSION = tzdata.IANA_VERSION
DAY = 86_400
EVER = 2**62  # seconds, before or after all that a timestamp holds
FAR = 2**62  # ticks, far enough from int64's ends to add to them
YEARS = range(1970, 2611)  # of a rule; the calendar repeats after 400 years, weekdays included
CYCLE, FOLDED = 146_097 * DAY, 7_258_118_400  # in seconds: 400 years, and 2200-01-01, from which on they are folded
EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Zone:
    """From each instant of `since` on the clock shows that instant + its offset, in seconds; the first is before all time."""

    name: str
    since: tuple[int, ...]
    offsets: tuple[int, ...]

    def __post_init__(self):
        # Of each stretch: the highest reading before it, exclusive, and how far the clock was set back to it.
        ends = [until + offset for until, offset in zip(self.since[1:], self.offsets)]
        object.__setattr__(self, "until", (*self.since[1:], EVER))
        object.__setattr__(self, "above", (-EVER * 2, *accumulate(ends, max)))
        object.__setattr__(self, "setback", (0, *(a - b for a, b in zip(self.offsets, self.offsets[1:]))))

    @classmethod
    def of(cls, name, changes):
        """From (instant, offset) in order, of which those that change nothing are left out."""
        kept = [change for i, change in enumerate(changes) if i == 0 or change[1] != changes[i - 1][1]]
        return cls(name, *map(tuple, zip(*kept)))

    def offset(self, second):
        return self.offsets[bisect_right(self.since, second) - 1]


def _block(data, at, size):
    """A block of a file, its instants of `size` bytes: them, the kinds that begin there, each kind's offset, where it ends."""
    isut, isstd, leap, count, types, chars = struct.unpack_from(">6l", data, at + 20)
    at += 44
    instants = struct.unpack_from(f">{count}{'q' if size == 8 else 'l'}", data, at)
    kinds = data[at + size * count : at + size * count + count]
    at += (size + 1) * count
    offsets = [struct.unpack_from(">l", data, at + 6 * kind)[0] for kind in range(types)]
    return instants, kinds, offsets, at + 6 * types + chars + (size + 4) * leap + isstd + isut


@cache
def zone(name):
    data = (FOLDER / "zoneinfo" / name).read_bytes()
    instants, kinds, offsets, end = _block(data, _block(data, 0, 4)[3], 8)
    changes = [(-EVER, offsets[0]), *zip(instants, (offsets[kind] for kind in kinds))]
    return Zone.of(name, changes + [change for change in _continued(data[end:].decode().strip()) if change[0] > changes[-1][0]])


@cache
def _continued(rule):
    """The changes of a rule such as EST5EDT,M3.2.0,M11.1.0/1:30. Without a second offset the clock goes on as it is."""
    name, *dates = rule.split(",")
    if not dates:
        return []
    found = re.fullmatch(r"(?:[A-Za-z]+|<.+?>)([-+:\d]+)(?:[A-Za-z]+|<.+?>)([-+:\d]*)", name)
    standard = -_seconds(found[1])
    summer = -_seconds(found[2]) if found[2] else standard + 3600
    (to_summer, at), (to_standard, until) = ((day, _seconds(time or "2")) for day, _, time in (text.partition("/") for text in dates))
    return sorted(change for year in YEARS for change in (
        (_midnight(year, to_summer) + at - standard, summer), (_midnight(year, to_standard) + until - summer, standard)))


def _seconds(text):
    """Of [+-]hours[:minutes[:seconds]]."""
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sum(part * 60 ** (2 - i) for i, part in enumerate(parts)) * (-1 if text[0] == "-" else 1)


def _midnight(year, rule):
    """The seconds to the midnight of Mm.w.d: weekday d (0 is Sunday) of month m, the wth or, for 5, the last."""
    month, week, weekday = map(int, rule[1:].split("."))
    first = date(year, month, 1)
    day = first.toordinal() + (weekday - first.isoweekday()) % 7 + 7 * (week - 1)
    if date.fromordinal(day).month != month:
        day -= 7
    return (day - EPOCH) * DAY


def cycles(second):
    """How many seconds earlier the clock shows the same but for the year: whole cycles for what is later than 2600."""
    return max(0, (second - FOLDED) // CYCLE) * CYCLE


def bucket(zone, width, origin, tick, second):
    """The bucket [start, end) that holds a tick; `second` is one in ticks, and so are width and origin, a wall reading."""

    def passed(t):
        """The number of points up to the highest reading until t."""
        back = cycles(t // second)
        i = bisect_right(zone.since, t // second - back) - 1
        return (max(t + zone.offsets[i] * second, (zone.above[i] + back) * second - 1) - origin) // width

    starts, ends = [_first(lambda t: passed(t) >= passed(tick), tick, -1)], [_first(lambda t: passed(t) > passed(tick), tick, 1)]
    back = cycles(tick // second)
    near = [bisect_right(zone.since, edge // second - back) for edge in (starts[0], ends[0])]
    for i in range(near[0] - 1, near[1]) if max(zone.setback) * second >= width else ():
        if zone.setback[i] * second >= width:
            # The points that are shown again, and when: [low, high) in ticks, of the same cycle as the tick.
            since, shift = zone.since[i] + back, zone.offsets[i] * second - origin
            low, high = since * second, min(since + zone.setback[i], zone.until[i] + back) * second
            last = min(tick, high - 1)
            last -= (last + shift) % width
            after = max(tick + 1, low)
            after += -(after + shift) % width
            starts += [last] if last >= low else []
            ends += [after] if after < high else []
    return max(starts), min(ends)


def _first(holds, tick, direction):
    """The first t for which a property holds, that holds from then on; it is searched from `tick` in a direction."""
    step = 1
    while holds(tick + direction * step) == (direction < 0):
        step *= 2
    low, high = sorted((tick, tick + direction * step)) if direction > 0 else (tick - step, tick)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


class Buckets:
    """The same for arrays, of instants that are `bulk`; width and origin are far from int64's ends too."""

    def __init__(self, zone, width, origin, second):
        self.width, self.origin = width, origin
        self.second = second
        bound = np.array([max(-FAR, min(FAR, since * second)) for since in zone.since] + [FAR], np.int64)
        self.since, self.until = bound[:-1], bound[1:]
        self.offset = np.array(zone.offsets, np.int64) * second
        self.low = self.since + self.offset
        high = self.until + self.offset
        above = np.maximum.accumulate(np.concatenate([[-FAR - 2 * DAY * second], high[:-1]]))
        setback = np.array(zone.setback, np.int64) * second
        # Readings of each stretch: [low, again) are shown again and count, [fresh, high) are new.
        self.again = np.where(setback >= width, np.minimum(self.low + setback, high), self.low)
        self.fresh, self.high = np.maximum(self.low, above), high
        self.jump = (self.up(above) < self.low) & (np.arange(len(bound) - 1) > 0)
        none = np.iinfo(np.int64).min
        last = self.start_in(np.arange(len(self.low)), high - 1, none)
        self.last = np.concatenate([[none], np.maximum.accumulate(last)[:-1]])
        first = np.where(self.jump, self.since, self.end_in(np.arange(len(self.low)), self.low - 1, -none - 1))
        self.first = np.concatenate([np.minimum.accumulate(first[::-1])[::-1][1:], [-none - 1]])

    def down(self, reading):
        """The greatest point that is not above a reading."""
        return reading - (reading - self.origin) % self.width

    def up(self, reading):
        """The smallest that is not below it."""
        return reading + (self.origin - reading) % self.width

    def start_in(self, i, reading, earlier):
        """The latest start in stretch i up to a reading, or `earlier`."""
        point, again = self.down(reading), self.down(np.minimum(reading, self.again[i] - 1))
        return np.select([point >= self.fresh[i], again >= self.low[i], self.jump[i]],
                         [point - self.offset[i], again - self.offset[i], self.since[i]], earlier)

    def end_in(self, i, reading, later):
        """The first start in stretch i after a reading, or `later`."""
        point = self.down(reading) + self.width
        fresh = np.maximum(point, self.up(self.fresh[i]))
        return np.select([point < self.again[i], fresh < self.high[i]], [point - self.offset[i], fresh - self.offset[i]], later)

    def __call__(self, ticks):
        i = np.searchsorted(self.since, ticks, "right") - 1
        reading = ticks + self.offset[i]
        return self.start_in(i, reading, self.last[i]), self.end_in(i, reading, self.first[i])

    def bulk(self, ticks):
        """Which of them this is exact for: what is near enough to int64's ends or past the years of the rules is not."""
        margin = 2 * self.width + 3 * DAY * self.second
        low, high = -FAR + margin, min(FAR, (FOLDED + CYCLE) * self.second) - margin
        return (low < ticks) & (ticks < high) if self.width < FAR // 4 else np.zeros(len(ticks), bool)


def edges(of, zone, width, origin, ticks):
    """`bucket` for an array of ticks of a type: the starts, the ends, and which of each are right to be an error."""
    second = 10**9 // of.nanos
    origin %= width
    grid = Buckets(zone, width, origin, second) if width < FAR // 4 else None
    bulk = grid.bulk(ticks) if grid else np.zeros(len(ticks), bool)
    found, out = np.zeros((2, len(ticks)), np.int64), np.zeros((2, len(ticks)), bool)
    if bulk.any():
        found[:, bulk] = grid(ticks[bulk])
    for row in np.flatnonzero(~bulk):
        tick = int(ticks[row])
        plain = (tick, tick) if tick in INFINITIES else bucket(zone, width, origin, tick, second)
        for edge in range(2):
            out[edge, row] = tick not in INFINITIES and not of.finite(plain[edge])
            found[edge, row] = 0 if out[edge, row] else plain[edge]
    return found, out
