//! Ticks as a calendar date and time, for messages. The crates for calendars stop at year 262,000; DuckDB's
//! timestamps reach 294,247.

use crate::Precision;
use std::fmt;

/// A tick of some precision, printed as DuckDB prints a timestamp: `290309-12-22 (BC) 00:00:00`, `infinity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// The tick, counted from 1970-01-01 00:00:00.
    pub tick: i64,
    /// What a tick is worth.
    pub precision: Precision,
}

/// A fraction of a second with its dot and without trailing zeros, or nothing when it is zero.
pub(crate) fn fraction(value: u64, digits: usize) -> String {
    let text = format!(".{value:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// The method is Howard Hinnant's `civil_from_days`: count in eras of 400 years that start on the first of March, so
/// that the leap day comes last.
fn civil_from_days(day: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_FROM_MARCH_OF_YEAR_0: i64 = 719_468;
    let shifted = day + DAYS_FROM_MARCH_OF_YEAR_0;
    let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day_of_month)
}

impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tick {
            i64::MAX => return f.write_str("infinity"),
            tick if tick == -i64::MAX => return f.write_str("-infinity"),
            _ => {}
        }
        let nanos_per_tick = self.precision.nanos_per_tick();
        let ticks_per_day = i128::from(86_400_u32) * 1_000_000_000 / nanos_per_tick;
        let day = i128::from(self.tick).div_euclid(ticks_per_day);
        let nanos = i128::from(self.tick).rem_euclid(ticks_per_day) * nanos_per_tick;
        let Ok(day) = i64::try_from(day).map(|day| day.clamp(-1 << 40, 1 << 40)) else {
            return write!(f, "{}", self.tick);
        };
        let (year, month, day) = civil_from_days(day);
        let (year, era) = if year > 0 { (year, "") } else { (1 - year, " (BC)") };
        let (seconds, below) = (nanos / 1_000_000_000, (nanos % 1_000_000_000) as u64);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}{era} {:02}:{:02}:{:02}{}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            fraction(below, 9)
        )
    }
}
