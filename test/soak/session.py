"""What the blocks of the soak test have in common: one connection, random arguments and rows, and what was compared.

How an argument reaches its function (literal, folded expression, prepared parameter, column) is drawn apart from its
value. Ticks go in and come out as Arrow int64, so no value is changed on its way.
"""

import random
import re
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from oracle import DATE, DAY, INFINITIES, INT64, TYPES, Type, refusals

warnings.filterwarnings("ignore", message="Arrow output on a DB-API")
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


TRIED = 3000  # rows: TRY takes those of a chunk with an error one by one, so of more rows those are left out
BARE_NULL = object()  # without a type


class Difference(Exception):
    pass


def message(error):
    """Without the part of the query that the engine shows below it."""
    return str(error).split("\n")[0]


def unprintable(timestamp):
    """Within a day of the range's ends 1.5.6 fails to print nanoseconds, and it prints the constants of a call that fails."""
    return timestamp.of.nanos == 1 and timestamp.tick is not None and abs(timestamp.tick) > INT64 - 2 * DAY


def arrow_type(of):
    return pa.date32() if of is DATE else pa.timestamp(ARROW[of.nanos], "UTC" if of.instant else None)


def arrow(of, ticks, valid=None):
    """A column of this type from ticks: an array of them, or a list with None for NULL."""
    if of is DATE:
        # Its infinities are those of 32 bits.
        return pa.array([tick and max(-(2**31) + 1, min(tick, 2**31 - 1)) for tick in ticks], pa.int32()).view(pa.date32())
    return pa.array(ticks, pa.int64(), mask=None if valid is None else ~valid).view(arrow_type(of))


class Interval:
    """Months, days of 24 hours and microseconds, which the engine keeps apart. Only without months is it fixed."""

    TO = {"months": "to_months({}::INTEGER)", "days": "to_days({}::INTEGER)", "microseconds": "to_microseconds({}::BIGINT)"}

    def __init__(self, days, micros, months=0):
        self.fields = {"months": months, "days": days, "microseconds": micros}
        if not months:
            del self.fields["months"]
        self.months, self.nanos = months, None if months else days * DAY + micros * 1000

    @classmethod
    def sum(cls, fields):
        """An expression for the interval that these expressions are the fields of."""
        return f"({' + '.join(cls.TO[name].format(field) for name, field in fields.items())})"

    def text(self):
        return f"'{' '.join(f'{field} {name}' for name, field in self.fields.items())}'"

    def literal(self):
        return f"INTERVAL {self.text()}"

    def folded(self):
        return self.sum(self.fields)

    def prepared(self, parameter):
        return self.sum({name: parameter(field) for name, field in self.fields.items()})

    @classmethod
    def column(cls, name, values):
        """The columns that make one of these values, None for NULL, and the expression over them."""
        fields = [field for field in cls.TO if field != "months" or any(value.months for value in values if value)]
        columns = {f"{name}_{field}": pa.array([value and value.fields.get(field, 0) for value in values]) for field in fields}
        return columns, cls.sum(dict(zip(fields, columns)))

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


@dataclass(frozen=True)
class Timestamp:
    of: Type
    tick: int | None

    @property
    def nanos(self):
        return self.tick * self.of.nanos

    def literal(self):
        return f"NULL::{self.of.name}" if self.tick is None else self.of.sql(self.tick)

    folded = text = literal

    def prepared(self, parameter):
        if self.tick is None or self.tick in INFINITIES:
            return self.literal()
        return self.of.make.format(parameter(self.of.number(self.tick)))

    @staticmethod
    def column(name, values):
        return {name: arrow(values[0].of, [value.tick for value in values])}, name


class Given(NamedTuple):
    """An argument: its name, how it reaches the call, and its value for each group of rows."""

    name: str
    by: str
    values: list


def constant_refusals(of, given):
    """Why the query can't be bound."""
    return refusals(of, {one.name: one.values[0] for one in given if one.by != "column"})


def group_refusals(of, given, g):
    """Why a row of this group is an error; None if a NULL makes it NULL, which that of a cadence does not."""
    values = {one.name: one.values[g] for one in given}
    if any(value is None or getattr(value, "tick", 0) is None for name, value in values.items() if name != "cadence"):
        return None
    return refusals(of, values)


class Arguments:
    """The arguments of a call as constants, as parameters, or as columns, where a row has the value of its group."""

    def __init__(self, group=()):
        self.group, self.columns, self.parameters = pa.array(group), {"i": pa.array(np.arange(len(group)))}, []

    def parameter(self, value):
        self.parameters.append(value)
        return f"${len(self.parameters)}"

    def constant(self, by, value):
        if value is None:
            return "NULL::INTERVAL"
        if value is BARE_NULL:
            return "NULL"
        if isinstance(value, int):
            return self.parameter(value) if by == "prepared" else str(value)
        return value.prepared(self.parameter) if by == "prepared" else getattr(value, by)()

    def expression(self, name, by, values):
        if by != "column":
            return self.constant(by, values[0])
        columns, expression = next((type(value) for value in values if value), Interval).column(name, values)
        self.columns |= {name: column.take(self.group) for name, column in columns.items()}
        return expression


def literals(*values):
    return ", ".join(Arguments().constant("literal", value) for value in values)


