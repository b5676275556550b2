"""Buckets of local time through SQL: fixtures worked out by hand, the runs of test/soak find nothing and notice faults, and the
engine's own ways agree where they are right."""

import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))
import clock  # noqa: E402
import local_time  # noqa: E402
import session  # noqa: E402
from oracle import DAY  # noqa: E402
from test_clock import BY_HAND, HOUR, IDS, seconds  # noqa: E402


@pytest.mark.parametrize("zone, width, origin, ts, start, end", BY_HAND, ids=IDS)
def test_the_functions_by_hand(con, zone, width, origin, ts, start, end):
    arguments = f"to_seconds({width}), make_timestamptz({seconds(ts)}000000), '{zone}'" + f", to_seconds({origin})" * bool(origin)
    (ticks,) = con.sql(f"SELECT epoch_us(time_bucket({arguments})), epoch_us(time_bucket_end({arguments}))").fetchall()
    assert ticks == (seconds(start) * 10**6, seconds(end) * 10**6)


# What DuckDB 1.5.6 has from an older release of the data.
OLDER = {
    "America/Araguaina", "America/Bahia", "America/Belem", "America/Boa_Vista", "America/Campo_Grande", "America/Cuiaba", "America/Eirunepe",
    "America/Fortaleza", "America/Maceio", "America/Manaus", "America/Noronha", "America/Porto_Acre", "America/Porto_Velho", "America/Recife",
    "America/Rio_Branco", "America/Santarem", "America/Sao_Paulo", "Brazil/Acre", "Brazil/DeNoronha", "Brazil/East", "Brazil/West",
    "America/Havana", "Cuba", "America/Winnipeg", "Canada/Central", "America/Rainy_River", "Europe/Dublin", "Eire",
}


def test_the_engine_knows_the_same_clocks(connect):
    """At each change from 1900 to 2100, and every ten days."""
    own, differing = connect(load=False), set()
    own.execute("SET TimeZone = 'UTC'")
    for name in clock.NAMES:
        zone = clock.zone(name)
        changes = np.array([since for since in zone.since if local_time.SINCE <= since < local_time.UNTIL], np.int64)
        instants = np.unique(np.concatenate([changes, changes - 1, np.arange(local_time.SINCE, local_time.UNTIL, 864_000)]))
        own.register("t", pa.table({"x": instants}))
        shown = own.sql(f"SELECT epoch_us(make_timestamptz(x * 1000000) AT TIME ZONE '{name}') // 1000000 - x AS o FROM t").to_arrow_table()
        if (shown["o"].to_numpy() != np.array(zone.offsets)[np.searchsorted(zone.since, instants, "right") - 1]).any():
            differing.add(name)
    assert differing == (OLDER if duckdb.__version__.startswith("1.") else set())


def test_the_data_is_that_of_the_oracle(con):
    assert con.sql("SELECT DISTINCT version FROM time_bucket_zones()").fetchall() == [(clock.VERSION,)]
    names = {name for name, in con.sql("SELECT name FROM time_bucket_zones()").fetchall()}
    assert names >= set(clock.NAMES) | {name for name, in con.sql("SELECT name FROM pg_timezone_names()").fetchall()}


SINCE, UNTIL = 0, 1_735_689_600  # 1970 to 2025, where the engine's data are those of the oracle
ZONES = ["America/New_York", "Europe/London", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Cairo",
         "Antarctica/Troll", "America/Havana", "Asia/Tehran", "Pacific/Chatham", "America/St_Johns", "Asia/Beirut", "Africa/Casablanca"]
OWN_WAYS = {
    "time_bucket with a zone": "time_bucket(INTERVAL '{width}', ts, '{zone}')",
    "there and back": "time_bucket(INTERVAL '{width}', ts AT TIME ZONE '{zone}', TIMESTAMP '2000-01-03') AT TIME ZONE '{zone}'",
}


@pytest.mark.parametrize("width, seconds", [("1 day", 24 * HOUR), ("7 days", 7 * 24 * HOUR)])
@pytest.mark.parametrize("way", OWN_WAYS.values(), ids=OWN_WAYS)
def test_the_engine_agrees_where_its_own_way_is_right(con, connect, way, width, seconds):
    """Days, and weeks from its origin, which was a Monday, but where a midnight comes twice or never."""
    own = connect(load=False)
    own.execute("SET TimeZone = 'UTC'")
    rng, compared = np.random.default_rng(3), 0
    for name in ZONES:
        zone = clock.zone(name)
        changes = [since for since in zone.since if SINCE < since < UNTIL]
        ticks = np.unique(np.append(rng.choice(changes, 200) + rng.integers(-2 * seconds, 2 * seconds, 200), rng.integers(SINCE, UNTIL, 100)))
        values = ", ".join(f"(make_timestamptz({tick}000000))" for tick in ticks)

        def ask(connection, expression):
            sql = f"SELECT epoch_us({expression.format(width=width, zone=name)}) // 1000000 FROM (VALUES {values}) t(ts)"
            return np.array([row[0] for row in connection.execute(sql).fetchall()])

        ours = ask(con, "time_bucket(INTERVAL '{width}', ts, '{zone}', DATE '2000-01-03')")
        ends = ask(con, "time_bucket_end(INTERVAL '{width}', ts, '{zone}', DATE '2000-01-03')")
        right = np.array([all(once(zone, edge) for edge in edges) for edges in zip(ours, ends)])
        theirs = ask(own, way)
        assert (ours == theirs)[right].all(), (name, ticks[right & (ours != theirs)][:3])
        compared += right.sum()
    assert compared > 3000


