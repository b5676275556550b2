"""The soak test itself: it finds a wrong answer, a missing error and a surplus one, and says how to see it again."""

import re
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))
import hopping  # noqa: E402
import macros  # noqa: E402
import oracle  # noqa: E402
import session  # noqa: E402
import soak  # noqa: E402


def wrong_answer(edges, out):
    edges = edges.copy()
    edges[len(edges) // 2 :] += 1
    return edges, out


def wrong_error(edges, out):
    out = out.copy()
    out[len(out) // 2 :] ^= True
    return edges, out


@pytest.mark.parametrize("damage", [wrong_answer, wrong_error])
def test_a_wrong_oracle_is_noticed(extension, monkeypatch, damage):
    right = oracle.buckets
    monkeypatch.setattr(soak, "buckets", lambda *arguments: damage(*right(*arguments)))
    monkeypatch.setattr(soak.Soak, "check_oracle", lambda *_: None)
    found = 0
    for seed in range(12):
        try:
            soak.Soak(extension, seed).block(500)
        except soak.Difference as difference:
            found += 1
            assert "SELECT" in str(difference)
    # A damaged value may be NULL or filtered out in some blocks.
    assert found >= 4


def test_a_reproduction_runs(extension, monkeypatch):
    right = oracle.buckets
    monkeypatch.setattr(soak, "buckets", lambda *arguments: (right(*arguments)[0] + 1, right(*arguments)[1]))
    monkeypatch.setattr(soak.Soak, "check_oracle", lambda *_: None)
    tried = soak.Soak(extension, 3)
    while True:
        try:
            tried.block(100)
        except soak.Difference as difference:
            if match := re.match(r"(SELECT time_bucket.*?) -- gives (-?\d+) ticks, not (-?\d+);", str(difference)):
                assert int(match[3]) == int(match[2]) + 1
                assert len(tried.con.execute(match[1]).to_arrow_table()) == 1
                return


def later(spans):
    """The windows of a range, a tick too late."""
    return spans if spans is oracle.OUT else tuple(range(ticks.start + 1, ticks.stop + 1, ticks.step) for ticks in spans)


def fewer(counts, firsts, out):
    return np.maximum(counts - 1, 0), firsts, out


# What is broken in the oracle, how, and whose blocks have to notice.
DAMAGES = {
    "hop, where": ("hops", lambda counts, firsts, out: (counts, firsts + 1, out), "hop"),
    "hop, how many": ("hops", fewer, "hop"),
    "hop, no error": ("hops", lambda counts, firsts, out: (counts, firsts, out & False), "hop"),
    "hop, an error": ("hops", lambda counts, firsts, out: (counts, firsts, out | True), "hop"),
    "hop, any number": ("count_refusals", lambda _: [], "hop"),
    "pane": ("pane", lambda width: width + 1000, "pane"),
    "cadence": ("cadence", lambda step: step + 1000, "cadence"),
    "panes": ("panes", later, "panes"),
    "panes, how wide": ("pane", lambda width: width + 1000, "panes"),
    "panes, any budget": ("budget_refusals", lambda _: [], "panes"),
    "series": ("series", later, "series"),
    "series, out of range": ("series", lambda _: oracle.OUT, "series"),
    "cover": ("cover", later, "cover"),
    "cover, how stale": ("staleness", lambda nanos: nanos + 1000, "cover"),
    "cover, no multiple": ("multiple_refusals", lambda _: [], "cover"),
    "why an interval is refused": ("_refused_interval", lambda reason: reason and "it is odd", "cover"),
    "why a timestamp is refused": ("_refused_point", lambda reason: reason and "it is odd", "series"),
}


@pytest.mark.parametrize("name, damage, block", DAMAGES.values(), ids=DAMAGES)
def test_a_wrong_oracle_of_windows_is_noticed(extension, monkeypatch, name, damage, block):
    right = getattr(oracle, name)

    def wrong(*arguments):
        answer = right(*arguments)
        return damage(*answer) if name == "hops" else damage(answer)

    monkeypatch.setattr(oracle, name, wrong)
    monkeypatch.setattr(hopping.Hopping, "check_oracle", lambda *_: None)
    tried = soak.Soak(extension, 1)
    ask = getattr(tried.windows, block)
    with pytest.raises(soak.Difference) as found:
        for _ in range(2000):
            ask()
    query, _, said = str(found.value).partition(" -- ")
    assert query.startswith("SELECT") and "\n" not in str(found.value)
    try:
        # No table is left but those that the query names itself.
        tried.con.unregister("t")
        tried.con.sql(query).to_arrow_table()
        assert said.startswith(("gives", "no error"))
    except duckdb.Error as error:
        assert said.startswith((session.message(error), "gives NULL"))


@pytest.mark.parametrize("of", oracle.TYPES, ids=lambda of: of.name)
def test_the_oracles_agree(of):
    rng = np.random.default_rng(7)
    ticks = np.append(rng.integers(of.low, of.high, 300, np.int64, endpoint=True), [of.low, of.high, 0, -1, *oracle.INFINITIES])
    for width in (1, 7, 86_400, 2**62 + 1, 2**63 - 1, 2**63, 2**70, *map(int, rng.integers(1, 2**62, 20))):
        for anchor in (0, -1, 2**63 - 2, -(2**63), 2**80 + 3, int(rng.integers(-(2**62), 2**62))):
            for end in (False, True):
                edges, out = oracle.buckets(of, width, anchor, ticks, end)
                plain = [oracle.bucket(of, width, anchor, int(tick), end) for tick in ticks]
                assert out.tolist() == [edge is oracle.OUT for edge in plain]
                assert all(edge is oracle.OUT or edge == int(got) for edge, got in zip(plain, edges))


#  macro, what is written in its text, and in its place
DAMAGES = [
    ("tumble", "time_bucket_end(", "time_bucket_start("), ("hop", "(slide, size,", "(slide, 2 * size,"), ("cumulate", "(step, size,", "(size, size,"),
    ("sessions", "(v_t, gap)", "(v_t, 2 * gap)"), ("gapfill", "p := time_bucket_previous(", "p := time_bucket_next("),
    ("gapfill", "n := time_bucket_next(", "n := time_bucket_previous("), ("rolling_panes", "time_bucket_rolling(w,", "time_bucket_rolling(s,"),
    ("window_at", "- list_unique(list(s))", "- len(list(s))"), ("window_at", "s, e, lookback", "s, e, 2 * lookback"), ("merge_panes", "time_bucket_merge(", "any_value_of("), ("panes_live", "pane_start < time", "pane_start <= time"),
]


@pytest.mark.parametrize("name, text, instead", DAMAGES)
def test_a_wrong_macro_is_noticed(extension, name, text, instead):
    con = macros.connect(extension)
    con.execute("CREATE MACRO any_value_of(pane, kind) AS any_value(pane)")
    sql = con.sql(f"SELECT sql FROM time_bucket_macros() WHERE name = '{name}'").fetchall()[0][0]
    assert text in sql
    con.execute(sql.replace(text, instead))
    for seed in range(1, 20):
        try:
            for job in macros.jobs(con, seed):
                job()
        except macros.Difference:
            return
    pytest.fail(f"{name} was damaged, and nothing noticed")
