#!/usr/bin/env python3
"""Compares every row that the window macros give with exact arithmetic: Python's integers and fractions.

    build/engine-2.0.1/bin/python test/soak/macros.py --extension FILE [--seed N] [--rows N] [--seconds N]

A relation is random: a type of timestamp, a grid, for instants mostly that of a zone's wall clock about a change of it, keys, values
of one type (close together far from zero, of mixed sizes, few different ones), names that the macros use themselves. Each macro reads it,
and each row that comes out is counted. A difference ends the run, with the seed that finds it again.
"""

import argparse
import bisect
import collections
import itertools
import math
import random
import sys
import time
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

import clock
import duckdb
import pyarrow as pa

#  type            nanoseconds a tick, how ticks are written, how they are read
TYPES = {
    "TIMESTAMP_S": (10**9, "make_timestamp({} * 1000000::BIGINT)::TIMESTAMP_S", "epoch_us({}::TIMESTAMP) // 1000000"),
    "TIMESTAMP_MS": (10**6, "make_timestamp({} * 1000::BIGINT)::TIMESTAMP_MS", "epoch_us({}::TIMESTAMP) // 1000"),
    "TIMESTAMP": (10**3, "make_timestamp({}::BIGINT)", "epoch_us({})"),
    "TIMESTAMP_NS": (1, "make_timestamp_ns({}::BIGINT)", "epoch_ns({})"),
    "TIMESTAMPTZ": (10**3, "make_timestamp({}::BIGINT)::TIMESTAMPTZ", "epoch_us({})"),
}
getcontext().prec = 60  # more digits than any type has
NAMES = ["k", "n", "sum", "x", "pane", "lookback", "width", "at", "ts", 'a "b" c', "unit", "keys", "vals", "s", "e", "w", "u_k", "rows", "first", ".*"]


class Difference(Exception):
    """An answer that is not the exact one."""


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(name):
    return "'" + name.replace("'", "''") + "'"


def values(rng, kind):
    """What draws a value, as a fraction's text: near each other far from zero, of mixed sizes, or few different ones."""
    if kind == "DOUBLE":
        far = rng.choice([1e9, -1e15, 0.0])
        return rng.choice([lambda: repr(far + rng.random()), lambda: repr(rng.choice([1, -1]) * 10 ** rng.uniform(-5, 15)), lambda: repr(rng.randint(0, 3) / 8)])
    low, high, digits = {
        "INTEGER": (-2**31, 2**31 - 1, 0), "BIGINT": (-2**63, 2**63 - 1, 0), "UBIGINT": (0, 2**64 - 1, 0), "DECIMAL(18,3)": (-10**17, 10**17, 3),
        "HUGEINT": (-10**30, 10**30, 0), "SMALLINT": (-2**15, 2**15 - 1, 0),
    }[kind]
    base = rng.randint(low, high - 9)
    draw = rng.choice([lambda: rng.randint(low, high), lambda: base + rng.randint(0, 9)])
    return lambda: str(Decimal(draw()).scaleb(-digits) if digits else draw())


class Grid:
    """Buckets by number: `edge(i)` is where bucket i starts and the one before it ends."""

    def __init__(self, width, origin):
        self.width, self.origin = width, origin

    def index(self, t):
        return (t - self.origin) // self.width

    def edge(self, i):
        return self.origin + i * self.width


class LocalGrid:
    """The same on a zone's clock, from the rule of clock.py, near some instants."""

    def __init__(self, zone, width, origin, second, low, high):
        edges = [clock.bucket(zone, width, origin, low, second)[0]]
        while edges[-1] <= high:
            edges.append(clock.bucket(zone, width, origin, edges[-1], second)[1])
        self.edges = edges

    def index(self, t):
        i = bisect.bisect_right(self.edges, t) - 1
        assert 0 <= i < len(self.edges) - 1, "the grid is too short"
        return i

    def edge(self, i):
        assert i >= 0, "the grid is too short"
        return self.edges[i]


