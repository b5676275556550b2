"""The answers of docs/cookbook.md against plain Python over the same rows, on every engine; that the page shows them, check_docs.py says."""
import math
import re
import statistics
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import duckdb
import pytest

from conftest import ROOT

PAGE = (ROOT / "docs/cookbook.md").read_text(encoding="utf-8")


@pytest.fixture
def answers(con):
    """Runs a section of the page; the rows of its queries, each value as text."""
    def run(heading):
        section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        found = []
        for block in re.findall(r"^```sql\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
            for statement in duckdb.extract_statements(block):
                if statement.type == duckdb.StatementType.SELECT:
                    found.append(con.sql(f"SELECT COLUMNS(*)::VARCHAR FROM ({statement.query.strip().rstrip(';')})").fetchall())
                else:
                    con.execute(statement)
        return found
    return run


def text(*values):
    return tuple(str(value) for value in values)


def grew(before, after):
    """What a counter was raised by, when it may have started again from zero."""
    return after - before if after >= before else after


def test_p95_and_error_rate(con, answers):
    (rows,) = answers("The 95th percentile and the error rate of each host, each minute")
    assert len(rows) == 4
    for at, host, n, p95, error_rate, exact in rows:
        calls = con.execute("SELECT ms, failed FROM calls WHERE host = ? AND ts >= ?::TIMESTAMP - INTERVAL '5 minutes' AND ts < ?", [host, at, at]).fetchall()
        quantile = sorted(ms for ms, _ in calls)[math.ceil(0.95 * len(calls)) - 1]
        assert (n, error_rate, exact) == text(len(calls), round(sum(failed for _, failed in calls) / len(calls), 4), quantile)
        assert abs(float(p95) - quantile) <= 0.01 * quantile


def test_meters_in_local_time(con, answers):
    night, days, filled = answers("Hourly energy from counters that start again, in each meter's local time")
    hours = defaultdict(lambda: [0, 0, 0])  # watt hours, minutes, resets of a meter and an hour of its wall clock, as an instant
    zones = dict(con.sql("SELECT meter, zone FROM meters").fetchall())
    for meter, zone in zones.items():
        readings = con.execute("SELECT epoch(ts)::BIGINT, total_wh FROM meter_readings WHERE meter = ? ORDER BY ts", [meter]).fetchall()
        for (since, before), (until, after) in pairwise(readings):
            local = datetime.fromtimestamp(since, ZoneInfo(zone))
            hour = hours[meter, local.replace(minute=0).astimezone(UTC)]
            for place, more in enumerate((grew(before, after), (until - since) // 60, after < before)):
                hour[place] += more

    def berlin(instant):
        return instant.astimezone(ZoneInfo("Europe/Berlin")).strftime("%Y-%m-%d %H:%M:%S%z")[:-2]
    midnight = datetime(2026, 10, 24, 22, tzinfo=UTC)
    instants = [midnight + timedelta(hours=hour) for hour in range(6)]
    assert night == [text(berlin(hour), berlin(hour + timedelta(hours=1)), *hours["DE-1", hour]) for hour in instants]

    wanted = []
    for day in (datetime(2026, 10, 4), datetime(2026, 10, 25), datetime(2026, 11, 1)):
        for meter, zone in sorted(zones.items()):
            start, end = (at.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) for at in (day, day + timedelta(days=1)))
            inside = [sums for (of, hour), sums in hours.items() if of == meter and start <= hour < end]
            energy, minutes, resets = (sum(column) for column in zip(*inside))
            length = (end - start) // timedelta(hours=1)
            wanted.append(text(meter, day.date(), length, length - len(inside), energy / 1000, round(energy / minutes * 60 / 1000, 4), resets))
    assert days == wanted
    assert [row[2] for row in days] == list(text(23, 24, 24, 24, 25, 24, 24, 24, 25))

    eastern = []
    for hour in range(14, 19):
        at = datetime(2026, 11, 1, hour, tzinfo=UTC)
        wh, minutes, _ = hours.get(("US-1", at), (None, 0, 0))
        eastern.append(tuple(None if value is None else str(value) for value in ("US-1", f"01 November, {hour - 5:02}:00", wh, minutes, str(wh is None).lower())))
    assert filled == eastern and [row[4] for row in filled] == ["false", "true", "true", "true", "false"]


def test_counters_each_minute(con, answers):
    (rows,) = answers("First, last and the rate of a counter, each minute, for each host")
    wanted = []
    for host in ("host 0", "host 1"):
        points = con.execute("SELECT epoch_ms(ts), total FROM served WHERE host = ? ORDER BY ts", [host]).fetchall()
        noon = points[0][0] // 60_000
        for minute in range(5, 11):
            window = [point for point in points if minute - 5 <= point[0] // 60_000 - noon < minute]
            increase = sum(grew(before[1], after[1]) for before, after in pairwise(window))
            rate = round(increase * 1000 / (window[-1][0] - window[0][0]), 3)
            wanted.append(text(host, f"2026-01-01 12:{minute:02}:00", window[0][1], window[-1][1], increase, rate))
    assert rows == wanted


def test_sessions_and_active_users(con, answers):
    weeks, days = answers("Visits, and users who are active")
    views = con.sql("SELECT user_id, epoch(ts)::BIGINT // 60 FROM views ORDER BY ALL").fetchall()

    def day_of(minute):
        """How many of Berlin's midnights lie between the first day and a time."""
        return (datetime.fromtimestamp(minute * 60, ZoneInfo("Europe/Berlin")).date() - datetime(2026, 3, 8).date()).days

    visits = []  # a user, and the minutes of one visit
    for user, minute in views:
        if visits and visits[-1][0] == user and minute - visits[-1][1][-1] < 30:
            visits[-1][1].append(minute)
        else:
            visits.append((user, [minute]))
    wanted = []
    for week in range(4):
        of_week = [visit for visit in visits if day_of(visit[1][0]) // 7 == week]
        count = len(of_week)
        wanted.append(text(
            (datetime(2026, 3, 8) + timedelta(weeks=week)).date(), count, len({user for user, _ in of_week}), round(sum(len(seen) for _, seen in of_week) / count, 2),
            float(statistics.median(seen[-1] - seen[0] for _, seen in of_week)), round(sum(len(seen) == 1 for _, seen in of_week) / count, 3)))
    assert weeks == wanted

    def users(since, until):
        return len({user for user, minute in views if since <= day_of(minute) < until})
    assert days == [text((datetime(2026, 3, 8) + timedelta(days=day)).date(), 23 if day == 21 else 24, users(day, day + 1), users(day - 6, day + 1),
                         round(users(day, day + 1) / users(day - 6, day + 1), 3))
                    for day in range(20, 28)]
