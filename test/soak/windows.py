"""The blocks of the window functions: hopping windows, panes, series and covers, beside the oracle.

A scalar function gets many rows in a block, a table function several calls. Some arguments are such as have to be
refused; then each reason that the oracle sees is right, as no order among them is promised.
"""

import numpy as np
import pyarrow as pa

import oracle
from hopping import FORMS, Hopping
from oracle import DAY, INFINITIES, INT64, OUT, TYPES, refusals
from session import (
    BARE_NULL, TRIED, Arguments, Difference, Given, Interval, Timestamp, arrow_type, constant_refusals, group_refusals, literals,
    unprintable,
)

NANOS = next(of for of in TYPES if of.nanos == 1)
TABLE_FORMS = ["literal", "folded", "prepared", "text"]
# Of a table with more rows the first ones are compared.
MOST_ROWS, FIRST_ROWS = 200_000, 5000
# The columns that are no timestamps.
INTERVALS, INTEGERS = {"pane_offset", "pane_width", "staleness"}, {"pane", "windows"}


def fields(name):
    """An interval's fields as columns: as an Arrow interval, of nanoseconds, it could overflow."""
    parts = {"hour": 3_600_000_000, "minute": 60_000_000, "microsecond": 1}
    micros = " + ".join(f"datepart('{part}', {name}) * {unit}" for part, unit in parts.items())
    months = f"datepart('year', {name}) * 12 + datepart('month', {name})"
    return f"{months} AS {name}_months, datepart('day', {name}) AS {name}_days, {micros} AS {name}_microseconds"


def nanos(result, name):
    """The lengths of the intervals of these fields. One with months stays as it is: it equals none."""
    rows = zip(*(result[f"{name}_{field}"].to_pylist() for field in Interval.TO))
    return [row if row[0] else row[1] if row[1] is None else row[1] * DAY + row[2] * 1000 for row in rows]


