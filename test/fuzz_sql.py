#!/usr/bin/env python3
"""Builds whole queries at random and compares each with the same query in which the functions are integer arithmetic.

    build/engine-2.0.1/bin/python test/fuzz_sql.py --extension FILE [--seed N] [--seconds N]

A query is a type of timestamp, a table or nested query, calls of the functions nested in each other and in other expressions,
and one of SHAPES around them. Its twin has HUGEINT arithmetic in the functions' place, which the engine computes by itself, or for
local time the oracle of soak/clock.py as a function in Python. Both run, and their rows or their being errors have to agree. Half of the queries read the table `e` of extremes, where infinities,
the ends of the range and huge widths meet, and TRY is around the calls. A difference prints the seed and both queries.
"""

import argparse
import random
import re
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent / "soak"))
import clock  # noqa: E402
from oracle import DAY, INFINITIES, TYPES  # noqa: E402

warnings.filterwarnings("ignore", message="Arrow output on a DB-API")
UNSIGNED = 2**64 - 1
ZONES = {name.lower(): name for name in clock.NAMES}

# What can stand around a call, and around a query's calls. In SHAPES {s} is a source of rows; {c} and {d} are calls, {v} and {x}
# expressions around calls, {h} a call of time_bucket_hop, {p} a call with the parameters of EXECUTE; {T} is the type, {n} a
# number; {m} is a macro over t, {q} one over
# panes of t, or gaps filled between them; {a|b} is one of the two.
VALUES = [
    "{c}", "{c}", "{c} + INTERVAL 1 HOUR", "hash({c})", "{c} = ts", "date_trunc('day', {c})", "coalesce({c}, org)", "TRY({c})",
    "CASE WHEN g > 2 THEN {c} ELSE org END", "strftime({c}, '%Y-%m-%d %H:%M')", "{c}::DATE", "{c} IS NULL", "[{c}][1]",
    "struct_pack(a := {c}).a", "list_transform([ts, org], lambda x: greatest(x, {c}))::VARCHAR",
]
SHAPES = {
    "plain": "SELECT i, {v} AS a, {x} AS b FROM {s}",
    "group": "SELECT {v} AS a, count(*), sum(i), min(ts) FROM {s} GROUP BY {a|ALL|1|ROLLUP (a)}",
    "having": "SELECT g, count(*) FROM {s} GROUP BY g HAVING max({c}) > '1980-01-01'::{T}",
    "order": "SELECT list(i ORDER BY {v} DESC NULLS LAST, i)::VARCHAR, first(g ORDER BY {c}, i) FROM {s}",
    "join": "SELECT a.i, k FROM {s} a {|LEFT|RIGHT|FULL} JOIN u ON u.b = {c}{| AND g = k}",
    "semi": "SELECT a.i FROM {s} a {SEMI|ANTI} JOIN u ON u.b = {c}{| AND g = k}",
    "window": "SELECT i, count(*) OVER (PARTITION BY {v}), max({c}) OVER (ORDER BY i), rank() OVER (PARTITION BY g ORDER BY {d}) "
              "FROM {s} WHERE i < 2100",
    "range": "SELECT i, sum(g) OVER (ORDER BY {c} RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) FROM {s} WHERE i < 1500",
    "filter": "SELECT i FROM {s} WHERE {c} {<|>=|=|IS DISTINCT FROM} {d} AND {v} IS NOT NULL",
    "case": "SELECT i, CASE WHEN i % 3 = 0 THEN {c} WHEN i % 3 = 1 THEN {d} END FROM {s}",
    "lateral": "SELECT i, z FROM {s} a, LATERAL (SELECT {c} AS z) WHERE i < 2000",
    "union": "SELECT {v}::VARCHAR FROM {s} {UNION|UNION ALL|EXCEPT|INTERSECT} SELECT {x}::VARCHAR FROM t",
    "cte": "WITH c AS {|MATERIALIZED} (SELECT *, {v} AS z FROM {s}) SELECT z, count(*), sum(a.i) FROM c a GROUP BY z",
    "view": "CREATE OR REPLACE TEMP VIEW vw AS SELECT i, g, {v} AS z FROM {s}; SELECT z, g, count(*) FROM vw GROUP BY ALL",
    "macro": "CREATE OR REPLACE TEMP MACRO mc(ts, w, o, org, g) AS {c}; SELECT i, mc(ts, w, o, org, g) FROM {s}",
    "prepared": "PREPARE p AS SELECT i, {p} FROM {s}; EXECUTE p('{n} minutes')",
    "generated": "CREATE OR REPLACE TEMP TABLE gt (i BIGINT, g BIGINT, ts {T}, w INTERVAL, o INTERVAL, org {T}, z {T} AS ({c})); "
                 "INSERT INTO gt SELECT * FROM {s}; SELECT i, z FROM gt",
    "index": "CREATE OR REPLACE TEMP TABLE it AS FROM {s}; CREATE INDEX ii ON it (time_bucket(INTERVAL '1 hour', ts)); "
             "DELETE FROM it WHERE i % 5 = 0; SELECT i FROM it WHERE {c} = '1975-01-01 05:00:00'::{T} OR {c} > ts OR i % 7 = 0",
    "lambda": "SELECT i, list_transform([org, ts, NULL], lambda ts: {c}), list_filter([ts, org], lambda ts: {d} < ts) FROM {s} WHERE i < 2500",
    "ctas": "CREATE OR REPLACE TEMP TABLE ct AS SELECT i, {v} AS z FROM {s}; UPDATE ct SET i = -i WHERE i % 2 = 0; FROM ct",
    "aggregate": "SELECT count(DISTINCT {v}), min({c}), max({d}), arg_max(i, ({c}, i)), count(*) FILTER ({d} < ts) FROM {s}",
    "distinct": "SELECT DISTINCT ON (z) z, g FROM (SELECT {v} AS z, min(g) AS g FROM {s} GROUP BY z)",
    "asof": "SELECT a.i, q.z FROM t a ASOF JOIN (SELECT DISTINCT {c} AS z FROM {s} WHERE ts IS NOT NULL) q ON a.ts >= q.z WHERE a.i < 2000",
    "pivot": "FROM (PIVOT (SELECT {c}::VARCHAR AS z, g, i FROM {s}) ON g IN (0, 1, 2) USING sum(i) GROUP BY z)",
    "correlated": "SELECT i, (SELECT count(*) FROM u WHERE u.b <= {c}) FROM (SELECT * FROM {s} WHERE i < 200) a",
    "qualify": "SELECT i, {c} AS z FROM {s} QUALIFY row_number() OVER (PARTITION BY z ORDER BY i) = 1",
    "hop": "SELECT i, len({h}), ({h})[1].window_end, {h} FROM {s}",
    "unnest": "SELECT window_start, count(*), sum(i) FROM (SELECT i, unnest({h}, max_depth := 2) FROM {s}) GROUP BY ALL",
    "windows": "SELECT window_start, window_end, g, count(*), sum(i) FROM {m} {|WHERE i % 3 > 0} GROUP BY ALL",
    "windows join": "SELECT a.i, a.window_end, {v} FROM {m} a {|LEFT} JOIN u ON u.b = a.window_start AND u.k = a.g WHERE i < 1000",
    "panes": "SELECT g, window_start, window_end, missing, n, total, low, high FROM {q} {|WHERE g > 2|WHERE n > 1 OR missing = 0}",
    "panes group": "SELECT {g|window_end|g, missing}, count(*), sum(n), sum(total), min(low), max(high) FROM {q} GROUP BY ALL",
    "panes join": "SELECT a.g, a.window_end, total, count(i) FROM {q} a {|LEFT} JOIN t ON t.g = a.g AND ts >= a.window_start AND ts < a.window_end GROUP BY ALL",
    "series": "SELECT window_start, window_end, count(i), max({c}) FROM {w} LEFT JOIN {s} ON ts >= window_start AND ts < window_end GROUP BY ALL",
}
# No lambda may stand in the first two, and the twin of a query over `e` is made of them.
WITHOUT_EXTREMES = {"generated", "index", "hop", "unnest", "windows", "windows join", "panes", "panes group", "panes join",
                    "series"}