class Relation:
    """Random rows in the table t, and what each macro has to give for them."""

    MOST = 30  # panes in a window, at most

    def __init__(self, con, rng, size):
        self.con, self.rng = con, rng
        self.type = rng.choice([*TYPES, "TIMESTAMPTZ"])
        self.tick, self.write, self.read = TYPES[self.type]
        self.kind = rng.choice(["DOUBLE", "INTEGER", "BIGINT", "UBIGINT", "DECIMAL(18,3)", "HUGEINT", "SMALLINT"])
        self.width = rng.choice([1, 7, 60, 3600]) * 10**9 // self.tick
        self.origin = rng.choice([0, 0, 1, -5]) * 10**9 // self.tick
        self.names = rng.sample(NAMES, 3)
        self.ts, self.key, self.value = map(quoted, self.names)
        centre = rng.choice([0, -6 * 10**18, 5 * 10**18]) // self.tick
        span, draw = rng.choice([1, 3, size, size // 3 + 1]), values(rng, self.kind)
        self.zone = rng.choice(clock.NAMES) if self.type == "TIMESTAMPTZ" and rng.random() < 0.75 else None
        if self.zone:
            self.width = rng.choice([900, 3600, 4 * 3600, 86_400, 7 * 86_400]) * 10**9 // self.tick
            changes = [t for t in clock.zone(self.zone).since if -3 * 10**9 < t < 4 * 10**9] or [0]
            centre, span = rng.choice(changes) * 10**9 // self.tick, min(span, 300)
        self.near, self.grids = (centre - span * self.width, centre + span * self.width), {}
        self.rows = []
        for _ in range(size):
            value = None if rng.random() < 0.1 else draw()
            self.rows.append((centre + rng.randint(-span * self.width, span * self.width), rng.choice([None, 0, 1, 2]), value))
        columns = dict(zip("tkv", zip(*self.rows)))
        con.register("given", pa.table({"t": pa.array(columns["t"], pa.int64()), "k": pa.array(columns["k"], pa.int32()), "v": pa.array(columns["v"], pa.string())}))
        con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {self.write.format('t')} AS {self.ts}, k AS {self.key}, v::{self.kind} AS {self.value} FROM given")
        exact = (lambda v: Fraction(float(v))) if self.kind == "DOUBLE" else Fraction
        self.exact = [(t, k, None if v is None else exact(v)) for t, k, v in self.rows]
        self.on_grid = f"origin := {self.length(self.origin)}" + (f", zone := '{self.zone}'" if self.zone else "")

    def length(self, ticks):
        return f"to_microseconds({ticks * self.tick // 1000}::BIGINT)"

    def grid(self, times=1):
        """The buckets of so many widths."""
        if times not in self.grids:
            width, (low, high) = times * self.width, self.near
            margin = (self.MOST + 2) * width + 10 * 86_400 * 10**9 // self.tick
            self.grids[times] = Grid(width, self.origin) if not self.zone else LocalGrid(
                clock.zone(self.zone), width, self.origin, 10**9 // self.tick, low - margin, high + margin)
        return self.grids[times]

    def start(self, t, times=1):
        grid = self.grid(times)
        return grid.edge(grid.index(t))

    def end(self, t, times=1):
        grid = self.grid(times)
        return grid.edge(grid.index(t) + 1)

    def hops(self, t, slide, size):
        """The windows of so many widths that hold t; on a clock size is a multiple of slide."""
        grid = self.grid(slide)
        last = grid.index(t)
        if self.zone:
            return [(grid.edge(i), grid.edge(i + size // slide)) for i in range(last - size // slide + 1, last + 1)]
        return [(s, s + size * self.width) for s in range(grid.edge(last), t - size * self.width, -slide * self.width)]

    def growing(self, t, step, size):
        """The windows from the start of their size on, up to each end of a step that is later than t."""
        grid, start, end = self.grid(step), self.start(t, size), self.end(t, size)
        ends = itertools.takewhile(lambda edge: edge <= end, map(grid.edge, itertools.count(grid.index(t) + 1)))
        return [(start, edge) for edge in ends]

    def at(self, column):
        return self.read.format(column)

    def compare(self, got, want, what):
        if got != want:
            missing, extra = want - got, got - want
            raise Difference(f"{what} of {self.type}, {self.kind}, width {self.width}, {self.zone}: lacks {dict(itertools.islice(missing.items(), 3))}, has {dict(itertools.islice(extra.items(), 3))}")
        return sum(got.values())

    def spread(self):
        """tumble, hop and cumulate: each row once in each window that holds it."""
        rng, made = self.rng, 0
        slide, size = rng.choice([(1, 1), (1, 3), (2, 4), (1, 20)] if self.zone else [(1, 1), (1, 3), (2, 5), (3, 1), (1, 20)])
        step, grown = rng.choice([(1, 1), (1, 4), (2, 6)])
        ts, (a, b, c, d) = literal(self.names[0]), (self.length(n * self.width) for n in (slide, size, step, grown))
        calls = {
            f"tumble('t', {ts}, {self.length(self.width)}, {self.on_grid})": lambda t: [(self.start(t), self.end(t))],
            f"hop('t', {ts}, {a}, {b}, {self.on_grid})": lambda t: self.hops(t, slide, size),
            f"cumulate('t', {ts}, {c}, {d}, {self.on_grid})": lambda t: self.growing(t, step, grown),
        }
        for call, windows in calls.items():
            rows = self.con.sql(f"SELECT {self.at(self.ts)}, {self.key}, {self.at('window_start')}, {self.at('window_end')} FROM {call}").fetchall()
            want = collections.Counter((t, k, *window) for t, k, _ in self.rows for window in windows(t))
            made += self.compare(collections.Counter(rows), want, call)
        return made

    def sessions(self):
        gap = self.rng.choice([1, self.width // 10 + 1, self.width, 3 * self.width]) * (1000 if self.tick == 1 else 1)
        by_key, want = collections.defaultdict(list), collections.Counter()
        for t, k, _ in self.rows:
            by_key[k].append(t)
        for k, times in by_key.items():
            times.sort()
            first = 0
            for i in range(1, len(times) + 1):
                if i == len(times) or times[i] - times[i - 1] >= gap:
                    want.update((t, k, times[first], times[i - 1] + gap) for t in times[first:i])
                    first = i
        call = f"sessions('t', {literal(self.names[0])}, {self.length(gap)}, [{literal(self.names[1])}])"
        rows = self.con.sql(f"SELECT {self.at(self.ts)}, {self.key}, {self.at('window_start')}, {self.at('window_end')} FROM {call}").fetchall()
        return self.compare(collections.Counter(rows), want, call)

    def gapfill(self):
        """At most one row a bucket: its least time and what it holds; the others filled, on the line and carried."""
        if self.kind == "DOUBLE":
            return 0
        digits = 3 if self.kind.startswith("DECIMAL") else 0
        kept = {}
        for t, k, v in self.exact:
            kept.setdefault((k, self.start(t)), v)
        starts = sorted({s for _, s in kept})
        buckets = range(self.grid().index(starts[0]), self.grid().index(starts[-1]) + 1)
        if len(buckets) * 4 > 300_000:
            return 0
        self.con.register("kept", pa.table({
            "t": pa.array([s for _, s in kept], pa.int64()), "k": pa.array([k for k, _ in kept], pa.int32()),
            "v": pa.array([None if v is None else str(Decimal(int(v * 10**digits)).scaleb(-digits)) for v in kept.values()], pa.string())}))
        self.con.execute(f"CREATE OR REPLACE TABLE g AS SELECT {self.write.format('t')} AS {self.ts}, k AS {self.key}, v::{self.kind} AS {self.value}, v AS carried FROM kept")
        call = (f"gapfill('g', {literal(self.names[0])}, {self.length(self.width)}, [{literal(self.names[1])}], carry := ['carried'], "
                f"interpolate := [{literal(self.names[2])}], {self.on_grid})")
        got = {(k, s): row for k, s, *row in self.con.sql(
            f"SELECT {self.key}, {self.at('window_start')}, {self.value}, carried, filled FROM {call}").fetchall()}
        made = 0
        for key in {k for k, _ in kept}:
            mine = {s: v for (k, s), v in kept.items() if k == key}
            known = sorted(s for s, v in mine.items() if v is not None)
            for s in map(self.grid().edge, buckets):
                place = bisect.bisect_right(known, s)
                before, after = (known[place - 1] if place else None), (known[place] if place < len(known) else None)
                line = None
                if before == s:
                    line = mine[s]
                elif before is not None and after is not None:
                    exact = (mine[before] + (mine[after] - mine[before]) * Fraction(s - before, after - before)) * 10**digits
                    away = math.floor(abs(exact) + Fraction(1, 2))
                    line = Fraction(-away if exact < 0 else away, 10**digits)
                value, carried, filled = got.pop((key, s), (None, None, None))
                want = (line, None if before is None else mine[before], s not in mine)
                if (None if value is None else Fraction(value), None if carried is None else Fraction(carried), filled) != want:
                    raise Difference(f"{call} of {self.type}, {self.kind}: key {key} at {s}: {(value, carried, filled)}, not {want}")
                made += 1
        if got:
            raise Difference(f"{call}: {len(got)} rows too many")
        return made

    def panes(self):
        """rolling_panes, window_at, panes_live and merge_panes over the panes of the relation."""
        rng, made = self.rng, 0
        panes = rng.choice([1, 2, 5, self.MOST])
        origin, key, value = self.on_grid, literal(self.names[1]), literal(self.names[2])
        rows = f"pane_rows('t', {literal(self.names[0])}, [{value}], {self.length(self.width)}, [{key}], {origin}{{}})"
        self.con.execute(f"CREATE OR REPLACE TABLE panes AS FROM {rows.format('')}")
        middle = sorted(t for t, *_ in self.rows)[len(self.rows) // 2]
        mark = self.write.format(middle)
        exact = f"SELECT {self.key}, pane_start, pane_end, {self.value}.n, {self.value}.min, {self.value}.max FROM {{}} ORDER BY ALL"
        rebuilt = self.con.sql(exact.format("panes")).fetchall()
        self.con.execute(f"CREATE OR REPLACE TABLE parts AS FROM {rows.format(f', until := {mark}')} UNION ALL FROM {rows.format(f', since := {mark}')}")
        live = f"panes_live('panes', 't', {literal(self.names[0])}, [{value}], {self.length(self.width)}, [{key}], {mark}, {origin})"
        for source in (live, f"merge_panes('parts', [{key}])"):
            if self.con.sql(exact.format(source)).fetchall() != rebuilt:
                raise Difference(f"{source} of {self.type}, {self.kind} is no rebuild")
            made += len(rebuilt)
        fields = ", ".join(f"{self.value}.{field}" for field in ("n", "sum", "min", "max", "avg", "var_samp"))
        columns = f"{self.key}, {self.at('window_end')}, missing, {fields}"
        lengths = f"{self.length(panes * self.width)}, {self.length(self.width)}"
        rolled = self.con.sql(f"SELECT {columns} FROM rolling_panes('panes', [{key}], {lengths}, {origin})").fetchall()
        ends = {(k, self.end(t)) for t, k, _ in self.rows}
        if len(rolled) != len(ends) or {row[:2] for row in rolled} != ends:
            raise Difference(f"rolling_panes of {self.type}: {len(rolled)} windows, not {len(ends)}")
        at = rng.choice(sorted(end for _, end in ends))
        at += rng.randrange(self.end(at) - at)
        given = f", width := {self.length(self.width)}, {origin}" if self.zone or rng.random() < 0.5 else ""
        alone = self.con.sql(f"SELECT {columns} FROM window_at('panes', [{key}], {self.length(panes * self.width)}, {self.write.format(at)}{given})").fetchall()
        if {row[0] for row in alone} != {k for _, k, _ in self.rows}:
            raise Difference("window_at: other keys")
        by_key = collections.defaultdict(list)
        for t, k, v in sorted(self.exact, key=lambda row: row[0]):
            by_key[k].append((t, v))
        sums = {}
        for k, mine in by_key.items():
            known = [(t, v) for t, v in mine if v is not None]
            sums[k] = ([t for t, _ in known], [v for _, v in known], [0, *itertools.accumulate(v for _, v in known)],
                       [0, *itertools.accumulate(v * v for _, v in known)], [0, *itertools.accumulate(abs(v) for _, v in known)],
                       sorted({self.start(t) for t, _ in mine}))
        for row in rolled + alone:
            self.check(row, panes, sums[row[0]])
        return made + len(rolled) + len(alone)

    def check(self, row, panes, of_key):
        key, end, missing, n, total, low, high, mean, variance = row
        times, known, sums, squares, sizes, starts = of_key
        since = self.grid().edge(self.grid().index(end) - panes)
        here = bisect.bisect_left(starts, end) - bisect.bisect_left(starts, since)
        i, j = bisect.bisect_left(times, since), bisect.bisect_left(times, end)
        count, exact, size = j - i, sums[j] - sums[i], sizes[j] - sizes[i]

        def wrong(what):
            raise Difference(f"{what} of the window up to {end} of key {key}: {row}; {self.type}, {self.kind}, width {self.width}, {self.zone}, {panes} panes")
        if (missing, n) != (panes - here, count):
            wrong("missing or n")
        if not count:
            if (total, low, high, mean, variance) != (None,) * 5:
                wrong("the NULLs")
            return
        inside = known[i:j]
        if (Fraction(low), Fraction(high)) != (min(inside), max(inside)):
            wrong("min or max")
        slack = size * Fraction(1, 2**90)
        if abs(Fraction(total) - exact) > (abs(exact) * Fraction(1e-15) + slack if self.kind == "DOUBLE" else 0):
            wrong("sum")
        average = exact / count
        if abs(Fraction(mean) - average) > abs(average) * Fraction(1e-12) + slack:
            wrong("avg")
        if count == 1:
            if variance is not None:
                wrong("var_samp")
            return
        spread = (squares[j] - squares[i] - exact * average) / (count - 1)
        if abs(Fraction(variance) - spread) > spread * Fraction(1e-9):
            wrong("var_samp")


def connect(extension):
    """A database with the macros."""
    con = duckdb.connect(config={"allow_unsigned_extensions": True})
    con.execute(f"LOAD '{extension}'")
    con.execute("SET TimeZone = 'UTC'")
    for file in sorted((Path(__file__).resolve().parents[2] / "sql/macros").glob("*.sql")):
        con.execute(file.read_text(encoding="utf-8"))
    return con


def jobs(con, seed):
    """The jobs over the relation of a seed."""
    rng = random.Random(seed)
    relation = Relation(con, rng, rng.choice([1, 20, 300, 3000, 20_000]))
    return relation.spread, relation.sessions, relation.gapfill, relation.panes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--rows", type=int, default=60_000_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="end then, with fewer rows")
    options = parser.parse_args()
    con, made, stop = connect(options.extension), collections.Counter(), time.monotonic() + options.seconds
    for seed in itertools.count(options.seed):
        try:
            for job in jobs(con, seed):
                made[job.__name__] += job()
        except (Difference, duckdb.Error) as difference:
            sys.exit(f"macros: seed {seed}: {difference}")
        if sum(made.values()) >= options.rows or time.monotonic() > stop:
            break
    counts = ", ".join(f"{name} {count:,}" for name, count in made.items())
    print(f"macros: {sum(made.values()):,} rows of {seed - options.seed + 1:,} relations on DuckDB {duckdb.__version__}, seed {options.seed}: none different ({counts})")


if __name__ == "__main__":
    main()
