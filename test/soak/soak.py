#!/usr/bin/env python3
"""Compares the extension with an oracle, through SQL, on random and edge values, until so many were compared.

    build/engine-2.0.1/bin/python test/soak/soak.py --extension FILE [--seed N] [--values N] [--seconds N]

The Python that runs this is the engine's. A block is one query shape: type, function, width, anchor, how each
reaches the function (literal, folded expression, prepared parameter, column), how the rows do (scan, table, filter, join,
CASE, one constant row), and a distribution of timestamps. The window functions and local time have blocks of their own, in windows.py and local_time.py.
A difference prints one SELECT that shows it, and the exit status is 1.
"""

import argparse
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_time import Local  # noqa: E402
from oracle import OUT, bucket, bucket_refusals, buckets, refusals  # noqa: E402
from session import SECONDS, TRIED, Arguments, Difference, Session, Timestamp, arrow, literals  # noqa: E402
from windows import Windows  # noqa: E402


class Soak(Session):
    def __init__(self, extension, seed):
        super().__init__(extension, seed)
        self.windows, self.local = Windows(self), Local(self)

    def block(self, size):
        r, n = self.random, self.numpy
        of = r.choice(self.types)
        end = r.random() < 0.5
        function = "time_bucket_end" if end else r.choice(["time_bucket", "time_bucket", "time_bucket_start"])
        width_by = r.choice(["literal", "folded", "prepared", "column"])
        anchor_by = r.choice(["literal", "prepared", "column"])
        rows_by = r.choice(["scan", "scan", "table", "filter", "join", "case", "constant", "list"])
        pool = r.randint(2, 9) if "column" in (width_by, anchor_by) else 1
        widths = self.several(width_by, pool, lambda: self.width(of))
        anchors, anchored, anchor_by = self.anchors(of, anchor_by, pool)
        widths_ticks = [width.nanos // of.nanos for width in widths]
        anchors_ticks = [anchor.nanos // of.nanos if anchor else 0 for anchor in anchors]
        group = self.groups(size, pool)
        ticks = self.ticks(of, size, widths_ticks[0], anchors_ticks[0])
        edges, out = np.zeros(size, np.int64), np.zeros(size, bool)
        for g in range(pool):
            mine = group == g
            edges[mine], out[mine] = buckets(of, widths_ticks[g], anchors_ticks[g], ticks[mine], end)
        valid = n.random(size) >= r.choice([0, 0, 0.01, 0.5, 0.99])
        wanted = valid & ~out
        self.check_oracle(of, widths_ticks, anchors_ticks, group, ticks, edges, out, end)

        # The query
        case = "case" == rows_by and bool(out.any())
        keep = ~out if case else (n.random(size) < r.choice([0.1, 0.5, 0.95])) if rows_by == "filter" else np.ones(size, bool)
        arguments = Arguments(group)
        arguments.columns["ts"] = arrow(of, ticks, valid)
        call = [arguments.expression("w", width_by, widths), "ts"]
        if anchors[0]:
            call.append(arguments.expression("a", anchor_by, anchors))
        call = f"{function}({', '.join(call)})"
        if case:
            call = f"CASE WHEN keep THEN {call} END"
        where = ""
        if rows_by == "filter":
            keep &= ~(out & valid)
            where = " WHERE keep"
        elif not case and size > TRIED and (valid & out).any():
            keep = ~out
            where = " WHERE keep"
        source = self.source(rows_by, {**arguments.columns, "keep": pa.array(keep)})
        rows = np.zeros(self.REPEATED, int) if rows_by == "constant" else np.arange(size)
        rows = rows[keep[rows]] if where else rows
        fails = not case and (valid & out)[rows].any()

        def alone(row):
            ts = Timestamp(of, int(ticks[row]) if valid[row] else None)
            return f"SELECT {function}({literals(*filter(None, [widths[group[row]], ts, anchors[group[row]]]))})"

        def compare(result, sql):
            index = result["i"].combine_chunks().to_numpy()
            if len(index) != len(rows):
                raise Difference(f"{sql} -- {len(index)} rows, not {len(rows)}")
            if len(result) and result["y"][0].as_py() != {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}.get(of.name, of.name):
                raise Difference(f"{sql} -- gives {result['y'][0]}, not {of.name}")
            got = result["b"].combine_chunks()
            got_valid = ~np.asarray(got.is_null())
            got = got.view(pa.int64()).fill_null(0).to_numpy()
            for wrong in np.flatnonzero((got_valid != wanted[index]) | (got_valid & (got != edges[index])))[:1]:
                row = int(index[wrong])
                expected = int(edges[row]) if wanted[row] else "an error" if valid[row] else None
                raise Difference(f"{alone(row)} -- gives {int(got[wrong]) if got_valid[wrong] else None} ticks, not {expected}; found by: {sql}")

        self.ask(lambda call: f"SELECT i, {call} AS b, typeof(b) AS y FROM {source}{where}", call, function,
                 bucket_refusals() if fails else [], arguments.parameters, alone(0), compare)
        self.count(of.name, function, anchored, width_by, rows_by, n=len(rows))

    def check_oracle(self, of, widths, anchors, group, ticks, edges, out, end):
        """The numpy oracle against the one in Python integers, on some rows of each block."""
        for row in self.random.sample(range(len(ticks)), min(len(ticks), 24)):
            g = int(group[row])
            plain = bucket(of, widths[g], anchors[g], int(ticks[row]), end)
            assert (plain is OUT) == bool(out[row]) and (plain is OUT or plain == int(edges[row])), "the oracles differ"

    def refusal(self):
        """One argument that has to be refused, as a constant while binding and as a column in its row."""
        r = self.random
        of = r.choice(self.types)
        argument = r.choice(["width", "width", "offset", "origin"])
        reasons = []
        while not reasons or "NULL" in reasons[0]:
            bad = self.odd_point(self.origin_type(of)) if argument == "origin" else self.odd_interval(of)
            reasons = refusals(of, {argument: bad})
        good = self.width(of).folded()
        ts = of.sql(r.choice([s * 10**9 // of.nanos for s in SECONDS if of.finite(s * 10**9 // of.nanos)]))
        call = (lambda x: f"time_bucket({x}, ts)") if argument == "width" else (lambda x: f"time_bucket({good}, ts, {x})")
        some = f"(SELECT {ts} AS ts, {bad.folded()} AS x FROM range({r.choice([1, 20, 3000])}))"
        column = f"(SELECT ts, CASE WHEN random() >= 0 THEN x END AS x FROM {some})"
        end = r.choice(["", " WHERE false", " LIMIT 0"])
        null = f"NULL::{bad.of.name if argument == 'origin' else 'INTERVAL'}"
        self.refuse(f"SELECT {call(bad.folded())} FROM {some}{end}", "Binder", "time_bucket", reasons)
        self.refuse(f"SELECT {call('x')} FROM {column}", "Invalid Input", "time_bucket", reasons)
        # Beside an instant a NULL is of whatever type the engine chose an overload by.
        is_null = [f"(origin or )?{argument} must not be NULL"]
        self.refuse(f"SELECT {call(null)} FROM {some} LIMIT 0", "Binder", "time_bucket", is_null)
        tried = f"SELECT DISTINCT TRY({call('x')}) AS b FROM {column}"
        if self.answer(tried)["b"].to_pylist() != [None]:
            raise Difference(f"{tried} -- not NULL")
        self.count("refusals", n=1)

    def run(self, values, seconds, progress):
        start = last = time.monotonic()
        while self.values < values and (not seconds or time.monotonic() - start < seconds):
            kind = self.random.random()
            if kind < 0.1:
                self.refusal()
            elif kind < 0.25:
                self.windows.blocks()
            elif kind < 0.32:
                self.local.blocks()
            else:
                size = self.random.choice([1, 2, 63, 64, 65, 500, 2047, 2048, 2049, 4097, 122_880, 122_881, 600_000])
                self.block(size)
            if progress and time.monotonic() - last > 30:
                last = time.monotonic()
                print(f"soak: {self.values:,} values, {self.queries:,} queries", file=sys.stderr, flush=True)
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
        sys.exit(f"soak: DIFFERENCE on DuckDB {duckdb.__version__}, seed {arguments.seed}, query {soak.queries}: {difference}")
    by = ", ".join(f"{key} {count:,}" for key, count in sorted(soak.counted.items()))
    print(f"soak: DuckDB {duckdb.__version__}: {soak.values:,} values, {soak.queries:,} queries, seed {arguments.seed}, "
          f"{took:.0f} s, no difference ({by})")


if __name__ == "__main__":
    main()
