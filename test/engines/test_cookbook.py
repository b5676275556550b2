"""The answers of docs/cookbook.md against plain Python over the same rows, on every engine; that the page shows them, check_docs.py says."""
import re
import statistics
from datetime import UTC, datetime, timedelta
from itertools import pairwise

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
    first = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()) // 60
    visits = []  # a user, and the minutes of one visit
    for user, minute in views:
        if visits and visits[-1][0] == user and minute - visits[-1][1][-1] < 30:
            visits[-1][1].append(minute)
        else:
            visits.append((user, [minute]))
    wanted = []
    for week in range(4):
        of_week = [visit for visit in visits if (visit[1][0] - first) // 10_080 == week]
        count = len(of_week)
        wanted.append(text(
            datetime(2026, 3, 1) + timedelta(weeks=week), count, len({user for user, _ in of_week}), round(sum(len(seen) for _, seen in of_week) / count, 2),
            float(statistics.median(seen[-1] - seen[0] for _, seen in of_week)), round(sum(len(seen) == 1 for _, seen in of_week) / count, 3)))
    assert weeks == wanted

    def users(since, until):
        return len({user for user, minute in views if since <= (minute - first) // 1440 < until})
    assert days == [text(datetime(2026, 3, 1 + day).date(), users(day, day + 1), users(day - 6, day + 1), round(users(day, day + 1) / users(day - 6, day + 1), 3))
                    for day in range(20, 28)]
