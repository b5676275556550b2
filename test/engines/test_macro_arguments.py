"""Every argument of every macro, with values of every wrong kind: an error is one line of ours, which begins with the name of the macro or of the
function that speaks, or one of the engine's that docs/windows.md lists. What is no error is listed here.
"""
import re

import duckdb
import pytest

MINUTE, TIME = "INTERVAL '1 minute'", "TIMESTAMP '2026-01-01 00:10:00'"
GRID = {"origin": MINUTE, "zone": "'none'"}
#  macro: the arguments that have to be given, and the others
MACROS = {
    "tumble": ({"tbl": "'t'", "ts": "'ts'", "width": MINUTE}, GRID),
    "hop": ({"tbl": "'t'", "ts": "'ts'", "slide": MINUTE, "size": MINUTE}, GRID),
    "cumulate": ({"tbl": "'t'", "ts": "'ts'", "step": MINUTE, "size": MINUTE}, GRID),
    "sessions": ({"tbl": "'t'", "ts": "'ts'", "gap": MINUTE, "keys": "['k']"}, {}),
    "gapfill": ({"tbl": "'g'", "ts": "'ts'", "width": MINUTE, "keys": "['k']"},
                {"carry": "['n']", "interpolate": "['n']", "zero": "['n']", "since": TIME, "until": TIME, "members": "'known'", "max_gap": MINUTE, **GRID}),
    "pane_rows": ({"tbl": "'t'", "ts": "'ts'", "vals": "['n']", "width": MINUTE, "keys": "['k']"}, {"since": TIME, "until": TIME, **GRID}),
    "panes_live": ({"panes": "'p'", "tbl": "'t'", "ts": "'ts'", "vals": "['n']", "width": MINUTE, "keys": "['k']", "watermark": TIME}, GRID),
    "rolling_panes": ({"panes": "'p'", "keys": "['k']", "lookback": MINUTE, "width": MINUTE}, {"since": TIME, "until": TIME, **GRID}),
    "window_at": ({"panes": "'p'", "keys": "['k']", "lookback": MINUTE, "at": TIME}, {"members": "'known'", "width": MINUTE, **GRID}),
    "merge_panes": ({"panes": "'p'", "keys": "['k']"}, {}),
    "window_candidates": ({"lookback": MINUTE, "cadence": MINUTE, "granularity": MINUTE}, {"size": MINUTE, "slide": MINUTE}),
}
WRONG = ["5", "1.5", "true", "'nothing'", "''", "NULL", "[1]", "['no_such']", "[NULL]", "{'a': 1}", "INTERVAL '1 month'", "INTERVAL '-1 minute'", "DATE '2026-01-01'",
         "'2026-01-01'", "TIMESTAMPTZ '2026-01-01 00:00:00+00'", "no_such", "random()", "(SELECT 1)"]
#  an argument: which of these values are none of the wrong ones
FINE = {
    "origin": ["INTERVAL '-1 minute'", "DATE '2026-01-01'"], "since": ["NULL", "DATE '2026-01-01'"], "until": ["NULL", "DATE '2026-01-01'"],
    "watermark": ["DATE '2026-01-01'"], "at": ["DATE '2026-01-01'"], "members": ["NULL"], "max_gap": ["NULL"], "width": ["NULL"], "cadence": ["NULL"], "size": ["NULL"], "slide": ["NULL"],
}
OWN = r"(Binder|Invalid Input) Error: (time_bucket\w*|{name}): [^\n]*[;,:] [^\n]+"
#  what the engine says in its own words, before it asks a macro: see docs/windows.md
ENGINES = r"""Catalog\ Error:\ Table\ with\ name\ .*\ does\ not\ exist!  # no such table
    | Binder\ Error:\ .*"no_such"                                # a name without quotes is a column
    | Binder\ Error:\ Table\ function\ cannot\ contain\ subqueries
    | Binder\ Error:\ No\ function\ matches\ .*'time_bucket_(start|hop|cumulate)\("""  # a zone that is no text, on 1.5.6


def calls(name):
    """Each argument, a value, and the call that has it there."""
    given, others = MACROS[name]
    for argument in [*given, *others]:
        for value in WRONG:
            texts = [value if other == argument else text for other, text in given.items()] + ([f"{argument} := {value}"] if argument in others else [])
            yield argument, value, f"FROM {name}({', '.join(texts)})"


@pytest.fixture
def tables(con):
    con.execute(f"""CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, i % 3 AS k, i AS n FROM range(30) AS r(i);
        CREATE TABLE g AS SELECT k, time_bucket({MINUTE}, ts) AS ts, sum(n) AS n FROM t GROUP BY ALL;
        CREATE TABLE known AS SELECT DISTINCT k FROM t;
        CREATE TABLE p AS FROM pane_rows('t', 'ts', ['n'], {MINUTE}, ['k'])""")
    return con


@pytest.mark.parametrize("name", MACROS)
def test_each_wrong_argument_is_refused_in_words(tables, name):
    own, wrong = re.compile(OWN.format(name=name)), []
    for argument, value, call in calls(name):
        is_fine = value in FINE.get(argument, ()) and (argument not in ("size", "slide", "width") or argument in MACROS[name][1])
        try:
            tables.execute(call).fetchall()
            message = None
        except duckdb.Error as error:
            message = str(error).split("\n")[0]
        is_refused = message is not None and (own.fullmatch(message) or re.match(ENGINES, message, re.VERBOSE))
        if not (message is None if is_fine else is_refused):
            wrong.append(f"{call}: {message or 'is taken'}")
    assert not wrong, "\n".join(wrong)
    assert tables.sql("SELECT 1").fetchall() == [(1,)]


def test_every_argument_is_tried(con):
    known = {name: {argument.strip('"') for argument in [*given, *others]} for name, (given, others) in MACROS.items()}
    of_engine = con.sql("SELECT function_name, parameters FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal").fetchall()
    assert {name: set(parameters) for name, parameters in of_engine} == known