class Windows:
    def __init__(self, session):
        self.session, self.random = session, session.random

    def blocks(self):
        """Some of each function, so that a short run reaches all; a call of a table function is small."""
        for function, calls in [(self.hop, 2), (self.pane, 1), (self.cadence, 1), (self.panes, 8), (self.series, 8), (self.cover, 8)]:
            for _ in range(calls):
                function()

    def hop(self):
        Hopping(self.session).block()

    def mostly(self, of, interval):
        """The interval, or now and then one that is mostly refused."""
        return self.session.odd_interval(of) if self.random.random() < 0.03 else interval

    def point(self, of, tick):
        """The timestamp, or now and then one that is mostly refused."""
        return self.session.odd_point(of) if self.random.random() < 0.03 else Timestamp(of, tick)

    # Intervals

    def pane(self):
        s, r, function = self.session, self.random, "time_bucket_pane"
        by = [r.choice(FORMS) for _ in range(2)]
        size = r.choice([1, 64, 2048, TRIED]) if "column" in by else r.choice([1, 64])
        lookbacks, cadences = zip(*(self.pane_lengths(NANOS) for _ in range(size)))
        given = [Given(name, form, values if form == "column" else values[:1] * size)
                 for name, form, values in (("lookback", by[0], lookbacks), ("cadence", by[1], cadences))]
        arguments = Arguments(np.arange(size))
        call = f"{function}({', '.join(arguments.expression(*one) for one in given)})"

        def alone(row):
            return f"SELECT {function}({literals(*(one.values[row] for one in given))})"

        if refused := constant_refusals(NANOS, given):
            sql = f"SELECT {call} FROM {s.source('scan', arguments.columns)}"
            s.refuse(sql, "Binder", function, refused, arguments.parameters, alone(0))
            return
        reasons = [group_refusals(NANOS, given, g) for g in range(size)]
        expected = [oracle.pane(lookback.nanos, cadence and cadence.nanos) if refused == [] else None
                    for refused, lookback, cadence in zip(reasons, *(one.values for one in given))]
        self.compare_intervals(function, call, arguments, sum(filter(None, reasons), []), expected, alone)

    def pane_lengths(self, of):
        """A lookback, and a cadence that mostly shares a pane with it that is not much shorter."""
        s, r = self.session, self.random
        unit = s.width(of)
        lookback = Interval.of(unit.nanos * r.choice([1, 2, 5, 10, 60, 1023, 1024, 1025, 5000]), r)
        shared = Interval.of(unit.nanos * r.choice([1, 2, 3, 7, 60, 120]), r)
        cadence = r.choice([None, Interval(0, 0), lookback, shared, shared, shared, s.width(of)])
        return self.mostly(of, lookback), cadence and self.mostly(of, cadence)

    def cadence(self):
        s, r, function = self.session, self.random, "time_bucket_cadence"
        of = r.choice(s.types)
        by = r.choice(["column", "column", "literal", "prepared"])
        lists = [self.schedule(of) for _ in range(r.choice([1, 50, 2000]) if by == "column" else 1)]
        reasons = [oracle.times_refusals(of, times or []) for times in lists]
        expected = [None if times is None or refused else oracle.cadence(times) * of.nanos for times, refused in zip(lists, reasons)]
        arguments = Arguments(np.arange(len(lists)))

        def call(row, form):
            times = ", ".join(arguments.constant(form, Timestamp(of, tick)) for tick in lists[row] or [])
            return f"{function}({f'NULL::{of.name}[]' if lists[row] is None else f'[{times}]::{of.name}[]'})"

        if by == "column" or any(unprintable(Timestamp(of, tick)) for tick in lists[0] or []):
            column = pa.array(lists, pa.list_(pa.int64()))
            times = column.values.view(arrow_type(of))
            arguments.columns["times"] = pa.ListArray.from_arrays(column.offsets, times, mask=column.is_null())
            asked = f"{function}(times)"
        else:
            asked = call(0, by)
        self.compare_intervals(function, asked, arguments, sum(reasons, []), expected, lambda row: f"SELECT {call(row, 'literal')}")

    def schedule(self, of):
        """Times on a common step, mostly of whole microseconds: some, none, NULL, or with NULL or infinity among them."""
        r, kind = self.random, self.random.random()
        if kind < 0.05:
            return None
        step = int(2 ** r.uniform(0, 40)) * (1000 if of.nanos == 1 and r.random() < 0.95 else 1)
        first = r.choice([0, of.low, of.high, r.randint(of.low, of.high)])
        times = [first + step * r.randint(-1000, 1000) for _ in range(5000 if kind > 0.998 else r.choice([0, 1, 2, 3, 10]))]
        times = [tick for tick in times if of.finite(tick)]
        if times and kind < 0.06:
            times[r.randrange(len(times))] = r.choice([None, *INFINITIES])
        return times

    def compare_intervals(self, function, call, arguments, reasons, expected, alone):
        """The interval of each row; `alone` writes the query of one."""
        s = self.session
        source = s.source("scan", arguments.columns)

        def compare(result, sql):
            got = nanos(result, "b")
            if len(got) != len(expected):
                raise Difference(f"{sql} -- {len(got)} rows, not {len(expected)}")
            for row, (one, other) in enumerate(zip(got, expected)):
                if one != other:
                    raise Difference(f"{alone(row)} -- gives {one} ns, not {other}; found by: {sql}")

        s.ask(lambda call: f"SELECT {fields('b')} FROM (SELECT i, {call} AS b FROM {source}) ORDER BY i", call, function,
              reasons, arguments.parameters, alone(0), compare)
        s.count(function, n=len(expected))

    # Tables: a column is a range, or a number that is the same in all rows

    def panes(self):
        s, r = self.session, self.random
        of, named = r.choice(s.types), {}
        lookback, cadence = self.pane_lengths(r.choice([of, of, of, NANOS]))
        reasons = refusals(NANOS, {"lookback": lookback, "cadence": cadence})
        width = 1 if reasons else oracle.pane(lookback.nanos, cadence and cadence.nanos)
        count = 0 if reasons else lookback.nanos // width
        budget = r.choice([1024] * 3 + [count] * 6 + [count - 1, count + 1, r.choice([0, -1, None])])
        if budget != 1024 or r.random() < 0.1:
            named["budget"] = BARE_NULL if budget is None else (budget := min(budget, INT64 - 1))
        reasons += oracle.budget_refusals(budget, count)
        columns = {"pane": range(count), "pane_offset": range(0, count * width, width), "pane_width": width}
        if r.random() < 0.7:
            at = named["at"] = self.point(of, int(s.ticks(of, 1, max(width // of.nanos, 1), 0)[0]))
            reasons += refusals(of, {"at": at})
            reasons += refusals(of, {"pane width": Interval(0, width // 1000)}) if not reasons else []
            if not reasons:
                bounds = oracle.panes(of, lookback.nanos // of.nanos, width // of.nanos, at.tick)
                self.bound(columns, reasons, ["pane_start", "pane_end"], bounds, ["at"])
                if bounds is not oracle.OUT:
                    columns["staleness"] = oracle.staleness(of, at.tick, bounds[1][0])
        elif r.random() < 0.1:
            named["at"] = BARE_NULL  # as if it were not said
        self.compare_table("time_bucket_panes", [lookback, cadence], named, of, columns, reasons)

    def series(self):
        s, r = self.session, self.random
        of, named = r.choice(s.types), {}
        width = self.mostly(of, s.width(of))
        if r.random() < 0.5:
            kind = s.origin_type(of)
            named["origin"] = s.odd_point(kind) if r.random() < 0.03 else s.origin(of, kind)
        reasons = refusals(of, {"width": width, **named})
        grid = (width.nanos // of.nanos, named["origin"].nanos // of.nanos if named else 0) if not reasons else (1, 0)
        since, until = self.range(of, *grid)
        reasons += refusals(of, {"from": since})
        reasons += refusals(of, {"until": until}) if until.of == of else ["until '.*' is of another type than from"]
        columns = {}
        if not reasons:
            if until.tick < since.tick:
                reasons.append("until '.*' is before from")
            else:
                buckets = oracle.series(of, *grid, since.tick, until.tick)
                self.bound(columns, reasons, ["window_start", "window_end"], buckets, ["from", "until"])
        self.compare_table("time_bucket_series", [width, since, until], named, of, columns, reasons)

    def range(self, of, width, anchor):
        """From and until, mostly some buckets apart, now and then backwards or of different types."""
        s, r = self.session, self.random
        since, until = map(int, s.ticks(of, 2, width, anchor))
        if r.random() < 0.9:
            count = r.choice([0, 1, 2, 3, 100, 2047, 2048, 2049, 5000, 20_000, r.choice([1, MOST_ROWS])])
            until = min(max(since + count * width + r.choice([0, 0, -1, 1]), of.low), of.high)
        since, until = sorted([since, until], reverse=r.random() < 0.05)
        until = Timestamp(r.choice(s.types), 0) if r.random() < 0.03 else self.point(of, until)
        return self.point(of, since), until

    def cover(self):
        s, r = self.session, self.random
        of = r.choice(s.types)
        slide = s.width(of)
        size = Interval.of(slide.nanos * r.choice([1, 2, 3, 60]), r)
        lookback = Interval.of(size.nanos * r.choice([1, 2, 3, 10, 100, 2048, 2049, r.choice([1, 1, 1, MOST_ROWS])]), r)
        if r.random() < 0.1:
            size, lookback = s.times(of, size, 1), s.times(of, lookback, 1)
        at = self.point(of, int(s.ticks(of, 1, slide.nanos // of.nanos, 0)[0]))
        lengths = {name: self.mostly(of, length) for name, length in (("lookback", lookback), ("size", size), ("slide", slide))}
        reasons = refusals(of, lengths)
        if not reasons:
            reasons += oracle.multiple_refusals({name: length.nanos for name, length in lengths.items()})
        reasons += refusals(of, {"at": at})
        columns = {}
        if not reasons:
            lookback, size, slide = (length.nanos // of.nanos for length in lengths.values())
            tiles = oracle.cover(of, at.tick, lookback, size, slide)
            self.bound(columns, reasons, ["window_start", "window_end"], tiles, ["at"])
        if columns:
            end = columns["window_end"][-1]
            columns |= {"aligned_end": end, "staleness": oracle.staleness(of, at.tick, end), "windows": lookback // size}
        self.compare_table("time_bucket_cover", [at, *lengths.values()], {}, of, columns, reasons)

    @staticmethod
    def bound(columns, reasons, names, spans, arguments):
        """Adds the starts and ends of spans as columns, or that they are out of range."""
        if spans is OUT:
            reasons += oracle.window_refusals(*arguments)
        else:
            columns.update(zip(names, spans))

    def compare_table(self, function, positional, named, of, columns, reasons):
        s, r, arguments = self.session, self.random, Arguments()

        def call(form):
            values = [arguments.constant(form(), value) for value in positional]
            values += [f"{name} := {arguments.constant(form(), value)}" for name, value in named.items()]
            return f"{function}({', '.join(values)})"

        source, alone = call(lambda: r.choice(TABLE_FORMS)), call(lambda: "literal")
        if reasons:
            s.refuse(f"SELECT * FROM {source}", "Binder", function, reasons, arguments.parameters, f"SELECT * FROM {alone}")
            return
        rows, limit = next(iter(columns.values())), ""
        if rows[MOST_ROWS:]:
            rows, limit = rows[:FIRST_ROWS], f" LIMIT {FIRST_ROWS}"
        intervals = [name for name in columns if name in INTERVALS]
        select = ", ".join([f"* EXCLUDE ({', '.join(intervals)})" if intervals else "*", *map(fields, intervals)])
        sql = f"SELECT {select} FROM {source}{limit}"
        result = s.answer(sql, arguments.parameters, f"SELECT * FROM {alone}{limit}")
        names = [name for name in columns if name not in INTERVALS] + [f"{name}_{field}" for name in intervals for field in Interval.TO]
        if result.column_names != names or len(result) != len(rows):
            raise Difference(f"SELECT * FROM {alone}{limit} -- {len(result)} rows of {result.column_names}, not {len(rows)} of {names}; "
                             f"found by: {sql}")
        for name, column in columns.items():
            expected = list(column[: len(rows)]) if isinstance(column, range) else [column] * len(rows)
            got = nanos(result, name) if name in INTERVALS else self.numbers(result, name, of, sql)
            if got != expected:
                row = next(row for row in range(len(got)) if got[row] != expected[row])
                raise Difference(f"SELECT {name} FROM {alone} LIMIT 1 OFFSET {row} -- gives {got[row]}, not {expected[row]}; found by: {sql}")
        s.count(function, of.name, n=len(rows))

    @staticmethod
    def numbers(result, name, of, sql):
        """Integers or ticks."""
        column = result[name].combine_chunks()
        if column.type != (pa.int64() if name in INTEGERS else arrow_type(of)):
            raise Difference(f"{sql} -- {name} is of type {column.type}")
        return column.view(pa.int64()).to_numpy(zero_copy_only=False).tolist()
