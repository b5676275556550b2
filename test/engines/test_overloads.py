"""What DuckDB's own time_bucket binds, it binds with the extension loaded too, to the same answer and the type of ts, or is
refused in words of ours. The engine itself, without LOAD, tells what it binds: every mix of kinds of arguments is tried on both.

The width is fixed and of 7 hours, so that an origin decides the answer. The session's time zone is not UTC.
"""

import datetime
import itertools

import duckdb
import pytest

TEXT, UNTYPED = "a string literal", "the bare word NULL"
# Each kind: SQL, and the value of a parameter.
WIDTHS = {
    "INTERVAL": ("INTERVAL '7 hours'", None),
    TEXT: ("'7 hours'", None),
    UNTYPED: ("NULL", None),
    "NULL::INTERVAL": ("NULL::INTERVAL", None),
    "parameter": ("?", datetime.timedelta(hours=7)),
    "text parameter": ("?", "7 hours"),
    "number": ("7", None),
    "VARCHAR": ("concat('7 hours')", None),
}
LOCAL = ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"]
INSTANT = ["TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"]


def times(date, time):
    typed = {name: (f"'{date} {time}'::{name}", None) for name in LOCAL}
    typed |= {name: (f"'{date} {time}+00'::{name}", None) for name in INSTANT}
    return typed | {
        "NULL::TIMESTAMP": ("NULL::TIMESTAMP", None),
        "DATE": (f"DATE '{date}'", None),
        "TIME": (f"TIME '{time}'", None),
        TEXT: (f"'{date} {time}'", None),
        UNTYPED: ("NULL", None),
        "VARCHAR": (f"concat('{date} {time}')", None),
        "number": ("5", None),
        "DOUBLE": ("5.5::DOUBLE", None),
        "INTERVAL": ("INTERVAL '1 hour'", None),
        "BOOLEAN": ("true", None),
        "parameter": ("?", datetime.datetime.fromisoformat(f"{date}T{time}")),
        "text parameter": ("?", f"{date} {time}"),
    }


TIMESTAMPS = times("2022-08-03", "14:38:50")
LASTS = {"": None} | times("2022-01-02", "03:00:00") | {"zone": ("'America/New_York'", None)}
ORIGINS = [*LOCAL, *INSTANT, "DATE", "parameter"]


def is_text(kind):
    return kind in (TEXT, "text parameter")


def refusal(width, ts, last):
    """What the extension says to a call that the engine binds; None for one that it binds too."""
    if width in (UNTYPED, "NULL::INTERVAL"):
        return "ts must be a timestamp|width must not be NULL" if is_text(ts) and last in (TEXT, "text parameter", "zone", "VARCHAR", "DATE", "TIME") else "NULL|DATE"
    if is_text(width) and ts == UNTYPED and (is_text(last) or last in ("VARCHAR", "zone", "TIME")):
        return "origin or offset must|a time zone"
    if ts == UNTYPED and (is_text(last) or last == "VARCHAR"):
        return "for an origin write"
    if ts == "DATE":
        return "DATE is not accepted"
    if is_text(ts) and (last in ("DATE", "TIME", "zone", "VARCHAR") or is_text(last)):
        return "ts must be a timestamp"
    is_local = ts in LOCAL or ts in ("parameter", "NULL::TIMESTAMP")
    if is_local and last in INSTANT:
        return "origin is an instant"
    if is_local and (last in ("zone", "VARCHAR") or is_text(last)):
        return "a time zone|origin or offset must not be a text"
    if last == "NULL::TIMESTAMP" or last == UNTYPED and ts != UNTYPED:
        return "must not be NULL"
    return None


def ask(connection, call, values, table="range(1)"):
    try:
        # The text at microseconds: the engine casts some timestamps.
        sql = f"SELECT typeof(b), left(b::VARCHAR, 19) FROM (SELECT {call} AS b FROM {table})"
        return connection.execute(sql, values).fetchone(), None
    except duckdb.Error as error:
        return None, str(error)


@pytest.fixture
def engines(connect):
    """A connection without the extension and one with it."""
    both = connect(load=False), connect()
    for connection in both:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
    return both