def tables(of):
    """Tables in a schema of the type's name: t of ordinary rows, e of extremes, u of buckets."""
    near = [0, 1, 2, 10**3, 10**9, of.high // 3]
    extremes = [of.high - d for d in near] + [of.low + d for d in near if of.finite(of.low + d)] + [-1, 0, 1, *INFINITIES]
    fine = "micro" * (of.nanos <= 1000)
    widths = ["to_days(2147483647)", "to_days(400)", "to_days(1)", "to_hours(5) - to_days(1) + to_days(3)", "NULL",
              *(f"to_seconds({n})" for n in [1, 86_399, 604_801, 9 * 10**12]), *(f"to_{fine}seconds({n})" for n in [1, 9_999_991, 2_305_843_009])]
    extremes = [*map(of.sql, extremes), "NULL"]
    ordinary = made(of, f"((hash(i) % 4000000000)::HUGEINT * 1000003000 - 2000000000000000000) // {of.nanos}")
    offset, origin = "to_days((i % 3)::INTEGER) + to_seconds(i % 100 - 50)", made(of, f"(i % 13 - 6) * {DAY // of.nanos}")
    return f"""
CREATE SCHEMA {of.name};
USE {of.name};
CREATE TABLE t AS
SELECT i, i % 7 AS g, CASE WHEN i % 11 <> 3 THEN {ordinary} END AS ts, to_seconds((1 + i % 5) * 60) AS w,
       {offset} AS o, {origin} AS org
FROM range(3000) r(i);
CREATE TABLE e AS
SELECT i, i % 7 AS g, {any_of(extremes, "i")} AS ts, {any_of(widths, "i + 1")} AS w,
       {offset} AS o, CASE WHEN i % 17 > 0 THEN {origin} END AS org
FROM range(150) r(i);
CREATE TABLE u AS SELECT DISTINCT time_bucket(INTERVAL '1 hour', ts) AS b, g AS k FROM t WHERE i % 3 = 0;
"""


def any_of(values, i):
    return f"[{', '.join(values)}][1 + (hash({i}) % {len(values)})::BIGINT]"


# The functions' arithmetic, in the engine's own: ticks are read as HUGEINT and made into a timestamp again.


def ticks(of, ts):
    if of.nanos == 1:
        return f"epoch_ns({ts})::HUGEINT"
    # By the name of the type, since DuckDB 2.0 would take nanoseconds.
    return f"(epoch_us({ts}::TIMESTAMP{'TZ' * of.instant})::HUGEINT // {of.nanos // 1000})"


def made(of, tick):
    return of.make.format(f"(({tick}) * {of.nanos // of.unit})")


def length(of, interval):
    """An interval's ticks. Its days are taken apart, since months of 30 days would be made of them."""
    days = f"datepart('day', {interval})"
    return f"(({days}::HUGEINT * 86400000000 + epoch_us({interval} - to_days({days}::INTEGER))) * 1000 // {of.nanos})"


def anchor(of, third):
    kind, text = third
    if kind == "epoch":
        return "0"
    return length(of, text) if kind == "offset" else ticks(of, f"({text})::{of.name}")


def start(x, w, a):
    return f"({x} - ((({x} - {a}) % {w}) + {w}) % {w})"


def bucket(of, width, ts, third, end):
    """x - floor_mod(x - a, w), for ordinary values."""
    w = length(of, width)
    return made(of, start(ticks(of, ts), w, anchor(of, third)) + f" + {w}" * end)


def any_bucket(of, width, ts, third, end):
    """The same for any values: infinities stay, a NULL gives NULL, and two casts fail for an edge out of the finite range."""
    row = f"struct_pack(ts := {ts}, w := {length(of, width)}, a := {anchor(of, third)})"
    edge = start(ticks(of, "r.ts"), "r.w", "r.a") + " + r.w" * end
    return any_edge(of, row, edge, "r.w IS NOT NULL AND r.a IS NOT NULL")


def any_edge(of, row, edge, known):
    above_low = f"({edge} - {of.low})::UBIGINT::HUGEINT"
    finite = f"({above_low} + {UNSIGNED - (of.high - of.low)})::UBIGINT::HUGEINT - {UNSIGNED - of.high}"
    infinite = f"r.ts IN ({', '.join(map(of.sql, INFINITIES))}) AND {known}"
    return f"list_transform([{row}], lambda r: CASE WHEN {infinite} THEN r.ts ELSE {made(of, finite)} END)[1]"


def local_edge(of, width, ts, zone, third, end):
    """An edge of local time, by the function in Python."""
    return made(of, local_call(of, end, ticks(of, ts), length(of, width), reading(of, third), zone))


def any_local_edge(of, width, ts, zone, third, end):
    row = f"struct_pack(ts := {ts}, w := {length(of, width)}, a := {reading(of, third)}, z := {zone})"
    return any_edge(of, row, local_call(of, end, ticks(of, "r.ts"), "r.w", "r.a", "r.z"), "r.w IS NOT NULL AND r.a IS NOT NULL AND r.z IS NOT NULL")


def local_call(of, end, *values):
    return f"{local_name(of, end)}({', '.join(f'({value})::VARCHAR' for value in values)})::HUGEINT"


def local_name(of, end):
    return f"local_{'end' if end else 'start'}_{of.name.lower()}"


def reading(of, third):
    """The ticks of an origin as the wall's reading, or of an offset."""
    kind, text = third
    return f"(epoch_us(({text})::TIMESTAMP)::HUGEINT * 1000 // {of.nanos})" if kind == "origin" else anchor(of, third)


@cache
def buckets(zone, width, origin, second):
    return clock.Buckets(clock.zone(zone), width, origin, second)


def create_local(connection, of, end):
    """The function: columns of text, since neither BIGINT nor HUGEINT holds all of them on its way through Python."""
    second = DAY // of.nanos // 86_400

    def edges(ticks, widths, origins, zones):
        rows = list(zip(*(column.to_pylist() for column in (ticks, widths, origins, zones))))
        found = {}
        for row in set(rows):
            tick, width, origin = map(int, row[:3])
            name = ZONES[row[3].lower()]
            if width < clock.FAR // 4:
                grid = buckets(name, width, origin % width, second)
                near = np.array([max(-clock.FAR, min(clock.FAR, tick))])
                if grid.bulk(near)[0]:
                    found[row] = str(grid(near)[end][0])
                    continue
            found[row] = str(clock.bucket(clock.zone(name), width, origin, tick, second)[end])
        return pa.array([found[row] for row in rows], pa.string())

    connection.create_function(local_name(of, end), edges, ["VARCHAR"] * 4, "VARCHAR", type="arrow")


def hop(of, slide, size, ts, third):
    """A window for each k, from the last down to 0, whose start is k slides before the last grid point."""
    w, z, x = length(of, slide), length(of, size), ticks(of, ts)
    last = start(x, w, anchor(of, third))
    count = f"greatest(0, ({z} - 1 - ({x} - {last}) + {w}) // {w})::BIGINT"
    window = ", ".join(f"window_{name} := {made(of, f'{last} - k * {w}{more}')}" for name, more in [("start", ""), ("end", f" + {z}")])
    return f"list_transform(range({count} - 1, -1, -1), lambda k: struct_pack({window}))"


def growing(of, step, size, ts):
    """A window for each end that is later than ts, from the start of its size on."""
    w, z, x = length(of, step), length(of, size), ticks(of, ts)
    first = start(x, z, "0")
    window = f"window_start := {made(of, first)}, window_end := {made(of, f'{first} + (k + 1) * {w}')}"
    return f"list_transform(range((({x} - {first}) // {w})::BIGINT, ({z} // {w})::BIGINT), lambda k: struct_pack({window}))"


def sessions(of, gap):
    """Rows of t by g, of which one starts a session if it is at least a gap after the one before."""
    x, w = ticks(of, "ts"), length(of, gap)
    marked = f"SELECT *, coalesce({x} - lag({x}) OVER (PARTITION BY g ORDER BY ts) >= {w}, true) AS is_new FROM t WHERE ts IS NOT NULL"
    numbered = f"SELECT *, sum(is_new::INTEGER) OVER (PARTITION BY g ORDER BY ts ROWS UNBOUNDED PRECEDING) AS s FROM ({marked})"
    ends = f"min(ts) OVER (PARTITION BY g, s) AS window_start, {made(of, f'max({x}) OVER (PARTITION BY g, s) + {w}')} AS window_end"
    return f"(SELECT * EXCLUDE (is_new, s), {ends} FROM ({numbered}) UNION ALL BY NAME FROM t WHERE ts IS NULL)"


def panes(of, edges):
    """Panes of t by g, with such edges of each row, as a relation."""
    return (f"(SELECT g, {edges[0]} AS pane_start, {edges[1]} AS pane_end, count(i) AS n, sum(i)::BIGINT AS total, min(i) AS low, max(i) AS high "
            "FROM t WHERE ts IS NOT NULL GROUP BY ALL)")


def windows_of(of, ends, source, width, count):
    """For each g and window_end of a relation the panes of the `count` widths before it."""
    back, since = f"{length(of, width)} * {count}", ticks(of, "e.window_end")
    return (f"(SELECT e.g, {made(of, f'{since} - {back}')} AS window_start, e.window_end, {count} - count(p.pane_start) AS missing, coalesce(sum(n), 0)::BIGINT AS n, "
            f"sum(total)::BIGINT AS total, min(low) AS low, max(high) AS high FROM {ends} AS e LEFT JOIN {source} AS p ON p.g = e.g "
            f"AND {ticks(of, 'p.pane_start')} >= {since} - {back} AND p.pane_start < e.window_end GROUP BY e.g, e.window_end)")


def filled(of, aggregated, width):
    """Each bucket from the first of all keys to the last, with the last known `high` and a total of 0 where there is none."""
    w, low, high = length(of, width), ticks(of, "low"), ticks(of, "top")
    grid = f"SELECT g, {made(of, f'{low} + k * {w}')} AS s FROM (SELECT min(pane_start) AS low, max(pane_start) AS top FROM {aggregated}), " \
           f"LATERAL (SELECT unnest(range((({high} - {low}) // {w} + 1)::BIGINT)) AS k), (SELECT DISTINCT g FROM {aggregated})"
    carried = "last_value(a.high IGNORE NULLS) OVER (PARTITION BY grid.g ORDER BY grid.s ROWS UNBOUNDED PRECEDING)"
    ends = made(of, ticks(of, "grid.s") + f" + {w}")
    return (f"(SELECT grid.g, grid.s AS window_start, {ends} AS window_end, (a.g IS NULL)::BIGINT AS missing, a.n, coalesce(a.total, 0) AS total, a.low, "
            f"{carried} AS high FROM ({grid}) AS grid LEFT JOIN {aggregated} AS a ON a.g = grid.g AND a.pane_start = grid.s)")


class Query:
    """A text with holes, which is filled in both ways: with the functions, and written out."""

    def __init__(self, seed, types):
        self.r = random.Random(seed)
        self.of = self.r.choice(types)
        self.shape = self.r.choice([*SHAPES])
        self.extreme = self.shape not in WITHOUT_EXTREMES and self.r.random() < 0.5
        # Where every row is computed an error is one in both; elsewhere the engine may skip a row in one and not in the other.
        self.guarded = self.extreme and (self.shape != "plain" or self.r.random() < 0.7)

    def width(self):
        r = self.r
        units = ["seconds", "minutes", "hours", "days", "weeks", *["microseconds"] * (self.of.nanos <= 1000)]
        return r.choice([
            f"INTERVAL '{r.randint(1, 90)} {r.choice(units)}'", f"INTERVAL {r.randint(1, 60)} MINUTE", "w",
            f"(INTERVAL '1 day' - INTERVAL '{r.randint(1, 23)} hours')", f"to_seconds({r.randint(1, 100000)})",
            f"(CASE WHEN g < 3 THEN INTERVAL '{r.randint(1, 9)} hours' ELSE w END)", "w" if self.extreme else "(w * 2)",
        ])

    def third(self):
        r, name = self.r, self.of.name
        return r.choice([
            ("epoch", None), ("epoch", None), ("offset", f"INTERVAL '{r.randint(-9, 9)} hours {r.randint(0, 59)} minutes'"), ("offset", "o"),
            ("origin", f"'{r.randint(1900, 2100)}-0{r.randint(1, 9)}-1{r.randint(0, 9)} 0{r.randint(0, 9)}:30:00'::{name}"), ("origin", "org"),
            ("origin", "org::TIMESTAMPTZ" if self.of.instant else r.choice(["org::TIMESTAMP", "org::DATE"])),
        ])

    def both(self, function, width, ts, third, end=False):
        """A call, and what it is written out."""
        more = f", {third[1]}" if third[1] else ""
        written_out = any_bucket if self.extreme else bucket
        return f"{function}({width}, {ts[0]}{more})", written_out(self.of, width, ts[1], third, end)

    def zone_name(self):
        return self.r.choice([*ZONES.values()])

    def zone(self):
        r = self.r
        names = [r.choice([*ZONES.values()]) for _ in range(3)]
        names = r.choice([names, [name.lower() for name in names], ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]])
        return r.choice([f"'{names[0]}'", f"'{names[0]}'", f"(CASE WHEN g > 2 THEN '{names[0]}' ELSE '{names[1]}' END)",
                         f"['{names[0]}', '{names[1]}', '{names[2]}', NULL][1 + (g % 4)::BIGINT]"])

    def local_third(self):
        """A reading, constant or one of a few, as each is a grid that the oracle prepares."""
        r = self.r
        return r.choice([
            ("epoch", None), ("epoch", None), ("offset", f"INTERVAL '{r.randint(-9, 9)} hours {r.randint(0, 59)} minutes'"),
            ("offset", "to_days((g - 3)::INTEGER)"), ("origin", f"TIMESTAMP '{r.randint(1900, 2100)}-0{r.randint(1, 9)}-1{r.randint(0, 9)} 0{r.randint(0, 9)}:30:00'"),
            ("origin", f"DATE '20{r.randint(10, 90)}-0{r.randint(1, 9)}-05'"), ("origin", "org::TIMESTAMP"), ("origin", "org::DATE"),
        ])

    def both_local(self, function, width, ts, end):
        """A call with a zone, and what it is written out."""
        zone, third = self.zone(), self.local_third()
        more = f", {third[1]}" if third[1] else ""
        written_out = any_local_edge if self.extreme else local_edge
        return f"{function}({width}, {ts[0]}, {zone}{more})", written_out(self.of, width, ts[1], zone, third, end)

    def call(self, depth=0):
        r = self.r
        ts = r.choice(["ts", "ts", "ts", "coalesce(ts, org)", "greatest(ts, org)",
                       "ts" if self.extreme else f"(ts + INTERVAL '{r.randint(-50, 50)} seconds')::{self.of.name}"])
        ts = self.call(depth + 1) if depth < 2 and r.random() < 0.3 else (ts, ts)
        end = r.random() < 0.4
        function = "time_bucket_end" if end else r.choice(["time_bucket", "time_bucket", "time_bucket_start"])
        local = self.of.instant and r.random() < 0.4
        call = self.both_local(function, self.width(), ts, end) if local else self.both(function, self.width(), ts, self.third(), end)
        return tuple(f"TRY({text})" for text in call) if self.guarded and depth == 0 else call

    def value(self):
        wrap, call = self.r.choice(VALUES), self.call()
        wrap = f"TRY({wrap})" if self.guarded else f"({wrap})"
        return tuple(wrap.replace("{c}", text) for text in call)

    def hopping(self):
        r, ts, third = self.r, self.r.choice(["ts", "coalesce(ts, org)"]), self.third()
        slide, size = r.choice([
            ("to_minutes(7)", "to_minutes(20)"), ("INTERVAL 1 HOUR", "INTERVAL 1 HOUR"), ("w", "(w * 3)"), ("w", "to_seconds(50)"),
            (f"to_seconds({r.randint(10, 99)})", f"to_seconds({r.randint(1, 300)})"),
        ])
        more = f", {third[1]}" if third[1] else ""
        written_out = hop(self.of, slide, size, ts, third)
        return f"time_bucket_hop({slide}, {size}, {ts}{more})", f"CASE WHEN {ts} IS NOT NULL THEN {written_out} END"

    def macro(self):
        r, of = self.r, self.of
        width = f"to_seconds({r.choice([1, 60, 3600, 86_400, r.randint(1, 100_000)])})"
        kind = r.choice(["tumble", "hop", "cumulate", "sessions"])
        if kind == "sessions":
            return f"sessions('t', 'ts', {width}, ['g'])", sessions(of, width)
        if kind == "cumulate":
            size = f"({width} * {r.randint(1, 9)})"
            windows = f"CASE WHEN ts IS NOT NULL THEN {growing(of, width, size, 'ts')} END"
            return f"cumulate('t', 'ts', {width}, {size})", f"(SELECT *, unnest({windows}, max_depth := 2) FROM t)"
        offset = r.choice(["INTERVAL '0 seconds'", f"INTERVAL '{r.randint(-9, 9)} hours 7 seconds'"])
        third = ("offset", offset)
        if kind == "tumble":
            edges = ", ".join(f"{bucket(of, width, 'ts', third, end)} AS window_{'end' if end else 'start'}" for end in (False, True))
            return f"tumble('t', 'ts', {width}, origin := {offset})", f"(SELECT *, {edges} FROM t)"
        size = f"to_seconds({r.randint(1, 100_000)})" if width not in ("to_seconds(1)", "to_seconds(60)") else f"({width} * 7)"
        windows = f"CASE WHEN ts IS NOT NULL THEN {hop(of, width, size, 'ts', third)} END"
        return f"hop('t', 'ts', {width}, {size}, origin := {offset})", f"(SELECT *, unnest({windows}, max_depth := 2) FROM t)"

    def paned(self):
        """A macro over panes, and what it gives."""
        r, of = self.r, self.of
        width, count = f"to_hours({r.choice([1, 24, 168, r.randint(1, 3000)])})", r.randint(1, 40)
        kind, offset = r.choice(["merge", "live", "rolling", "at", "gapfill"]), f"INTERVAL '{r.randint(-9, 9)} hours 7 seconds'"
        near = f"'{r.randint(1920, 2030)}-0{r.randint(1, 9)}-05 0{r.randint(0, 9)}:30:00'::{of.name}"
        if kind == "gapfill":
            width = f"to_days({r.randint(30, 4000)})"
        zone = self.zone_name() if of.instant and kind in ("merge", "live") and r.random() < 0.6 else None
        third = ("offset", offset)
        edges = [local_edge(of, width, "ts", f"'{zone}'", third, end) if zone else bucket(of, width, "ts", third, end) for end in (False, True)]
        on_grid = f"origin := {offset}" + (f", zone := '{zone}'" if zone else "")
        store, whole = f"pane_rows('t', 'ts', ['i'], {width}, ['g'], {on_grid}{{}})", panes(of, edges)
        fields = "i.n, i.sum::BIGINT AS total, i.min AS low, i.max AS high"
        if kind in ("merge", "live"):
            parts = f"WITH p AS (FROM {store.format(f', until := {near}')}"
            call = f"panes_live('p', 't', 'ts', ['i'], {width}, ['g'], {near}, {on_grid})"
            if kind == "merge":
                parts += f" UNION ALL FROM {store.format(f', since := {near}')}"
                call = "merge_panes('p', ['g'])"
            columns = "pane_start AS window_start, pane_end AS window_end, 0 AS missing"
            return f"({parts}) SELECT g, {columns}, {fields} FROM {call})", f"(SELECT {columns}, * FROM {whole})"
        lengths = f"{width} * {count}, {width}"
        if kind == "rolling":
            call, ends = f"rolling_panes('p', ['g'], {lengths}, {on_grid})", f"(SELECT g, pane_end AS window_end FROM {whole})"
        elif kind == "at":
            call = f"window_at('p', ['g'], {width} * {count}, {near}{r.choice(['', f', width := {width}, {on_grid}'])})"
            ends = f"(SELECT DISTINCT g, {bucket(of, width, near, third, False)} AS window_end FROM {whole})"
        else:
            once = f"WITH p AS (SELECT g, pane_start, {fields} FROM {store.format('')})"
            call = f"gapfill('p', 'pane_start', {width}, ['g'], carry := ['high'], zero := ['total'], {on_grid})"
            return f"({once} SELECT g, window_start, window_end, filled::BIGINT AS missing, n, total, low, high FROM {call})", filled(of, whole, width)
        return (f"(WITH p AS (FROM {store.format('')}) SELECT g, window_start, window_end, missing, {fields} FROM {call})",
                windows_of(of, ends, whole, width, count))

    def series(self):
        r, of = self.r, self.of
        width, count = f"to_hours({r.randint(1, 200)})", r.randint(0, 300)
        begin = f"'{r.randint(1950, 2020)}-03-0{r.randint(1, 9)} 1{r.randint(0, 9)}:20:00'::{of.name}"
        until, w = f"({begin} + {width} * {count} + to_minutes({r.randint(0, 90)}))::{of.name}", length(of, width)
        origin = r.choice(["", f"'2001-01-0{r.randint(1, 9)}'::{of.name}"])
        first = start(ticks(of, begin), w, ticks(of, origin) if origin else "0")
        rows = f"range((({ticks(of, until)} > {ticks(of, begin)})::INTEGER * ({ticks(of, until)} - {first} + {w} - 1) // {w})::BIGINT) r(k)"
        edges = ", ".join(f"{made(of, f'{first} + k * {w}{more}')} AS window_{name}" for name, more in [("start", ""), ("end", f" + {w}")])
        more = f", origin := {origin}" if origin else ""
        return f"time_bucket_series({width}, {begin}, {until}{more})", f"(SELECT {edges} FROM {rows})"

    def source(self):
        r = self.r
        source = r.choice([
            "t", "t", f"(FROM t WHERE i % {r.randint(1, 9)} = 0)", f"(FROM t LIMIT {r.randint(0, 5000)})", "(FROM t ORDER BY hash(i))",
            "(FROM t WHERE false)", "(SELECT t.* FROM t JOIN (SELECT DISTINCT k AS g FROM u) USING (g))", "(FROM t UNION ALL FROM t)",
            "(SELECT t.* FROM t, range(3))", "(SELECT * REPLACE (org AS ts) FROM t)", "(FROM t WHERE ts IS NULL)",
            "(SELECT unnest(list(t), recursive := true) FROM t)",
        ])
        return re.sub(r"\bt\b", "e", source) if self.extreme else source

    def build(self):
        """The query and its twin: statements, the last of which gives the rows."""
        parts = {"c": self.call, "d": self.call, "v": self.value, "x": self.value, "h": self.hopping, "w": self.series, "m": self.macro, "q": self.paned,
                 "s": lambda: (self.source(),) * 2, "p": lambda: self.both("time_bucket", "$1::INTERVAL", ("ts", "ts"), self.third()),
                 "T": lambda: (self.of.name,) * 2, "n": lambda: (str(self.r.randint(1, 500)),) * 2}
        filled = {}

        def fill(hole):
            name = hole[1]
            if "|" in name:
                return (self.r.choice(name.split("|")),) * 2
            if name not in filled:
                pair = parts[name]()
                filled[name] = tuple(f"TRY({text})" for text in pair) if name == "p" and self.guarded else pair
            return filled[name]

        template = SHAPES[self.shape]
        pairs = [fill(hole) for hole in re.finditer(r"{(.*?)}", template)]
        texts = [iter([pair[half] for pair in pairs]) for half in (0, 1)]
        return tuple(re.sub(r"{.*?}", lambda _: next(some), template) for some in texts)


