#!/usr/bin/env python3
"""Compares buckets of local time with an oracle, through SQL: every time zone, each with widths that people use and others.

    build/engine-2.0.1/bin/python test/soak/local_time.py --extension FILE [--seed N] [--zones N]

For a zone there are instants round each change of its clock from 1900 to 2100, and random ones; for each width they go
through time_bucket and time_bucket_end, on the epoch's grid or one that an origin or offset moves. Beside the oracle
hold, whatever it says: start ≤ ts < end, a start is its own bucket's, an end is the next bucket's start, no start is
before that of an earlier row, and a start is a point of the grid or a change of the clock. `Local` has blocks of
calls in all other forms, which soak.py runs among its own. For each grid there are also hopping windows round one of the rows, and
the series of buckets from it on.
"""

import argparse
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clock  # noqa: E402
from oracle import DATE, DAY, INFINITIES, TYPES, bucket_refusals, zone_refusals  # noqa: E402
from session import TRIED, Arguments, Difference, Given, Interval, Session, Timestamp, arrow, literals  # noqa: E402

SECOND, MINUTE, HOUR = 10**9, 60 * 10**9, 3600 * 10**9
WIDTHS = [SECOND, *(m * MINUTE for m in (15, 30, 40, 90)), *(h * HOUR for h in (1, 2, 3, 4, 6, 12)), *(d * DAY for d in (1, 2, 7, 30, 400))]
SINCE, UNTIL = -2_208_988_800, 4_102_444_800  # 1900 and 2100, in seconds
LOCAL = next(of for of in TYPES if of.name == "TIMESTAMP")  # of a wall reading
FUNCTIONS = ["time_bucket", "time_bucket_end"]
ZONES = {name.lower(): name for name in clock.NAMES}


class Name(str):
    """A zone's name as an argument."""

    def literal(self):
        return f"'{self}'"

    def folded(self):
        return f"concat('{self[:3]}', '{self[3:]}')"

    def prepared(self, parameter):
        return f"{parameter(str(self))}::VARCHAR"

    text = literal

    @staticmethod
    def column(name, values):
        return {name: pa.array(values, pa.string())}, name


def near(session, zone, size, reach=2 * 86_400):
    """Instants in nanoseconds: most of them round changes between 1900 and 2100, some anywhere there."""
    n = session.numpy
    changes = np.array([since for since in zone.since if SINCE <= since < UNTIL] or [SINCE], np.int64)
    seconds = n.choice(changes, size) + n.choice([0, 0, 0, -1, 1, 3600, -3600, 1800, -1800], size)
    seconds += np.where(n.random(size) < 0.5, n.integers(-reach, reach, size), 0)
    seconds = np.where(n.random(size) < 0.1, n.integers(SINCE, UNTIL, size), seconds)
    return np.clip(seconds, SINCE, UNTIL - 1) * SECOND + n.choice([0, 0, 1000, SECOND - 1000, 123_456_000], size)


