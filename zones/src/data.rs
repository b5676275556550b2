//! Clocks from the forms in which the database and its rules have them.

use jiff_core::Timestamp;
use jiff_core::tz::tzif::TimeZone;
use kernel::Zone;

/// The clock of a zone in the database's own form (TZif, RFC 9636), or `None` when that is damaged.
///
/// Where the data ends in a rule ("the last Sunday of March, …") the changes of more than 400 years are written out, after
/// which the calendar repeats itself.
pub(crate) fn of_tzif(tzif: &[u8]) -> Option<Zone> {
    const YEARS_402: i64 = 402 * 31_556_952;
    let data = TimeZone::parse(tzif).ok()?;
    let repeats = data.posix_tz.as_ref().is_some_and(|rule| rule.dst.is_some());
    let written = data.transitions.timestamps.last().map_or(0, |last| last.as_second());
    let until = if repeats { written.max(0) + YEARS_402 } else { i64::MAX };
    let following = |instant| data.next_transition(instant).filter(|next| next.timestamp() > instant);
    let changes: Vec<(i64, i32)> =
        std::iter::successors(following(Timestamp::MIN), |last| following(last.timestamp()))
            .map(|change| (change.timestamp().as_second(), change.offset().seconds()))
            .take_while(|(instant, _)| *instant < until)
            .collect();
    Zone::new(data.to_offset(Timestamp::MIN).seconds(), &changes, repeats)
}

/// A clock that is never set.
pub(crate) fn fixed(offset: i32) -> Option<Zone> {
    Zone::new(offset, &[], false)
}

/// The clock of the rules called SystemV, which the database dropped and ICU still has: standard time `hours` west of
/// Greenwich, and summer time from the last Sunday of April to the last Sunday of October, at 02:00, from 1902 on; in 1974
/// and 1975 from January and February on.
pub(crate) fn system_v(hours: i32) -> Option<Zone> {
    const HOUR: i64 = 3_600;
    const YEARS: std::ops::Range<i64> = 1902..2_384;
    let standard = -hours * 3_600;
    let at_two = |day: i64| day * 24 * HOUR + 2 * HOUR + i64::from(hours) * HOUR;
    let changes: Vec<(i64, i32)> = YEARS
        .flat_map(|year| {
            // Days from 1970-01-01 to the last day of April, and from there to that of October.
            let april = (year - 1970) * 365 + leap_years_before(year + 1) - leap_years_before(1970) + 119;
            let october = april + 184;
            let (from, until) = match year {
                1974 => (1_466, last_sunday(october + 30)),
                1975 => (1_879, last_sunday(october)),
                _ => (last_sunday(april), last_sunday(october)),
            };
            [(at_two(from), standard + 3_600), (at_two(until) - HOUR, standard)]
        })
        .collect();
    Zone::new(standard, &changes, true)
}

/// How many years before this one had a leap day.
const fn leap_years_before(year: i64) -> i64 {
    let last = year - 1;
    last / 4 - last / 100 + last / 400
}

/// The last Sunday up to a day, both counted from 1970-01-01, a Thursday.
const fn last_sunday(day: i64) -> i64 {
    day - (day + 4).rem_euclid(7)
}