def as_integers(kind):
    """The Arrow type with timestamps and dates as their ticks: a Python datetime holds fewer."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_date(kind):
        return pa.int32()
    if pa.types.is_list(kind):
        return pa.list_(as_integers(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, as_integers(field.type)) for field in kind])
    return kind


def outcome(connection, text):
    try:
        table = connection.execute(text).to_arrow_table()
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException, duckdb.InternalException) as error:
        return None, error
    columns = [column.cast(as_integers(column.type)).to_pylist() for column in table.columns]
    return sorted(map(repr, zip(*columns))), None


def connect(extension, types):
    connection = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": 2})
    connection.execute(f"LOAD '{extension}'")
    connection.execute("SET TimeZone = 'UTC'")
    for (sql,) in connection.sql("SELECT sql FROM time_bucket_macros()").fetchall():
        connection.execute(sql.replace("REPLACE MACRO", "REPLACE TEMP MACRO"))  # which every schema sees
    for of in types:
        connection.execute(tables(of))
        for end in (False, True) if of.instant else ():
            create_local(connection, of, end)
    return connection


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    major = int(duckdb.__version__.split(".")[0])
    types = [of for of in TYPES if of.since <= major]
    connection = connect(arguments.extension, types)
    stop, seed, errors, faults = time.monotonic() + arguments.seconds, arguments.seed, 0, 0
    while time.monotonic() < stop:
        query = Query(seed, types)
        ours, twin = query.build()
        # DuckDB 1.5.6 takes an expression that occurs twice out of the TRY around it, whatever it is.
        without = "common_subexpressions" if query.guarded and major < 2 else ""
        settings = f"USE {query.of.name}; SET disabled_optimizers = '{without}'"
        try:
            connection.execute(settings)
            rows, error = outcome(connection, ours)
            internal = isinstance(error, duckdb.InternalException)
            if internal:
                connection = connect(arguments.extension, types)  # the engine has given the other one up
                connection.execute(settings)
            wanted, wanted_error = outcome(connection, twin)
            if isinstance(wanted_error, duckdb.InternalException):
                connection = connect(arguments.extension, types)
                # DuckDB 1.5.6 has faults of its own, such as TRY in GROUP BY over UNION ALL; both have to meet them.
                if internal:
                    faults, seed = faults + 1, seed + 1
                    continue
        except duckdb.Error as problem:
            first = str(problem).split("\n")[0]
            sys.exit(f"fuzz_sql: DuckDB {duckdb.__version__}, seed {seed}: {first}\n{settings};\n{ours};\n{twin};")
        if (error is None) != (wanted_error is None) or rows != wanted or internal:
            some = [] if rows is None or wanted is None else list(zip(rows, wanted))
            first = next((pair for pair in some if pair[0] != pair[1]), (error or "rows", wanted_error or "rows"))
            sys.exit(f"fuzz_sql: DIFFERENCE on DuckDB {duckdb.__version__}, seed {seed}: {first[0]} / {first[1]}\n"
                     f"{settings};\n{ours};\n{twin};")
        errors += error is not None
        seed += 1
    print(f"fuzz_sql: DuckDB {duckdb.__version__}: {seed - arguments.seed:,} queries, {errors} of them errors in both, "
          f"{faults} that the engine itself can't run, "
          f"seeds {arguments.seed} to {seed - 1}, no difference")


if __name__ == "__main__":
    main()
