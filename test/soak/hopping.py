"""The blocks of time_bucket_hop: lists of windows, from slides, sizes and anchors that may differ from row to row."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

import oracle
from oracle import INFINITIES, INT64, OUT, refusals
from session import TRIED, Arguments, Difference, Given, Timestamp, arrow, arrow_type, constant_refusals, group_refusals, literals

FORMS = ["literal", "folded", "prepared", "column"]
# Sizes in slides: whole, broken, with gaps; and about the most windows that a row may have.
RATIOS = [1, 1, 2, 3, 5, 30, Fraction(5, 2), Fraction(7, 3), Fraction(1, 2), Fraction(1, 1000)]
LIMITS = [1000, *(oracle.MOST_WINDOWS + k for k in (-1, 0, 1)), 10**9]


def lengths_refusals(of, lengths):
    """Why a slide and a size are refused together, which is said when each of them is legal."""
    slide, size = lengths
    return [] if refusals(of, {"slide": slide, "size": size}) else oracle.count_refusals(slide.nanos, size.nanos)


def wrapped(ticks):
    """Modulo 2^64 as int64: sums of them that fit are exact."""
    return np.array([(tick + INT64) % (2 * INT64) - INT64 for tick in ticks], np.int64)


def shown(starts, ends):
    """Windows, for a message."""
    return f"{len(starts)} windows" + (f", ({starts[0]}, {ends[0]}) to ({starts[-1]}, {ends[-1]})" if len(starts) else "")


@dataclass
class Rows:
    """Timestamps and the windows that they have to give: arrays, an element a row."""

    group: np.ndarray
    ticks: np.ndarray
    valid: np.ndarray
    counts: np.ndarray
    firsts: np.ndarray
    slides: np.ndarray
    sizes: np.ndarray
    error: np.ndarray
    null: np.ndarray  # also with TRY around an error

    def __len__(self):
        return len(self.ticks)

    def __getitem__(self, rows):
        return Rows(**{name: column[rows] for name, column in vars(self).items()})


class Hopping:
    """One block: its arguments, its rows, and what they have to give."""

    def __init__(self, session):
        self.session, self.random = session, session.random
        self.of = self.random.choice(session.types)
        self.given = self.arguments()
        groups = range(len(self.given[0].values))
        self.reasons = [group_refusals(self.of, self.given, g) for g in groups]
        for g, reasons in enumerate(self.reasons):
            if reasons is not None:
                reasons += lengths_refusals(self.of, (one.values[g] for one in self.given[:2]))
        self.hops = {g: self.ticks(g) for g in groups if self.reasons[g] == []}

    def arguments(self):
        """Slide, size and anchor for each group, now and then with values that are mostly refused."""
        s, r = self.session, self.random
        by = [r.choice(FORMS) for _ in range(3)]
        pool = r.choice([2, 5, 9, 60]) if "column" in by else 1
        slides, sizes = self.lengths(*by[:2], pool)
        anchors, anchored, by[2] = s.anchors(self.of, by[2], pool)
        given = [Given("slide", by[0], slides), Given("size", by[1], sizes), Given(anchored, by[2], anchors)]
        given = given if anchors[0] else given[:2]
        if r.random() < 0.2:
            _, form, values = r.choice(given)
            odd = s.odd_point(values[0].of) if isinstance(values[0], Timestamp) else s.odd_interval(self.of)
            values[:] = [odd if form != "column" or r.random() < 0.2 else value for value in values]
        return given

    def lengths(self, slide_by, size_by, pool):
        """What is no column is the same in all groups."""
        s, r, of = self.session, self.random, self.of
        ratios = RATIOS if r.random() < 0.9 else LIMITS
        slides = [s.width(of)] * pool
        sizes = [s.times(of, slides[0], r.choice(ratios))] * pool
        for g in range(1, pool):
            if slide_by == "column":
                slides[g] = s.width(of) if size_by == "column" else s.times(of, sizes[0], Fraction(1, r.choice(ratios)))
            if size_by == "column":
                sizes[g] = s.times(of, slides[g], r.choice(ratios))
        return slides, sizes

    def ticks(self, g):
        """Slide, size and anchor of a group."""
        slide, size, anchor, *_ = [one.values[g].nanos // self.of.nanos for one in self.given] + [0]
        return slide, size, anchor

    def rows(self):
        s, r, of = self.session, self.random, self.of
        slide, _, anchor = next(iter(self.hops.values()), (1, 1, 0))
        most = max((size // slide for slide, size, _ in self.hops.values()), default=0) + 1
        size = min(r.choice([1, 100, 2049, 20_000]), 400_000 // most + 1)
        group = s.groups(size, len(self.reasons))
        ticks = s.ticks(of, size, slide, anchor)
        valid = s.numpy.random(size) >= r.choice([0, 0, 0.2, 0.9])
        counts, firsts, error = self.expected(group, ticks)
        slides, sizes = (wrapped(self.hops[g][i] if g in self.hops else 0 for g in range(len(self.reasons)))[group] for i in range(2))
        sizes[np.isin(ticks, INFINITIES)] = 0
        null = ~valid | np.array([reasons is None for reasons in self.reasons])[group]
        error &= ~null
        counts[null | error] = 0
        rows = Rows(group, ticks, valid, counts, firsts, slides, sizes, error, null | error)
        return rows if size <= TRIED else rows[~error | (np.arange(size) == 0)]

    def expected(self, group, ticks):
        """How many windows each row has, where the first starts, and whether it is an error."""
        counts, firsts, error = (np.zeros(len(ticks), kind) for kind in (np.int64, np.int64, bool))
        for g, reasons in enumerate(self.reasons):
            mine = group == g
            if g in self.hops:
                counts[mine], firsts[mine], error[mine] = oracle.hops(self.of, *self.hops[g], ticks[mine])
                self.check_oracle(self.hops[g], ticks[mine], counts[mine], firsts[mine], error[mine])
            else:
                error[mine] = bool(reasons)
        return counts, firsts, error

    def check_oracle(self, hop, ticks, counts, firsts, out):
        """The numpy oracle against the one in Python integers, on some rows of each group."""
        for row in self.random.sample(range(len(ticks)), min(len(ticks), 8)):
            plain = oracle.windows(self.of, *hop, int(ticks[row]))
            assert (plain is OUT) == out[row], "the oracles differ"
            if plain is not OUT:
                assert len(plain[0]) == counts[row] and (not plain[0] or plain[0][0] == firsts[row]), "the oracles differ"

    def block(self):
        s, r, rows = self.session, self.random, self.rows()
        arguments = Arguments(rows.group)
        arguments.columns["ts"] = arrow(self.of, rows.ticks, rows.valid)
        slide, size, *anchor = (arguments.expression(*one) for one in self.given)
        call = f"time_bucket_hop({', '.join([slide, size, 'ts', *anchor])})"
        # Thousands of long lists would take minutes.
        rows_by = r.choice(["scan", "table", "join", "list", "constant" if rows.counts[0] < 100 else "scan"])
        source = s.source(rows_by, arguments.columns)
        refused = constant_refusals(self.of, self.given)
        if "column" not in [one.by for one in self.given[:2]]:
            refused += lengths_refusals(self.of, (one.values[0] for one in self.given[:2]))
        if refused:
            s.refuse(f"SELECT {call} FROM {source}", "Binder", "time_bucket_hop", refused, arguments.parameters, self.alone(rows, 0))
            return
        rows = rows[np.zeros(s.REPEATED, int)] if rows_by == "constant" else rows
        refused = oracle.window_refusals("ts") + sum(filter(None, self.reasons), []) if rows.error.any() else []
        s.ask(lambda call: f"SELECT i, {call} AS b FROM {source} ORDER BY i", call, "time_bucket_hop", refused, arguments.parameters,
              self.alone(rows, 0), lambda result, sql: self.compare(rows, result, sql))
        s.count("time_bucket_hop", self.of.name, n=len(rows))
        self.fold(rows[[r.randrange(len(rows))]])

    def fold(self, row):
        """One row as a call of constants, which the engine folds."""
        if int(row.group[0]) in self.hops and not row.error[0]:
            sql = f"{self.alone(row, 0)} AS b"
            self.compare(row, self.session.answer(sql), sql)
            self.session.count("time_bucket_hop", self.of.name, n=1)

    def compare(self, rows, result, sql):
        got = result["b"].combine_chunks()
        if len(got) != len(rows):
            raise Difference(f"{sql} -- {len(got)} rows, not {len(rows)}")
        if got.type.value_type != pa.struct([(name, arrow_type(self.of)) for name in ("window_start", "window_end")]):
            raise Difference(f"{sql} -- gives {got.type}")
        null = np.asarray(got.is_null())
        counts = np.where(null, 0, np.diff(got.offsets.to_numpy()))
        starts, ends = (got.flatten().field(name).view(pa.int64()).to_numpy() for name in ("window_start", "window_end"))
        wrong = np.flatnonzero((null != rows.null) | (counts != rows.counts))
        if not len(wrong):
            row = np.repeat(np.arange(len(counts)), counts)
            rank = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
            expected = rows.firsts[row] + rows.slides[row] * rank
            wrong = row[(starts != expected) | (ends != expected + rows.sizes[row])]
        for row in wrong[:1]:
            mine = slice(int(counts[:row].sum()), int(counts[: row + 1].sum()))
            value = "NULL" if null[row] else shown(starts[mine], ends[mine])
            raise Difference(f"{self.alone(rows, row)} -- gives {value}, not {self.expectation(rows, row)}; found by: {sql}")

    def expectation(self, rows, row):
        if rows.null[row]:
            return "an error" if rows.error[row] else "NULL"
        plain = oracle.windows(self.of, *self.hops[rows.group[row]], int(rows.ticks[row]))
        return "an error" if plain is OUT else shown(*plain)

    def alone(self, rows, row):
        """The query of one row."""
        ts = Timestamp(self.of, int(rows.ticks[row]) if rows.valid[row] else None)
        slide, size, *anchor = (one.values[rows.group[row]] for one in self.given)
        return f"SELECT time_bucket_hop({literals(slide, size, ts, *anchor)})"