class Session:
    """The connection, what draws the arguments and rows, and what was compared so far."""

    REPEATED = 3000  # times, a row as a constant vector

    def __init__(self, extension, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.con = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": 2})
        self.con.execute(f"LOAD '{extension}'")
        self.con.execute("SET TimeZone = 'UTC'")
        major = int(duckdb.__version__.split(".")[0])
        self.types = [of for of in TYPES if of.since <= major]
        self.values = self.queries = 0
        self.counted = {}

    # Arguments

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

    def origin_type(self, of):
        """Of any precision of the same kind."""
        kinds = [kind for kind in self.types if kind.instant == of.instant] + [DATE] * (not of.instant)
        return of if self.random.random() < 0.5 else self.random.choice(kinds)

    def origin(self, of, kind):
        """Finite, and whole in `of`."""
        r, common = self.random, max(of.nanos, kind.nanos)
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
                return Timestamp(kind, tick)

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

    def times(self, of, length, ratio):
        """About so many times this length."""
        r, tick = self.random, max(of.nanos, 1000)
        while True:
            ticks = max(length.nanos * ratio // tick, 1) + r.choice([0, 0, 0, -1, 1])
            scaled = Interval.of(ticks * tick, r)
            if not refusals(of, {"length": scaled}):
                return scaled

    def odd_interval(self, of):
        """None for NULL, or mostly refused: calendar, not positive, too fine."""
        r, tick = self.random, max(of.nanos // 1000, 1)
        return r.choice([
            lambda: None,
            lambda: Interval(r.choice([0, -30, 30]), r.choice([0, 0, 5]), months=r.choice([-1, 1, 12, 14])),
            lambda: Interval(0, r.choice([0, -1, -1000, -DAY])),
            lambda: Interval(0, r.randint(1, 10**9) * tick + r.randint(0, tick - 1)),
        ])()

    def odd_point(self, of):
        """NULL, infinite, or near the epoch, where it is mostly too fine for another type."""
        return Timestamp(of, self.random.choice([None, *INFINITIES, self.random.randint(of.low // 10**6, of.high // 10**6)]))

    def several(self, by, pool, draw):
        """A value for each group: different ones only in a column."""
        values = [draw() for _ in range(pool)]
        return values if by == "column" else values[:1] * pool

    def anchors(self, of, by, pool):
        """The last argument of each group's calls, what it is, and how it reaches them."""
        r = self.random
        anchored = r.choice(["epoch", "epoch", "offset", "origin"])
        if anchored == "epoch":
            return [None] * pool, anchored, by
        if anchored == "offset":
            return self.several(by, pool, lambda: self.offset(of)), anchored, by
        kind = self.origin_type(of)
        values = [self.origin(of, kind) for _ in range(pool)]
        by = "column" if unprintable(values[0]) else by
        return values if by == "column" else values[:1] * pool, anchored, by

    # Rows

    def groups(self, size, pool):
        """Each row's group, in runs."""
        run = self.random.choice([1, 3, 15, 16, 17, 100, 3000])
        return np.repeat(self.numpy.integers(0, pool, size // run + 1), run)[:size]

    def source(self, rows_by, columns):
        """What to select these columns from."""
        self.con.register("t", pa.table(columns))
        if rows_by == "table":
            self.con.execute("CREATE OR REPLACE TEMP TABLE s AS FROM t")
        return {
            "table": "s",
            "join": "(SELECT t.i, u.* EXCLUDE (i) FROM t JOIN t u ON u.i = t.i)",
            "list": "(SELECT unnest(list(t ORDER BY i), recursive := true) FROM t)",
            "constant": f"(SELECT * FROM (FROM t LIMIT 1), range({self.REPEATED}))",
        }.get(rows_by, "t")

    # Queries

    def execute(self, sql, parameters):
        """The result as an Arrow table."""
        self.queries += 1
        # A relation with parameters passes its values through Python objects on 1.5.6, which lose range.
        return (self.con.execute(sql, parameters) if parameters else self.con.sql(sql)).to_arrow_table()

    def answer(self, sql, parameters=(), alone=None):
        """The same, of a query that must not fail; `alone` shows it without the table of the rows."""
        try:
            return self.execute(sql, parameters)
        except duckdb.Error as error:
            raise Difference(f"{alone or sql} -- {message(error)}; found by: {sql}") from None

    def refuse(self, sql, kind, function, reasons, parameters=(), alone=None):
        """Runs a query that has to fail, for one of the reasons."""
        expected = f"{kind} Error: {function}: ({'|'.join(dict.fromkeys(reasons))})"
        try:
            self.execute(sql, parameters)
        except duckdb.Error as error:
            if not re.match(expected, str(error)):
                raise Difference(f"{alone or sql} -- {message(error)}, not {expected}; found by: {sql}") from None
        else:
            raise Difference(f"{alone or sql} -- no error, but: {expected}; found by: {sql}")
        self.count("refusals", n=1)

    def ask(self, select, call, function, reasons, parameters, first, compare):
        """Compares the rows of `select(call)`. With reasons some have to fail, and are NULL with TRY. `first` shows one row alone."""
        sql, tried = select(call), select(f"TRY({call})")
        if reasons:
            compare(self.answer(tried, parameters, first), tried)
            self.refuse(sql, "Invalid Input", function, reasons, parameters)
            return
        try:
            result = self.execute(sql, parameters)
        except duckdb.Error as error:
            # With TRY, the row that fails is one that differs.
            compare(self.answer(tried, parameters, first), f"{tried}, and without TRY {message(error)}")
            raise Difference(f"{sql} -- {message(error)}") from None
        compare(result, sql)

    def count(self, *keys, n):
        self.values += n
        for key in keys:
            self.counted[key] = self.counted.get(key, 0) + n
