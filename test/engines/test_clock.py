"""The oracle of local time, test/soak/clock.py: its clocks are those of zoneinfo, its buckets those worked out by hand, in both of its ways."""

import sys
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))
import clock  # noqa: E402
from oracle import TYPES  # noqa: E402

HOUR, MINUTE = 3600, 60
# Zone, width and origin in seconds, an instant, its bucket; worked out by hand from the rule and the zones' histories.
BY_HAND = [
    # Clocks go back from 02:00-04 to 01:00-05: the hour from 01:00 comes twice, as two buckets.
    ("America/New_York", HOUR, 0, "2026-11-01T01:30-04:00", "2026-11-01T01:00-04:00", "2026-11-01T01:00-05:00"),
    ("America/New_York", HOUR, 0, "2026-11-01T01:30-05:00", "2026-11-01T01:00-05:00", "2026-11-01T02:00-05:00"),
    ("America/New_York", 4 * HOUR, 0, "2026-11-01T01:30-05:00", "2026-11-01T00:00-04:00", "2026-11-01T04:00-05:00"),
    ("America/New_York", 90 * MINUTE, 0, "2026-11-01T01:45-05:00", "2026-11-01T01:30-04:00", "2026-11-01T03:00-05:00"),
    ("America/New_York", 24 * HOUR, 0, "2026-11-01T12:00-05:00", "2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00"),
    # They go forward from 02:00-05 to 03:00-04: no hour from 02:00; 4 hours from midnight are 3.
    ("America/New_York", HOUR, 0, "2026-03-08T01:30-05:00", "2026-03-08T01:00-05:00", "2026-03-08T03:00-04:00"),
    ("America/New_York", 4 * HOUR, 0, "2026-03-08T03:30-04:00", "2026-03-08T00:00-05:00", "2026-03-08T04:00-04:00"),
    ("America/New_York", 24 * HOUR, 0, "2026-03-08T12:00-04:00", "2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00"),
    # The point at 02:30, of a grid of days, is jumped over: the bucket starts at the jump.
    ("America/New_York", 24 * HOUR, 9000, "2026-03-08T03:00-04:00", "2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"),
    # A gas day, and a week from Monday (1970-01-05 was one).
    ("Europe/Berlin", 24 * HOUR, 6 * HOUR, "2026-10-25T05:59+01:00", "2026-10-24T06:00+02:00", "2026-10-25T06:00+01:00"),
    ("Europe/Berlin", 7 * 24 * HOUR, 4 * 24 * HOUR, "2026-03-29T12:00+02:00", "2026-03-23T00:00+01:00", "2026-03-30T00:00+02:00"),
    # Midnight comes twice where clocks go back at 01:00: the day starts at the first.
    ("America/Havana", 24 * HOUR, 0, "2025-11-02T00:30-05:00", "2025-11-02T00:00-04:00", "2025-11-03T00:00-05:00"),
    ("America/Havana", 24 * HOUR, 0, "2025-11-01T23:59:59-04:00", "2025-11-01T00:00-04:00", "2025-11-02T00:00-04:00"),
    # The day that was left out, and the one that came twice, as two.
    ("Pacific/Apia", 24 * HOUR, 0, "2011-12-29T23:00-10:00", "2011-12-29T00:00-10:00", "2011-12-31T00:00+14:00"),
    ("Pacific/Apia", 24 * HOUR, 0, "2011-12-31T00:00+14:00", "2011-12-31T00:00+14:00", "2012-01-01T00:00+14:00"),
    ("Pacific/Kwajalein", 24 * HOUR, 0, "1993-08-20T23:00-12:00", "1993-08-20T00:00-12:00", "1993-08-22T00:00+12:00"),
    ("Asia/Manila", 24 * HOUR, 0, "1844-12-30T23:00-15:56:08", "1844-12-30T00:00-15:56:08", "1845-01-01T00:00+08:03:52"),
    ("America/Juneau", 24 * HOUR, 0, "1867-10-18T20:00-08:57:41", "1867-10-19T00:00+15:02:19", "1867-10-19T00:00-08:57:41"),
    ("America/Juneau", 24 * HOUR, 0, "1867-10-19T01:00-08:57:41", "1867-10-19T00:00-08:57:41", "1867-10-20T00:00-08:57:41"),
    # Half an hour is less than a width, so an hour is 90 minutes long; quarter hours stay quarter hours.
    ("Australia/Lord_Howe", HOUR, 0, "2026-04-05T01:45+10:30", "2026-04-05T01:00+11:00", "2026-04-05T02:00+10:30"),
    ("Australia/Lord_Howe", 15 * MINUTE, 0, "2026-04-05T01:45+10:30", "2026-04-05T01:45+10:30", "2026-04-05T02:00+10:30"),
    ("Australia/Lord_Howe", 15 * MINUTE, 0, "2026-04-05T01:59:59+11:00", "2026-04-05T01:45+11:00", "2026-04-05T01:30+10:30"),
    # Seconds in the offset: clocks went forward by 00:44:30 at 00:00:00.
    ("Africa/Monrovia", HOUR, 0, "1972-01-06T23:50-00:44:30", "1972-01-06T23:00-00:44:30", "1972-01-07T00:44:30+00:00"),
    ("Asia/Kathmandu", HOUR, 0, "2026-01-01T00:00+00:00", "2025-12-31T23:15+00:00", "2026-01-01T00:15+00:00"),
    # Two hours at once: the hours from 01:00 and 02:00 are shown again.
    ("Antarctica/Troll", HOUR, 0, "2026-10-25T01:30+00:00", "2026-10-25T01:00+00:00", "2026-10-25T02:00+00:00"),
    ("Antarctica/Troll", 3 * HOUR, 0, "2026-10-25T01:30+00:00", "2026-10-25T00:00+02:00", "2026-10-25T03:00+00:00"),
]
WIDTHS = [1, 900, 2400, 3600, 4 * 3600, 86_400, 7 * 86_400, 400 * 86_400]
IDS = [f"{zone} {width} {text}" for zone, width, _, text, *_ in BY_HAND]


