#!/usr/bin/env python3
"""Compares the extension with an oracle, through SQL, on random and edge values, until so many were compared.

    build/engine-2.0.1/bin/python test/soak/soak.py --extension FILE [--seed N] [--values N] [--seconds N]

The Python that runs this is the engine's. A block is one query shape: type, function, width, anchor, how each
reaches the function (literal, folded expression, prepared parameter, column), how the rows do (scan, table, filter, join,
CASE, one constant row), and a distribution of timestamps. Ticks go in and come out as Arrow int64, so no value is changed
on its way. A difference prints one SELECT that shows it, and the exit status is 1.
"""

import argparse
import random
import sys
import time
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent))
from oracle import DATE, INFINITIES, INT64, OUT, TYPES, bucket, buckets, hops, windows  # noqa: E402

warnings.filterwarnings("ignore", message="Arrow output on a DB-API")
DAY = 86_400 * 10**9
ARROW = {10**9: "s", 10**6: "ms", 10**3: "us", 1: "ns"}
# Leap days, the turns of centuries and years, and clock changes of Berlin, New York and Lord Howe, in UTC seconds.
DATES = [
    "1600-02-29", "1700-02-28", "1752-09-14", "1900-02-28", "1900-03-01", "1968-02-29", "1969-12-31T23:59:59",
    "1970-01-01", "1972-02-29", "1999-12-31T23:59:59", "2000-02-29", "2000-03-01", "2016-12-31T23:59:59",
    "2023-11-05T06:00:00", "2024-02-29", "2024-03-01", "2024-03-10T07:00:00", "2024-03-31T01:00:00",
    "2024-04-06T15:00:00", "2024-10-05T15:30:00", "2024-10-27T01:00:00", "2024-11-03T06:00:00", "2038-01-19T03:14:07",
    "2100-02-28", "2262-04-11T23:47:16",
]
SECONDS = [int(s) for s in np.array(DATES, "datetime64[s]").astype(np.int64)]


def near_the_end(kind, tick):
    """Within a day or two of the range's ends the engine fails to cast to an instant, and 1.5.6 to print nanoseconds."""
    return (kind.instant or kind.nanos == 1) and abs(tick * kind.nanos) > INT64 * kind.nanos - 2 * DAY