@pytest.mark.parametrize("width", WIDTHS)
def test_what_the_engine_binds_is_bound_too(engines, width):
    bound, wrong = 0, []
    for ts, last in itertools.product(TIMESTAMPS, LASTS):
        given = [kind for kind in (WIDTHS[width], TIMESTAMPS[ts], LASTS[last]) if kind]
        call = f"time_bucket({', '.join(sql for sql, _ in given)})"
        values = [value for sql, value in given if sql == "?"]
        (theirs, _), (ours, error) = (ask(connection, call, values) for connection in engines)
        assert not error or "INTERNAL" not in error and "unexpected panic" not in error, call
        if theirs:
            bound += 1
            if not is_right(width, ts, last, theirs, ours, error):
                wrong.append((call, theirs, ours, error))
    assert not wrong
    assert bound > 20 or width in ("number", "VARCHAR")


def is_right(width, ts, last, theirs, ours, error):
    """Whether ours is as it should be, where theirs is an answer."""
    # The overloads for TIME are DuckDB's own; by a zone's name the grid is another one.
    is_duckdbs = "TIME" in (ts, last)
    is_zone = is_text(last) or last in ("VARCHAR", "zone")
    said = refusal(width, ts, last)
    if (is_duckdbs or is_zone) and ours:
        said = None
    if said or error:
        by_us = error and error.startswith(("Binder Error: time_bucket: ", "Invalid Input Error: time_bucket: "))
        return said and by_us and any(words in error for words in said.split("|"))
    if ts in LOCAL + INSTANT and not is_duckdbs:
        right_type = ours[0] == ts
    else:
        right_type = ts == UNTYPED or ours[0] == theirs[0]
    same_grid = last in ORIGINS or theirs[1] is None or is_duckdbs
    return right_type and (ours[1] == theirs[1] or not same_grid)


# By name: whether the extension binds what DuckDB 2.0 does. C has no way to name parameters, so that it can't where one of the
# first two is named; what follows them is read by its type, by whatever name it comes.
NAMED = [
    ("INTERVAL '7 hours', ts, origin := TIMESTAMP '2022-01-02 03:00:00'", True),
    ("INTERVAL '7 hours', ts, origin => TIMESTAMP '2022-01-02 03:00:00'", True),
    ("INTERVAL '7 hours', ts, origin := DATE '2022-01-02'", True),
    ("INTERVAL '7 hours', ts, \"offset\" := INTERVAL '1 hour'", True),
    ("INTERVAL '7 hours', tz, origin := TIMESTAMPTZ '2022-01-02 03:00:00+00'", True),
    ("INTERVAL '7 hours', tz, origin := TIMESTAMP '2022-01-02 03:00:00'", True),
    ("INTERVAL '7 hours', tz, origin := DATE '2022-01-02'", True),
    ("INTERVAL '7 hours', tz, timezone := 'America/New_York'", False),
    ("INTERVAL '7 hours', tz, \"offset\" := INTERVAL '1 hour'", False),
    ("bucket_width := INTERVAL '7 hours', \"timestamp\" := ts", False),
    ("INTERVAL '7 hours', \"timestamp\" := ts, origin := DATE '2022-01-02'", False),
]


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1.5 ignores the names of arguments")
@pytest.mark.parametrize("arguments, is_bound", NAMED)
def test_arguments_by_name(engines, arguments, is_bound):
    answers = []
    for connection in engines:
        connection.execute("CREATE TABLE t AS SELECT TIMESTAMP '2022-08-03 14:38:50' AS ts, TIMESTAMPTZ '2022-08-03 14:38:50+00' AS tz")
        answers.append(ask(connection, f"time_bucket({arguments})", [], "t"))
    (theirs, _), (ours, error) = answers
    assert theirs
    assert bool(ours) == is_bound, error
    if ours and "offset" not in arguments:
        assert ours == theirs


@pytest.mark.skipif(not duckdb.__version__.startswith("1."), reason="DuckDB 2.0 reads the names of arguments")
def test_names_mean_nothing_to_the_older_engine(engines):
    call = "time_bucket(bucket_width := INTERVAL '7 hours', ts := TIMESTAMP '2022-08-03 14:38:50', origin := DATE '2022-01-02')"
    (theirs, _), (ours, _) = (ask(connection, call, []) for connection in engines)
    assert ours == theirs