def seconds(text):
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize("zone, width, origin, ts, start, end", BY_HAND, ids=IDS)
def test_the_oracle_by_hand(zone, width, origin, ts, start, end):
    assert clock.bucket(clock.zone(zone), width, origin, seconds(ts), 1) == (seconds(start), seconds(end))


def test_the_clock_is_that_of_zoneinfo():
    rng = np.random.default_rng(5)
    for name in clock.NAMES:
        zone = clock.zone(name)
        with (clock.FOLDER / "zoneinfo" / name).open("rb") as file:
            info = ZoneInfo.from_file(file)
        some = [since for since in zone.since if -5 * 10**9 < since < 18 * 10**9]
        some = [*rng.choice(some or [0], 20), *rng.integers(-5 * 10**9, 18 * 10**9, 20)]
        for second in (int(second) + d for second in some for d in (-1, 0)):
            shown = datetime.fromtimestamp(second, timezone.utc).astimezone(info).utcoffset().total_seconds()
            assert zone.offset(second) == shown, (name, second)


def test_the_oracles_agree():
    rng = np.random.default_rng(7)
    for of in (of for of in TYPES if of.instant):
        second = 10**9 // of.nanos
        for name in ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Juneau", "Antarctica/Troll", *rng.choice(clock.NAMES, 8)]:
            zone = clock.zone(name)
            for width in [1, 7 * second // 2, *(int(width) * second for width in rng.choice(WIDTHS, 4)), 2**61 + 1, 2**70]:
                origin = int(rng.choice([0, rng.integers(-(2**60), 2**60)])) * int(rng.choice([1, 2**12]))
                changes = rng.choice([since for since in zone.since if abs(since) < 4 * 10**9] or [0], 10)
                ticks = np.append(changes * second + rng.integers(-40 * 3600 * second, 40 * 3600 * second, 10),
                                  [of.low, of.high, 2**62, -(2**62), *rng.integers(of.low, of.high, 3)])
                (starts, ends), (no_start, no_end) = clock.edges(of, zone, int(width), origin, ticks)
                for row, tick in enumerate(ticks.tolist()):
                    start, end = clock.bucket(zone, int(width), origin, tick, second)
                    assert start <= tick < end
                    assert (no_start[row], no_end[row]) == (not of.finite(start), not of.finite(end))
                    assert (no_start[row] or starts[row] == start) and (no_end[row] or ends[row] == end)


def test_after_2600_a_cycle_later_is_a_cycle_earlier():
    zone, day = clock.zone("Europe/Berlin"), 86_400
    for tick in (20_000_000_000, 20_010_000_000):
        for width in (3600, day, 7 * day):
            early, late = (clock.bucket(zone, width, 0, t, 1) for t in (tick, tick + clock.CYCLE * 20))
            assert (early[0] + clock.CYCLE * 20, early[1] + clock.CYCLE * 20) == late
