"""The soak test itself: it finds a wrong answer, a missing error and a surplus one, and says how to see it again."""

import re
import sys
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))
import oracle  # noqa: E402
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


@pytest.mark.parametrize("of", oracle.TYPES, ids=lambda of: of.name)
def test_the_oracles_agree(of):
    rng = numpy.random.default_rng(7)
    ticks = numpy.append(rng.integers(of.low, of.high, 300, numpy.int64, endpoint=True), [of.low, of.high, 0, -1, *oracle.INFINITIES])
    for width in (1, 7, 86_400, 2**62 + 1, 2**63 - 1, 2**63, 2**70, *map(int, rng.integers(1, 2**62, 20))):
        for anchor in (0, -1, 2**63 - 2, -(2**63), 2**80 + 3, int(rng.integers(-(2**62), 2**62))):
            for end in (False, True):
                edges, out = oracle.buckets(of, width, anchor, ticks, end)
                plain = [oracle.bucket(of, width, anchor, int(tick), end) for tick in ticks]
                assert out.tolist() == [edge is oracle.OUT for edge in plain]
                assert all(edge is oracle.OUT or edge == int(got) for edge, got in zip(plain, edges))
