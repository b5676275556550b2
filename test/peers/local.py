#!/usr/bin/env python3
"""The same instants through other programs' buckets of local time, and through DuckDB's own ways, without the extension.

    build/peers/bin/python test/peers/local.py --extension FILE [--write]

Each answer is compared with the oracle of test/soak/clock.py, on the grid of the program compared: weeks start on Mondays.
Ours has to agree in all; every other difference has to fall under one of RULES, or it is an error. --write puts the
tables, with the smallest input of each kind of difference, into docs/compatibility.md; without it they are checked.
"""

import argparse
import sys
import tempfile
import warnings
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import chdb.session
import document
import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "soak"))
import clock  # noqa: E402
from oracle import TYPES  # noqa: E402

warnings.filterwarnings("ignore")
BEGIN, END = "<!-- local time, written by make peers -->\n", "<!-- end of local time -->\n"
MICROS = next(of for of in TYPES if of.name == "TIMESTAMPTZ")
SECOND = 10**6
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
MONDAY = 4 * DAY  # 1970-01-05
# Of the clocks that do something: an hour, half an hour, two and three, at midnight, a whole day, seconds, a quarter, none.
ZONES = ["America/New_York", "Europe/London", "Australia/Lord_Howe", "Antarctica/Troll", "Antarctica/Casey", "America/Havana",
         "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "Africa/Monrovia", "Asia/Kathmandu", "Asia/Kolkata"]
SINCE, UNTIL = 10 * 86_400, 1_750_000_000  # 1970 to 2025, where all have the same data
NO_ANSWER = "an error"


@dataclass
class Width:
    text: str
    ticks: int
    polars: str
    pandas: str | None
    clickhouse: str
    trunc: str | None = None
    origin: int = 0


WIDTHS = [
    Width("15 minutes", 15 * MINUTE, "15m", "15min", "15 MINUTE"),
    Width("1 hour", HOUR, "1h", "1h", "1 HOUR", "hour"),
    Width("4 hours", 4 * HOUR, "4h", "4h", "4 HOUR"),
    Width("1 day", DAY, "1d", "1D", "1 DAY", "day"),
    Width("7 days", 7 * DAY, "1w", None, "1 WEEK", "week", MONDAY),
]


def instants(zone):
    """Round each change of the clock, and some anywhere, the same in every run."""
    rng = np.random.default_rng(3)
    changes = np.array([since for since in zone.since if SINCE < since < UNTIL] or [SINCE])
    near = rng.choice(changes, 500) * SECOND + rng.choice([-1, 0, 1, 30 * MINUTE, -30 * MINUTE, HOUR, -HOUR], 500)
    near[::2] += rng.integers(-30 * HOUR, 30 * HOUR, 250)
    ticks = np.concatenate([near, rng.integers(SINCE * SECOND, UNTIL * SECOND, 300)])
    return np.unique(ticks[(ticks > SINCE * SECOND) & (ticks < UNTIL * SECOND)])


class DuckDB:
    """An expression over ts, zone and width; without the extension, unless it is given."""

    def __init__(self, expression, extension=None, widths=None):
        self.connection = duckdb.connect(config={"allow_unsigned_extensions": True})
        if extension:
            self.connection.execute(f"LOAD '{extension}'")
        self.expression, self.widths = expression, widths

    def __call__(self, zone, width, ticks):
        self.connection.execute(f"SET TimeZone = '{zone.name}'")
        self.connection.register("t", pa.table({"x": ticks}))
        expression = self.expression.format(width=width.text, zone=zone.name, trunc=width.trunc, origin="1970-01-05")
        rows = self.connection.execute(f"SELECT epoch_us({expression}) AS b FROM (SELECT make_timestamptz(x) AS ts FROM t)").to_arrow_table()
        return rows["b"].to_pylist()

    def takes(self, width):
        return self.widths is None or self.widths(width)


class Polars:
    def __call__(self, zone, width, ticks):
        series = polars.Series(ticks).cast(polars.Datetime("us", "UTC")).dt.convert_time_zone(zone.name)
        return series.dt.truncate(width.polars).to_physical().to_list()

    def takes(self, width):
        return True


class Pandas:
    def __call__(self, zone, width, ticks):
        series = pandas.Series(pa.array(ticks, pa.timestamp("us", "UTC")).to_pandas()).dt.tz_convert(zone.name)
        return series.dt.floor(width.pandas).dt.tz_convert("UTC").astype("datetime64[us, UTC]").astype("int64").tolist()

    def takes(self, width):
        return width.pandas is not None


class ClickHouse:
    def __init__(self):
        self.session = chdb.session.Session()
        self.version = str(self.session.query("SELECT version()", "TSV")).strip()

    def __call__(self, zone, width, ticks):
        with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
            pyarrow.parquet.write_table(pa.table({"i": np.arange(len(ticks)), "x": ticks}), file.name)
            start = f"toStartOfInterval(fromUnixTimestamp64Micro(x, '{zone.name}'), INTERVAL {width.clickhouse}, '{zone.name}')"
            sql = f"SELECT toUnixTimestamp64Micro(toDateTime64({start}, 6, '{zone.name}')) FROM file('{file.name}', Parquet) ORDER BY i"
            return [int(line) for line in str(self.session.query(sql, "TSV")).split()]

    def takes(self, width):
        return True


@dataclass
class Case:
    """A row where a program differs."""

    zone: clock.Zone
    width: Width
    tick: int
    start: int
    theirs: int | str

    def offset(self, tick):
        return self.zone.offset(tick // SECOND) * SECOND

    @property
    def jumped(self):
        """The bucket starts at a jump of the clock, at a reading that is no point of the grid."""
        return (self.start + self.offset(self.start) - self.width.origin) % self.width.ticks != 0

    @property
    def twice(self):
        """The clock shows the start's reading, or the row's, at two instants."""
        return any(len(self.shown(tick + self.offset(tick))) > 1 for tick in (self.start, self.tick))

    def shown(self, reading):
        """The instants at which the clock shows this."""
        return {reading - offset * SECOND for offset in set(self.zone.offsets) if self.offset(reading - offset * SECOND) == offset * SECOND}

    @property
    def off_grid(self):
        """The offset differs from another of the zone by no whole width, and a day has whole widths."""
        return DAY % self.width.ticks == 0 and self.width.ticks < DAY and any((offset * SECOND - self.offset(self.start)) % self.width.ticks
                                                                              for offset in self.zone.offsets)


LATER = "Theirs: the start's reading is turned back into an instant, and where the clock shows it twice, into the later one, which may lie after its own `ts`. Ours: the bucket starts where it did."
SKIPPED = "Theirs: the start's reading was jumped over, and stands for another instant, which may lie after its own `ts`. Ours starts at the jump."
AGAIN = "Theirs: where the clock is set back over a bucket's start, the earlier readings are put into the earlier bucket again, which is then two stretches of time. Ours goes on with the bucket that has begun."
# Program, widths (None: all), which of its differences: why. What no rule explains is an error.
RULES = [
    ("DuckDB time_bucket", ("15 minutes", "1 hour", "4 hours"), lambda case: case.off_grid,
     "Theirs: whole widths from the instant of its origin, 2000-01-03 00:00 at the offset of that day, so that the grid leaves the clock when that changes by no whole width."),
    ("DuckDB time_bucket", ("7 days",), lambda case: case.zone.name == "Pacific/Apia",
     "Theirs: weeks of seven days that happened; Apia left out a Friday, so that its weeks start on Tuesday since. Ours are of seven dates."),
    ("DuckDB time_bucket", ("1 day", "7 days"), lambda case: (case.theirs + case.offset(case.theirs)) % DAY != 0,
     "Theirs: where midnight is jumped over, the bucket before it begins as late as the one after."),
    ("DuckDB time_bucket", None, lambda case: case.jumped, SKIPPED),
    ("DuckDB AT TIME ZONE", None, lambda case: case.jumped, SKIPPED),
    ("DuckDB date_trunc", None, lambda case: case.jumped, SKIPPED),
    ("Polars", None, lambda case: case.theirs == NO_ANSWER and case.jumped, "Theirs: a start whose reading was jumped over is an error, of the whole column. Ours starts at the jump."),
    ("Polars", ("15 minutes", "1 hour"), lambda case: case.theirs < case.start and case.tick // SECOND in case.zone.since,
     "Theirs: a row at the very instant of the change is put where the one of the same reading before it was."),
    ("Polars", None, lambda case: case.theirs != NO_ANSWER and case.theirs > case.start and case.twice,
     "Theirs: the start's reading comes twice, and the one of the row's own offset is taken, so that the bucket is cut where the clock changes."),
    ("pandas", None, lambda case: case.theirs == NO_ANSWER and (case.jumped or case.twice),
     "Theirs: a reading that comes twice or never is an error, of the whole column, unless another rule is given for all of them."),
    ("ClickHouse", ("15 minutes", "1 hour", "4 hours"), lambda case: case.off_grid,
     "Theirs: below a day, hours are counted from where they were at some other offset of the zone."),
    ("ClickHouse", None, lambda case: case.jumped, SKIPPED),
    ("", None, lambda case: case.theirs != NO_ANSWER and case.theirs < case.start and case.twice, AGAIN),
    ("DuckDB", None, lambda case: case.theirs > case.start and case.twice, LATER),
    ("ClickHouse", None, lambda case: case.theirs > case.start and case.twice, LATER),
]


def compare(name, peer):
    """How many answers are right for each width, and the cases that differ."""
    same, cases = {}, []
    for width in filter(peer.takes, WIDTHS):
        for zone in map(clock.zone, ZONES):
            ticks = instants(zone)
            (starts, _), _ = clock.edges(MICROS, zone, width.ticks, width.origin, ticks)
            for tick, start, theirs in zip(ticks.tolist(), starts.tolist(), answers(peer, zone, width, ticks)):
                right = theirs == start
                same.setdefault(width.text, [0, 0])[not right] += 1
                cases += [] if right else [Case(zone, width, tick, start, theirs)]
    return same, cases


def answers(peer, zone, width, ticks):
    """One error would be that of all, so then one by one."""
    try:
        return peer(zone, width, ticks)
    except Exception:
        if len(ticks) == 1:
            return [NO_ANSWER]
        half = len(ticks) // 2
        return answers(peer, zone, width, ticks[:half]) + answers(peer, zone, width, ticks[half:])


def explained(name, case):
    for peer, widths, holds, why in RULES:
        if name.startswith(peer) and (widths is None or case.width.text in widths) and holds(case):
            return why
    return None


def shown(zone, tick):
    """On the zone's clock."""
    if tick == NO_ANSWER:
        return tick
    second, micros = divmod(tick, SECOND)
    at = timezone(timedelta(seconds=zone.offset(second)))
    return (datetime.fromtimestamp(second, at) + timedelta(microseconds=micros)).isoformat(" ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    clickhouse = ClickHouse()
    whole_days = lambda width: width.ticks >= DAY  # noqa: E731
    duck = f"DuckDB {{}}, {duckdb.__version__}"
    peers = {
        "This extension": DuckDB("time_bucket(INTERVAL '{width}', ts, '{zone}', DATE '{origin}')", arguments.extension),
        duck.format("time_bucket with a zone"): DuckDB("time_bucket(INTERVAL '{width}', ts, '{zone}')"),
        duck.format("AT TIME ZONE, there and back"):
            DuckDB("time_bucket(INTERVAL '{width}', ts AT TIME ZONE '{zone}', TIMESTAMP '{origin}') AT TIME ZONE '{zone}'"),
        duck.format("date_trunc in the zone"): DuckDB("date_trunc('{trunc}', ts)", widths=lambda width: width.trunc is not None),
        f"Polars {polars.__version__}, convert_time_zone and truncate": Polars(),
        f"pandas {pandas.__version__}, tz_convert and floor": Pandas(),
        f"ClickHouse {clickhouse.version}, toStartOfInterval with a zone": clickhouse,
    }
    columns = [width.text for width in WIDTHS]
    summary = f"| program | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n"
    table = "| program | widths | rows | zone | ts | theirs | ours | why |\n|---|---|---|---|---|---|---|---|\n"
    failed = False
    for name, peer in peers.items():
        same, cases = compare(name, peer)
        cells = [f"{same[text][1]:,} of {sum(same[text]):,}" if text in same else "" for text in columns]
        summary += f"| {name} | {' | '.join(cells)} |\n"
        kinds = {}
        for case in cases:
            why = None if peer is peers["This extension"] else explained(name, case)
            if why is None:
                failed = True
                print(f"local: {name}: not explained: {case.zone.name}, {case.width.text}: {shown(case.zone, case.tick)} "
                      f"{shown(case.zone, case.theirs)} {shown(case.zone, case.start)}", file=sys.stderr)
            kinds.setdefault(why, []).append(case)
        for why, found in kinds.items():
            case = min(found, key=lambda case: case.tick)
            widths = ", ".join(text for text in columns if any(case.width.text == text for case in found))
            table += (f"| {name} | {widths} | {len(found):,} | {case.zone.name}, {case.width.text} | {shown(case.zone, case.tick)} "
                      f"| {shown(case.zone, case.theirs)} | {shown(case.zone, case.start)} | {why} |\n")
    if failed:
        sys.exit(1)
    text = f"Rows that differ:\n\n{summary}\nEach kind of difference with the smallest input that shows it, on the zone's clock:\n\n{table}"
    document.keep(BEGIN, END, text, arguments.write)
    print(summary, end="")


if __name__ == "__main__":
    main()