class Sweep(Session):
    """Zone by zone."""

    def __init__(self, extension, seed):
        super().__init__(extension, seed)
        self.con.execute("SET threads = 1")
        self.instants = [of for of in self.types if of.instant]

    def anchor(self):
        """An origin or offset of any sign, or none."""
        r = self.random
        return r.choice([
            lambda: None,
            lambda: Interval.of(r.choice([-1, 1]) * r.choice([HOUR, 90 * MINUTE, 6 * HOUR, DAY, 37 * SECOND, r.randint(0, 10**17) * 1000]), r),
            lambda: Timestamp(LOCAL, r.randint(-4 * 10**15, 4 * 10**15)),
            lambda: Timestamp(LOCAL, r.randint(-40_000, 40_000) * 86_400 * 10**6),
            lambda: Timestamp(DATE, r.randint(-40_000, 40_000)),
        ])()

    def zone(self, name, widths):
        zone = clock.zone(name)
        changes = sum(SINCE <= since < UNTIL for since in zone.since)
        for of in self.instants:
            ticks = np.unique(near(self, zone, 100 + 8 * changes)) // of.nanos
            self.con.register("t", pa.table({"ts": arrow(of, ticks)}))
            for width in widths:
                self.grid(of, zone, Interval.of(width, self.random), self.anchor(), ticks)

    def grid(self, of, zone, width, anchor, ticks):
        second = SECOND // of.nanos
        ticks_of = width.nanos // of.nanos, anchor.nanos // of.nanos if anchor else 0
        more = f", {literals(anchor)}" if anchor else ""

        def call(function, ts):
            return f"{function}({literals(width)}, {ts}, '{zone.name}'{more})"

        both = ", ".join(f"{call(function, 'ts')} AS {function}" for function in FUNCTIONS)
        again = f"{call('time_bucket', 'time_bucket')}, {call('time_bucket', 'time_bucket_end')}, {call('time_bucket_end', 'time_bucket')}"
        sql = f"SELECT {both} FROM t"
        starts, ends, *repeated = self.columns(of, f"SELECT time_bucket, time_bucket_end, {again} FROM ({sql})")
        (right_starts, right_ends), out = clock.edges(of, zone, *ticks_of, ticks)
        assert not out.any()
        self.check_oracle(of, zone, *ticks_of, ticks, right_starts, right_ends)

        def every(holds, what):
            for row in np.flatnonzero(~holds)[:1]:
                wanted = f"{right_starts[row]} to {right_ends[row]}"
                row_alone = f"SELECT {', '.join(call(function, of.sql(int(ticks[row]))) for function in FUNCTIONS)}"
                raise Difference(f"{row_alone} -- gives {starts[row]} to {ends[row]}, not {wanted}: {what}; found by: {sql}")

        every((starts == right_starts) & (ends == right_ends), "the oracle's")
        every((starts <= ticks) & (ticks < ends), "start ≤ ts < end")
        every((repeated[0] == starts) & (repeated[2] == ends), "a start is its own bucket's")
        every(repeated[1] == ends, "an end is the next bucket's start")
        every(np.diff(starts, prepend=starts[0]) >= 0, "starts rise with ts")
        since = np.array([max(-clock.FAR, min(clock.FAR, since * second)) for since in zone.since])
        reading = starts + np.array(zone.offsets)[np.searchsorted(since, starts, "right") - 1] * second
        every(((reading - ticks_of[1] % ticks_of[0]) % ticks_of[0] == 0) | np.isin(starts, since), "a point of the grid or a change")
        self.count(of.name, n=2 * len(ticks))
        self.windows(of, zone, width, anchor, int(self.random.choice(ticks)))

    def windows(self, of, zone, width, anchor, tick):
        """Windows of three buckets in a row round a row, and the series of buckets from it on, as the oracle counts them off."""
        def bucket(tick):
            return clock.bucket(zone, width.nanos // of.nanos, anchor.nanos // of.nanos if anchor else 0, tick, SECOND // of.nanos)

        buckets = [bucket(tick)]
        for _ in range(2):
            buckets = [bucket(buckets[0][0] - 1), *buckets, bucket(buckets[-1][1])]
        size, ts = Interval.of(3 * width.nanos, self.random), of.sql(tick)
        hop = f"time_bucket_hop({literals(width, size)}, {ts}, '{zone.name}'{f', {literals(anchor)}' if anchor else ''})"
        series = f"time_bucket_series({literals(width)}, {ts}, {of.sql(buckets[-1][1])}, zone := '{zone.name}'{f', origin := {literals(anchor)}' if anchor else ''})"
        for sql, right in ((f"SELECT unnest({hop}, max_depth := 2)", [(first, last) for (first, _), (_, last) in zip(buckets, buckets[2:])]),
                           (f"FROM {series}", buckets[2:])):
            got = list(zip(*(column.tolist() for column in self.columns(of, sql))))
            if got != right:
                raise Difference(f"{sql} -- gives {got}, not {right}")
            self.count(of.name, "windows", n=len(right))

    def check_oracle(self, of, zone, width, origin, ticks, starts, ends):
        """The numpy oracle against the one in Python integers, on some rows of each grid."""
        for row in self.random.sample(range(len(ticks)), 2):
            assert clock.bucket(zone, width, origin, int(ticks[row]), SECOND // of.nanos) == (starts[row], ends[row]), "the oracles differ"

    def columns(self, of, sql):
        return [column.combine_chunks().view(pa.int64()).to_numpy() for column in self.answer(sql).columns]


class Local:
    """Blocks of one call in one of its forms: zone, width and anchor as constants, parameters or columns, rows of any kind."""

    def __init__(self, session):
        self.session, self.random = session, session.random
        self.types = [of for of in session.types if of.instant]

    def blocks(self):
        """Some, so that a short run has them; one is small."""
        for _ in range(6):
            self.block()

    def name(self):
        """A zone's name in some case."""
        name = self.random.choice(clock.NAMES)
        return Name(self.random.choice([name, name, name.lower(), name.upper(), name.swapcase()]))

    def width(self, of):
        if self.random.random() < 0.3:
            return self.session.width(of)
        return Interval.of(self.random.choice(WIDTHS), self.random)

    def anchors(self, of, by, pool):
        """An offset, or an origin: a reading of the zone's clock."""
        s, r = self.session, self.random
        if r.random() < 0.4:
            return None
        if r.random() < 0.5:
            return Given("offset", by, s.several(by, pool, lambda: s.offset(of)))
        kind = r.choice([LOCAL, LOCAL, DATE])
        return Given("origin", by, s.several(by, pool, lambda: s.origin(of, kind)))

    def ticks(self, of, size, zone, width, origin):
        """Round the zone's changes; or anywhere, where each row takes the oracle long."""
        if self.random.random() < 0.7:
            return near(self.session, zone, size) // of.nanos
        return self.session.ticks(of, min(size, 200), width, origin)

    def block(self):
        s, r, n = self.session, self.random, self.session.numpy
        of = r.choice(self.types)
        edge = r.randrange(2)
        function = [r.choice(["time_bucket", "time_bucket_start"]), "time_bucket_end"][edge]
        by = {name: r.choice(["literal", "folded", "prepared", "column"]) for name in ("width", "zone", "anchor")}
        pool = r.randint(2, 9) if "column" in by.values() else 1
        widths = s.several(by["width"], pool, lambda: self.width(of))
        names = s.several(by["zone"], pool, self.name)
        anchor = self.anchors(of, by["anchor"], pool)
        anchors = anchor.values if anchor else [None] * pool
        grids = [(clock.zone(ZONES[name.lower()]), width.nanos // of.nanos, anchor.nanos // of.nanos if anchor else 0)
                 for name, width, anchor in zip(names, widths, anchors)]
        ticks = self.ticks(of, r.choice([1, 2, 65, 500, 2049, 20_000]), *grids[0])
        size = len(ticks)
        group = s.groups(size, pool)
        edges, out = np.zeros(size, np.int64), np.zeros(size, bool)
        for g, grid in enumerate(grids):
            mine = group == g
            found, outs = clock.edges(of, *grid, ticks[mine])
            edges[mine], out[mine] = found[edge], outs[edge]
            self.check_oracle(of, grid, ticks[mine], edges[mine], out[mine], edge)
        valid = n.random(size) >= r.choice([0, 0, 0.01, 0.5])
        # A zone of the column may be NULL, which makes its rows NULL, or unknown, which makes them errors.
        null = unknown = np.zeros(size, bool)
        if by["zone"] == "column" and r.random() < 0.3:
            odd = r.randrange(pool)
            names[odd] = r.choice([None, Name("No/Such"), Name("")])
            null, unknown = (group == odd, unknown) if names[odd] is None else (null, group == odd)
        out |= unknown
        keep = np.ones(size, bool) if size <= TRIED else ~(valid & out & ~null)

        arguments = Arguments(group)
        arguments.columns |= {"ts": arrow(of, ticks, valid), "keep": pa.array(keep)}
        call = [arguments.expression("w", by["width"], widths), "ts", self.zone(arguments, by["zone"], names)]
        if anchor:
            call.append(arguments.expression("a", by["anchor"], anchors))
        source = s.source(r.choice(["scan", "table", "join", "list"]), arguments.columns)
        rows = np.flatnonzero(keep)
        valid &= ~null
        fails = (valid & out)[rows].any()

        def alone(row):
            g, ts = group[row], Timestamp(of, int(ticks[row]) if valid[row] else None)
            zone = "NULL::VARCHAR" if names[g] is None else names[g].literal()
            more = f", {literals(anchors[g])}" if anchors[g] else ""
            return f"SELECT {function}({literals(widths[g], ts)}, {zone}{more})"

        def compare(result, sql):
            index = result["i"].combine_chunks().to_numpy()
            if sorted(index.tolist()) != rows.tolist():
                raise Difference(f"{sql} -- {len(index)} rows, not {len(rows)}")
            column = result["b"].combine_chunks()
            if column.type != arrow(of, [0]).type:
                raise Difference(f"{sql} -- is of type {column.type}")
            there = ~np.asarray(column.is_null())
            got = column.view(pa.int64()).fill_null(0).to_numpy()
            wanted = (valid & ~out)[index]
            for wrong in np.flatnonzero((there != wanted) | (there & (got != edges[index])))[:1]:
                row = int(index[wrong])
                expected = int(edges[row]) if wanted[wrong] else "an error" if valid[row] else None
                raise Difference(f"{alone(row)} -- gives {int(got[wrong]) if there[wrong] else None} ticks, not {expected}; found by: {sql}")

        s.ask(lambda call: f"SELECT i, {call} AS b FROM {source} WHERE keep", f"{function}({', '.join(call)})", function,
              [*bucket_refusals(), *zone_refusals()] if fails else [], arguments.parameters, alone(int(rows[0]) if len(rows) else 0), compare)
        s.count("local", of.name, function, n=len(rows))

    def zone(self, arguments, by, names):
        """The expression for the zones, one of them maybe NULL."""
        if by != "column":
            return arguments.constant(by, names[0])
        columns, expression = Name.column("z", names)
        arguments.columns |= {name: column.take(arguments.group) for name, column in columns.items()}
        return expression

    def check_oracle(self, of, grid, ticks, edges, out, edge):
        for row in self.random.sample(range(len(ticks)), min(len(ticks), 8)):
            tick = int(ticks[row])
            plain = tick if tick in INFINITIES else clock.bucket(*grid, tick, SECOND // of.nanos)[edge]
            right = tick in INFINITIES or of.finite(plain)
            assert right != out[row] and (not right or plain == edges[row]), "the oracles differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--zones", type=int, help="so many, drawn with three widths each; without it every zone with every width")
    arguments = parser.parse_args()
    sweep = Sweep(arguments.extension, arguments.seed)
    names = sweep.random.sample(clock.NAMES, arguments.zones or len(clock.NAMES))
    start = time.monotonic()
    for name in names:
        try:
            sweep.zone(name, sweep.random.sample(WIDTHS, 3) if arguments.zones else WIDTHS)
        except Difference as difference:
            sys.exit(f"local_time: DIFFERENCE on DuckDB {duckdb.__version__}, seed {arguments.seed}, {name}: {difference}")
    print(f"local_time: DuckDB {duckdb.__version__}: {sweep.values:,} values of {len(names)} zones of {clock.VERSION}, "
          f"seed {arguments.seed}, {time.monotonic() - start:.0f} s, no difference")


if __name__ == "__main__":
    main()