class Interval:
    """A fixed interval: days of 24 hours and microseconds, which the engine keeps apart."""

    def __init__(self, days, micros):
        self.days, self.micros = days, micros
        self.nanos = days * DAY + micros * 1000

    def literal(self):
        return f"INTERVAL '{self.days} days {self.micros} microseconds'"

    def folded(self):
        return f"(to_days({self.days}) + to_microseconds({self.micros}))"

    @classmethod
    def of(cls, nanos, random):
        """These nanoseconds, whole microseconds, split into days in one of the ways there are."""
        micros = nanos // 1000
        days = int(micros / (DAY // 1000)) if random.random() < 0.6 else 0
        if abs(micros - days * (DAY // 1000)) >= INT64:
            days = int(micros / (DAY // 1000))
        if random.random() < 0.2:
            days += random.choice([-1, 1])
        days = max(-(2**31) + 1, min(2**31 - 1, days))
        rest = micros - days * (DAY // 1000)
        return cls(days, rest) if abs(rest) < INT64 else cls(days, 0)


class Difference(Exception):
    pass


class Soak:
    def __init__(self, extension, seed, loaded=True):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        config = {"allow_unsigned_extensions": True, "threads": 2}
        self.con = duckdb.connect(config=config)
        self.con.execute(f"LOAD '{extension}'")
        self.con.execute("SET TimeZone = 'UTC'")
        major = int(duckdb.__version__.split(".")[0])
        self.types = [of for of in TYPES if of.since <= major]
        names = self.con.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
        self.hop = ("time_bucket_hop",) in names
        self.values = self.blocks = 0
        self.counted = {}

    # What the blocks are made of

    def width_nanos(self, of):
        r, tick = self.random, max(of.nanos, 1000)
        nanos = r.choice([
            lambda: tick * r.choice([1, 2, 3, 7, 10, 64, 1000, 4095, 4096, 2**20, 2**31, 999_983]),
            lambda: 10**9 * r.choice([1, 5, 7, 10, 15, 30, 60, 300, 900, 1800, 3600, 5 * 3600, 43_200]),
            lambda: DAY * r.choice([1, 7, 28, 30, 31, 365, 36_525, 106_751, 106_752, 2**31 - 1]),
            lambda: tick * int(2 ** r.uniform(0, 63)),
            lambda: tick * (2 ** r.randint(0, 62) + r.choice([-1, 0, 1])),
            lambda: r.randint(1, 10**6) * 10**9,
            # To beyond int64: twice the largest number of days is 3.7e23 ns.
            lambda: (2**31 - 1) * DAY + r.randint(0, 2**62) * 1000,
        ])()
        return max(nanos // of.nanos, 1) * of.nanos if nanos % of.nanos else max(nanos, tick)

    def width(self, of):
        while True:
            width = Interval.of(self.width_nanos(of), self.random)
            if width.nanos > 0 and width.nanos % of.nanos == 0:
                return width

    def offset(self, of):
        while True:
            offset = Interval.of(self.width_nanos(of) * self.random.choice([-1, 1, 1, 0]), self.random)
            if offset.nanos % of.nanos == 0:
                return offset

    def origin(self, of):
        """An origin's type and ticks: of any precision of the same kind, finite, whole in `of`."""
        r = self.random
        kinds = [kind for kind in self.types if kind.instant == of.instant] + [DATE] * (not of.instant)
        kind = of if r.random() < 0.5 else r.choice(kinds)
        common = max(of.nanos, kind.nanos)
        while True:
            nanos = r.choice([
                lambda: r.choice(SECONDS) * 10**9,
                lambda: r.randint(-(10**18), 10**18) // common * common,
                lambda: r.randint(-(10**22), 10**22) // common * common,
                lambda: r.choice([kind.low, kind.high]) * kind.nanos // common * common,
                lambda: r.choice([-1, 0, 1]) * common,
            ])()
            tick = kind.ticks(nanos)
            if tick is not None and kind.finite(tick) and nanos % of.nanos == 0:
                return kind, tick

    def ticks(self, of, size, width, anchor):
        """Timestamps of one distribution; width and anchor are those of some row, in ticks."""
        r, n = self.random, self.numpy
        low, high = of.low, of.high
        kind = r.choice(["uniform", "log", "cluster", "sorted", "repeat", "grid", "edge", "mix"])
        if kind == "uniform":
            ticks = n.integers(low, high, size, np.int64, endpoint=True)
        elif kind == "log":
            ticks = (n.choice([-1.0, 1.0], size) * 2 ** n.uniform(0, np.log2(min(high, -low)), size)).astype(np.int64)
        elif kind in ("cluster", "sorted", "repeat"):
            middle = r.choice([r.choice(SECONDS) * 10**9 // of.nanos, r.randint(low, high), 0])
            span = int(2 ** r.uniform(1, 60))
            low, high = max(low, middle - span), min(high, middle + span)
            if low > high:
                low = high = 0
            ticks = n.integers(low, high, size, np.int64, endpoint=True)
            if kind == "sorted":
                ticks.sort()
                ticks = ticks[:: r.choice([1, -1])].copy()
            elif kind == "repeat":
                ticks = np.repeat(ticks[: size // 97 + 1], 97)[:size].copy()
        else:
            pool = self.edges(of, width, anchor)
            if kind == "edge":
                ticks = n.choice(pool, size)
            elif kind == "grid":
                near, step = r.choice(SECONDS) * 10**9 // of.nanos, min(width, (high - low) // size or 1)
                points = [near - (near - anchor) % width + (k - size // 2) * step for k in range(min(size, 4096))]
                points = [p + r.choice([-1, 0, 1]) for p in points]
                points = np.array([p for p in points if low <= p <= high] or [0], np.int64)
                ticks = n.choice(points, size)
            else:
                ticks = n.integers(low, high, size, np.int64, endpoint=True)
                some = n.random(size) < 0.1
                ticks[some] = n.choice(pool, int(some.sum()))
        return ticks

    def edges(self, of, width, anchor):
        points = [of.low, of.high, 0, *INFINITIES, -width, width, anchor, 10 * width, of.low + width, of.high - width]
        points += [s * 10**9 // of.nanos for s in SECONDS]
        points += [p - (p - anchor) % width for p in points]
        points += [p + width for p in points]
        points = {p + d for p in points for d in (-1, 0, 1)}
        return np.array([p for p in sorted(points) if of.finite(p) or p in INFINITIES], np.int64)

    # A block

    def arrow(self, of, ticks, valid=None):
        if of is DATE:
            return pa.array(ticks.astype(np.int32)).view(pa.date32())
        kind = pa.timestamp(ARROW[of.nanos], "UTC" if of.instant else None)
        return pa.array(ticks, mask=None if valid is None else ~valid).view(kind)

    def block(self, size):
        r, n = self.random, self.numpy
        of = r.choice(self.types)
        end = r.random() < 0.5
        function = "time_bucket_end" if end else r.choice(["time_bucket", "time_bucket", "time_bucket_start"])
        anchored = r.choice(["epoch", "epoch", "offset", "origin"])
        width_by = r.choice(["literal", "folded", "prepared", "column"])
        anchor_by = r.choice(["literal", "prepared", "column"])
        rows_by = r.choice(["scan", "scan", "table", "filter", "join", "case", "constant", "list"])
        # Each row's arguments come from a small pool, in runs.
        pool = r.randint(2, 9) if "column" in (width_by, anchor_by) else 1
        widths = [self.width(of)] * pool
        if width_by == "column":
            widths = [self.width(of) for _ in range(pool)]
        kind, anchors, offsets = None, [0] * pool, None
        if anchored == "offset":
            offsets = [self.offset(of) for _ in range(pool)] if anchor_by == "column" else [self.offset(of)] * pool
            anchors = [offset.nanos // of.nanos for offset in offsets]
        elif anchored == "origin":
            kind, tick = self.origin(of)
            origins = [tick] * pool
            if near_the_end(kind, tick):
                anchor_by = "column"
            if anchor_by == "column":
                while len(origins := [t for k, t in (self.origin(of) for _ in range(6 * pool)) if k == kind][:pool]) < pool:
                    pass
            anchors = [tick * kind.nanos // of.nanos for tick in origins]
        widths_ticks = [width.nanos // of.nanos for width in widths]
        run = r.choice([1, 3, 15, 16, 17, 100, 3000])
        group = np.repeat(n.integers(0, pool, size // run + 1), run)[:size]
        ticks = self.ticks(of, size, widths_ticks[0], anchors[0])
        edges, out = np.zeros(size, np.int64), np.zeros(size, bool)
        for g in range(pool):
            mine = group == g
            edges[mine], out[mine] = buckets(of, widths_ticks[g], anchors[g], ticks[mine], end)
        valid = n.random(size) >= r.choice([0, 0, 0.01, 0.5, 0.99])
        wanted = valid & ~out
        self.check_oracle(of, widths_ticks, anchors, group, ticks, edges, out, end)

        # The query
        case = "case" == rows_by and bool(out.any())
        keep = ~out if case else (n.random(size) < r.choice([0.1, 0.5, 0.95])) if rows_by == "filter" else np.ones(size, bool)
        columns = {"i": pa.array(np.arange(size)), "ts": self.arrow(of, ticks, valid), "g": pa.array(group), "keep": pa.array(keep)}
        parameters = []

        def interval(by, values, name):
            if by == "literal":
                return values[0].literal()
            if by == "folded":
                return values[0].folded()
            if by == "prepared":
                parameters.extend([values[0].days, values[0].micros])
                return f"(to_days(${len(parameters) - 1}::INTEGER) + to_microseconds(${len(parameters)}::BIGINT))"
            columns[name + "_d"] = pa.array(np.array([v.days for v in values], np.int32)[group])
            columns[name + "_m"] = pa.array(np.array([v.micros for v in values], np.int64)[group])
            return f"(to_days({name}_d) + to_microseconds({name}_m))"

        call = [interval(width_by, widths, "w"), "ts"]
        if offsets:
            call.append(interval({"literal": "literal"}.get(anchor_by, anchor_by), offsets, "o"))
        elif kind:
            if anchor_by == "column":
                columns["origin"] = self.arrow(kind, np.array(origins, np.int64)[group])
                call.append("origin")
            else:
                call.append(kind.sql(origins[0]))
        call = f"{function}({', '.join(call)})"
        if case:
            call = f"CASE WHEN keep THEN {call} END"
        where = ""
        if rows_by == "filter":
            where = " WHERE keep"
        elif not case and out[valid].any():
            # Errors: once through TRY, for the rows that are few enough, else the rows are left out.
            if size <= 3000:
                self.expect_error(of, function, call, columns, parameters, out & valid)
                call = f"TRY({call})"
            else:
                keep = ~out
                columns["keep"] = pa.array(keep)
                where = " WHERE keep"
        t = pa.table(columns)
        self.con.register("t", t)
        source = "t"
        if rows_by == "table":
            self.con.execute("CREATE OR REPLACE TEMP TABLE s AS FROM t")
            source = "s"
        elif rows_by == "join":
            side = [name for name in columns if name not in ("i", "keep")]
            source = f"(SELECT t.i, t.keep, {', '.join('u.' + c for c in side)} FROM t JOIN t u ON u.i = t.i)"
        elif rows_by == "list":
            source = "(SELECT unnest(list(t ORDER BY i), recursive := true) FROM t)"
        elif rows_by == "constant":
            # One timestamp as a constant vector, many rows around it.
            source = "(SELECT * FROM (FROM t LIMIT 1), range(3000))"
        if rows_by == "filter" and out[valid & keep].any():
            keep &= ~out
            t = t.set_column(t.column_names.index("keep"), "keep", pa.array(keep))
            self.con.register("t", t)
        if rows_by == "constant" and (out & valid)[0] and not call.startswith(("TRY", "CASE")):
            call = f"TRY({call})" if not where else call
        sql = f"SELECT i, {call} AS b, typeof(b) AS y FROM {source}{where}"
        try:
            # A relation with parameters passes its values through Python objects on 1.5.6, which lose range.
            result = (self.con.execute(sql, parameters) if parameters else self.con.sql(sql)).to_arrow_table()
        except duckdb.Error as error:
            raise Difference(f"{sql} -- {error}") from None
        index = result["i"].combine_chunks().to_numpy()
        got = result["b"].combine_chunks()
        self.require_rows(sql, index, rows_by, keep if where else np.ones(size, bool))
        if len(result) and result["y"][0].as_py() != {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}.get(of.name, of.name):
            raise Difference(f"{sql} -- gives {result['y'][0]}, not {of.name}")
        got_valid = ~np.asarray(got.is_null())
        got = got.view(pa.int64()).fill_null(0).to_numpy()
        expected_valid = (wanted & keep if case else wanted)[index]
        wrong = np.flatnonzero((got_valid != expected_valid) | (expected_valid & (got != edges[index])))
        if len(wrong):
            row = int(index[wrong[0]])
            g = int(group[row])
            value = None if not got_valid[wrong[0]] else int(got[wrong[0]])
            self.difference(of, function, widths[g], offsets and offsets[g], kind, kind and origins[g], int(ticks[row]),
                            bool(valid[row]), value, int(edges[row]), sql)
        self.values += len(index)
        self.count(of.name, function, anchored, width_by, rows_by, n=len(index))

    def count(self, *keys, n):
        for key in keys:
            self.counted[key] = self.counted.get(key, 0) + n

    def check_oracle(self, of, widths, anchors, group, ticks, edges, out, end):
        """The numpy oracle against the one in Python integers, on some rows of each block."""
        for row in self.random.sample(range(len(ticks)), min(len(ticks), 24)):
            g = int(group[row])
            plain = bucket(of, widths[g], anchors[g], int(ticks[row]), end)
            assert (plain is OUT) == bool(out[row]) and (plain is OUT or plain == int(edges[row])), "the oracles differ"

    def require_rows(self, sql, index, rows_by, keep):
        expected = 3000 if rows_by == "constant" and keep[0] else 0 if rows_by == "constant" else int(keep.sum())
        if len(index) != expected:
            raise Difference(f"{sql} -- {len(index)} rows, not {expected}")

    def expect_error(self, of, function, call, columns, parameters, out):
        self.con.register("t", pa.table(columns))
        sql = f"SELECT {call} FROM t"
        try:
            self.con.execute(sql, parameters).to_arrow_table()
        except duckdb.InvalidInputException as error:
            if f"{function}: the bucket's" in str(error) and "is out of range" in str(error):
                return
            raise Difference(f"{sql} -- {error}") from None
        except duckdb.Error as error:
            raise Difference(f"{sql} -- {error}") from None
        raise Difference(f"{sql} -- no error, but {int(out.sum())} rows are out of range")

    def difference(self, of, function, width, offset, kind, origin, tick, valid, got, expected, sql):
        third = f", {offset.literal()}" if offset else f", {kind.sql(origin)}" if kind else ""
        ts = of.sql(tick) if valid else f"NULL::{of.name}"
        alone = f"SELECT {function}({width.literal()}, {ts}{third})"
        raise Difference(f"{alone} -- gives {got} ticks, not {expected if valid else None}; found by: {sql}")

    # Refusals, hop

    def refusal(self):
        """One argument that has to be refused, as a constant while binding and as a column in its row."""
        r = self.random
        of = r.choice(self.types)
        argument = r.choice(["width", "width", "offset", "origin"])
        good, third = self.width(of).folded(), ""
        if argument == "origin":
            kinds = [kind for kind in self.types if kind.instant == of.instant]
            kind = r.choice(kinds)
            bad = kind.sql(r.choice(INFINITIES))
            words = "origin must be finite"
            finer = [k for k in kinds if k.nanos < of.nanos]
            if finer and r.random() < 0.5:
                kind = r.choice(finer)
                nanos = r.randint(-(10**9), 10**9) * of.nanos + r.randint(1, of.nanos // kind.nanos - 1) * kind.nanos
                if not kind.finite(nanos // kind.nanos):
                    return
                bad, words = kind.sql(nanos // kind.nanos), "origin must be a whole number of"
            name = kind.name
        else:
            name = "INTERVAL"
            months, days, micros = r.choice([-1, 1, 12, 14]), r.choice([0, -30, 30]), r.choice([0, 0, 5])
            bad, words = f"(to_months({months}) + to_days({days}) + to_microseconds({micros}))", f"{argument} INTERVAL"
            if argument == "width" and r.random() < 0.5:
                nanos = r.choice([0, -1, -1000, -DAY]) * 1000
                bad, words = Interval(0, nanos // 1000).folded(), "width must be positive"
            elif of.nanos > 1000 and r.random() < 0.5:
                micros = r.randint(1, 10**9) * (of.nanos // 1000) + r.randint(1, of.nanos // 1000 - 1)
                bad, words = Interval(0, micros).folded(), f"{argument} must be a whole number of"
        ts = of.sql(r.choice([s * 10**9 // of.nanos for s in SECONDS if of.finite(s * 10**9 // of.nanos)]))
        call = (lambda x: f"time_bucket({x}, ts)") if argument == "width" else (lambda x: f"time_bucket({good}, ts, {x})")
        some = f"(SELECT {ts} AS ts, {bad} AS x FROM range({r.choice([1, 20, 3000])}))"
        constant = f"SELECT {call(bad)} FROM {some}" + r.choice(["", " WHERE false", " LIMIT 0"])
        column = f"SELECT {call('x')} FROM (SELECT ts, CASE WHEN random() >= 0 THEN x END AS x FROM {some})"
        null = f"SELECT {call(f'NULL::{name}')} FROM {some} LIMIT 0"
        for sql, expected, kind_of_error in [
            (constant, words, duckdb.BinderException),
            (column, words, duckdb.InvalidInputException),
            (null, f"{argument} must not be NULL", duckdb.BinderException),
        ]:
            try:
                self.con.execute(sql).fetchall()
            except duckdb.Error as error:
                text = str(error)
                if not isinstance(error, kind_of_error) or expected not in text:
                    raise Difference(f"{sql} -- {text}, not {expected}") from None
            else:
                raise Difference(f"{sql} -- no error, but: {expected}")
        tried = column.replace("SELECT time_bucket", "SELECT DISTINCT TRY(time_bucket", 1).replace(" FROM (SELECT ts, CASE", ") FROM (SELECT ts, CASE", 1)
        if self.con.execute(tried).fetchall() != [(None,)]:
            raise Difference(f"{tried} -- not NULL")
        self.values += 4
        self.count("refusals", n=4)

    def hopping(self, size):
        r, n = self.random, self.numpy
        of = r.choice(self.types)
        while True:
            slide = self.width(of)
            slide_ticks = slide.nanos // of.nanos
            size_ticks = r.choice([slide_ticks, 2 * slide_ticks, 5 * slide_ticks, max(slide_ticks // 2, 1), slide_ticks * 5 // 2,
                                   slide_ticks * 7 + 1])
            width = Interval.of(size_ticks * of.nanos, r)
            if width.nanos > 0 and width.nanos % of.nanos == 0 and width.nanos * 8 < INT64 * min(of.nanos, 1000) // 8:
                break
        size_ticks = width.nanos // of.nanos
        if size_ticks // slide_ticks > 90:
            return
        anchored = r.choice(["epoch", "offset", "origin"])
        anchor, third = 0, ""
        if anchored == "offset":
            offset = self.offset(of)
            anchor, third = offset.nanos // of.nanos, f", {offset.folded()}"
        elif anchored == "origin":
            kind, tick = self.origin(of)
            if near_the_end(kind, tick):
                return
            anchor, third = tick * kind.nanos // of.nanos, f", {kind.sql(tick)}"
        ticks = self.ticks(of, size, slide_ticks, anchor)
        margin = size_ticks + slide_ticks
        finite = (ticks > of.low + margin + 2) & (ticks < of.high - margin - 2)
        ticks = ticks[finite]
        if not len(ticks):
            return
        valid = n.random(len(ticks)) >= r.choice([0, 0.2])
        counts, starts = hops(of, slide_ticks, size_ticks, anchor % slide_ticks, ticks)
        for row in r.sample(range(len(ticks)), min(len(ticks), 8)):
            plain = windows(of, slide_ticks, size_ticks, anchor, int(ticks[row]))
            begin = int(counts[:row].sum())
            assert [s for s, _ in plain] == starts[begin : begin + int(counts[row])].tolist(), "the oracles differ"
        self.con.register("t", pa.table({"i": np.arange(len(ticks)), "ts": self.arrow(of, ticks, valid)}))
        if r.random() < 0.5:
            slide_by, size_by, more = slide.folded(), width.folded(), ""
        else:
            slide_by, size_by, more = "w", "z", f", (SELECT {slide.folded()} AS w, {width.folded()} AS z)"
        sql = f"SELECT i, time_bucket_hop({slide_by}, {size_by}, ts{third}) AS h FROM t{more} ORDER BY i"
        result = self.con.sql(sql).to_arrow_table()["h"].combine_chunks()
        got_valid = ~np.asarray(result.is_null())
        lengths = np.where(got_valid, np.diff(result.offsets.to_numpy()), 0)
        flat = result.flatten()
        got = [flat.field(name).view(pa.int64()).to_numpy() for name in ("window_start", "window_end")]
        keep = np.repeat(valid, counts)
        starts = starts[keep]
        if not (got_valid == valid).all() or not (lengths == np.where(valid, counts, 0)).all():
            row = int(np.flatnonzero((got_valid != valid) | (lengths != np.where(valid, counts, 0)))[0])
        elif not (got[0] == starts).all() or not (got[1] == starts + size_ticks).all():
            at = int(np.flatnonzero((got[0] != starts) | (got[1] != starts + size_ticks))[0])
            row = int(np.repeat(np.arange(len(ticks)), np.where(valid, counts, 0))[at])
        else:
            self.values += len(ticks)
            self.count("time_bucket_hop", n=len(ticks))
            return
        ts = of.sql(int(ticks[row])) if valid[row] else f"NULL::{of.name}"
        expected = windows(of, slide_ticks, size_ticks, anchor, int(ticks[row]))
        raise Difference(f"SELECT time_bucket_hop({slide.folded()}, {width.folded()}, {ts}{third}) -- not {expected}")

    def run(self, values, seconds, progress):
        start = last = time.monotonic()
        while self.values < values and (not seconds or time.monotonic() - start < seconds):
            self.blocks += 1
            kind = self.random.random()
            if kind < 0.1:
                self.refusal()
            elif kind < 0.25 and self.hop:
                self.hopping(self.random.choice([1, 100, 2049, 20_000]))
            else:
                size = self.random.choice([1, 2, 63, 64, 65, 500, 2047, 2048, 2049, 4097, 122_880, 122_881, 600_000])
                self.block(size)
            if progress and time.monotonic() - last > 30:
                last = time.monotonic()
                print(f"soak: {self.values:,} values, {self.blocks:,} queries", file=sys.stderr, flush=True)
        return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--values", type=int, default=10**8)
    parser.add_argument("--seconds", type=float, help="stop after so long, whatever was reached")
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    soak = Soak(arguments.extension, arguments.seed)
    try:
        took = soak.run(arguments.values, arguments.seconds, not arguments.quiet)
    except Difference as difference:
        sys.exit(f"soak: DIFFERENCE on DuckDB {duckdb.__version__}, seed {arguments.seed}, query {soak.blocks}: {difference}")
    by = ", ".join(f"{key} {count:,}" for key, count in sorted(soak.counted.items()))
    print(f"soak: DuckDB {duckdb.__version__}: {soak.values:,} values, {soak.blocks:,} queries, seed {arguments.seed}, "
          f"{took:.0f} s, no difference ({by})")


if __name__ == "__main__":
    main()