def once(zone, instant):
    """Whether it is a midnight that the clock shows at this instant alone."""
    reading = int(instant) + zone.offset(int(instant))
    return reading % (24 * HOUR) == 0 and sum(zone.offset(reading - offset) == offset for offset in set(zone.offsets)) == 1


# Faults of the oracle: which of its parts, and how it is damaged.
def no_setback(zone):
    return damaged_zone(zone, setback=(0,) * len(zone.since))


def a_second_late(zone):
    return clock.Zone(zone.name, (zone.since[0], *(since + 1 for since in zone.since[1:])), zone.offsets)


def a_minute_off(zone):
    return clock.Zone(zone.name, zone.since, (*zone.offsets[:-1], *(offset + 60 for offset in zone.offsets[-1:])))


def forgetful(zone):
    """As if all readings were new after a change: the grid's points that come again start buckets, whatever the width."""
    return damaged_zone(zone, setback=tuple((setback + 2 * 86_400) * (setback > 0) for setback in zone.setback))


def damaged_zone(zone, **parts):
    copy = clock.Zone(zone.name, zone.since, zone.offsets)
    for name, value in parts.items():
        object.__setattr__(copy, name, value)
    return copy


ZONE_FAULTS = {"no point is shown again": no_setback, "a change is a second late": a_second_late,
               "an offset is off": a_minute_off, "every point is shown again": forgetful}
EDGE_FAULTS = {"a start is a tick late": (0, lambda edges: edges + 1), "an end is a tick late": (1, lambda edges: edges + 1),
               "the last start is another": (0, lambda edges: np.append(edges[:-1], edges[-1:] - 1))}


def found_by(run):
    """The difference that a run finds, or None."""
    try:
        run()
    except session.Difference as difference:
        return str(difference)


def sweep(extension, names=("America/New_York", "Australia/Lord_Howe", "America/Juneau", "Europe/Berlin", "Asia/Kathmandu")):
    run = local_time.Sweep(extension, 1)
    for name in names:
        run.zone(name, [15 * 60 * 10**9, 4 * 3600 * 10**9, DAY])
    return run


def blocks(extension, count=150):
    run = session.Session(extension, 2)
    local = local_time.Local(run)
    for _ in range(count):
        local.block()
    return run


@pytest.fixture
def unchecked(monkeypatch):
    """The two oracles are not compared, so that only the extension can notice."""
    for kind in (local_time.Sweep, local_time.Local):
        monkeypatch.setattr(kind, "check_oracle", lambda *_: None)
    return monkeypatch


def test_the_runs_find_nothing(extension):
    assert sweep(extension).values > 50_000
    assert blocks(extension).values > 10_000


@pytest.mark.parametrize("run", [sweep, blocks], ids=["sweep", "blocks"])
@pytest.mark.parametrize("fault", ZONE_FAULTS.values(), ids=ZONE_FAULTS)
def test_a_wrong_clock_is_noticed(extension, unchecked, fault, run):
    right = clock.zone
    unchecked.setattr(clock, "zone", lambda name: fault(right(name)))
    difference = found_by(lambda: run(extension))
    assert difference and difference.startswith("SELECT time_bucket")


@pytest.mark.parametrize("run", [sweep, blocks], ids=["sweep", "blocks"])
@pytest.mark.parametrize("edge, damage", EDGE_FAULTS.values(), ids=EDGE_FAULTS)
def test_a_wrong_edge_is_noticed(extension, unchecked, edge, damage, run):
    right = clock.edges

    def wrong(*arguments):
        found, out = right(*arguments)
        found[edge] = damage(found[edge])
        return found, out

    unchecked.setattr(clock, "edges", wrong)
    assert found_by(lambda: run(extension))


def test_a_wrong_answer_breaks_a_property(extension, unchecked):
    """The properties alone notice answers that agree with a wrong oracle: here ends that overlap the next bucket."""
    run = local_time.Sweep(extension, 1)
    right, answer = clock.edges, run.columns

    def late(of, sql):
        starts, ends, *repeated = answer(of, sql)
        return [starts, ends + 1, *repeated]

    def wrong(*arguments):
        found, out = right(*arguments)
        found[1] += 1
        return found, out

    unchecked.setattr(clock, "edges", wrong)
    run.columns = late
    assert "a start is its own bucket's" in found_by(lambda: run.zone("Europe/Berlin", [DAY]))


def test_a_reproduction_runs(extension, unchecked):
    right = clock.edges
    unchecked.setattr(clock, "edges", lambda *arguments: (right(*arguments)[0] + 1, right(*arguments)[1]))
    for run in (sweep, blocks):
        query = found_by(lambda: run(extension)).partition(" -- ")[0]
        assert query.startswith("SELECT time_bucket")
        with duckdb.connect(config={"allow_unsigned_extensions": True}) as alone:
            alone.execute(f"LOAD '{extension}'")
            assert len(alone.sql(query).fetchall()) == 1
