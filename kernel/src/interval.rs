//! DuckDB's INTERVAL: three fields that are never normalised into each other.

use std::fmt;

/// An interval as the engine stores it. Its layout is that of `duckdb_interval`, so a vector of intervals can be
/// read as a slice of these.
///
/// Two intervals that DuckDB's `=` calls equal (`1 month`, `30 days`) differ here, on purpose: what has no fixed
/// length must be told from what has, by its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Interval {
    /// Calendar months, twelve to a year; their length varies.
    pub months: i32,
    /// Days of exactly 24 hours.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

const NANOS_PER_MICRO: i128 = 1_000;
const MICROS_PER_SECOND: u64 = 1_000_000;
pub(crate) const NANOS_PER_DAY: i128 = 86_400 * MICROS_PER_SECOND as i128 * NANOS_PER_MICRO;

impl Interval {
    /// The exact length in nanoseconds, or `None` for a calendar interval (one whose months field is not zero).
    #[must_use]
    pub const fn fixed_nanos(self) -> Option<i128> {
        if self.months != 0 {
            return None;
        }
        Some(self.days as i128 * NANOS_PER_DAY + self.micros as i128 * NANOS_PER_MICRO)
    }

    /// Whether both have the same fields, without a branch.
    #[inline(always)]
    pub(crate) const fn is(self, other: Self) -> bool {
        self.difference(other) == 0
    }

    /// Zero when both have the same fields, without a branch. Months and days are compared as the one word that they
    /// are in memory, which lets the compiler load whole vectors.
    #[inline(always)]
    pub(crate) const fn difference(self, other: Self) -> u64 {
        (self.months_and_days() ^ other.months_and_days()) | (self.micros ^ other.micros) as u64
    }

    #[inline(always)]
    const fn months_and_days(self) -> u64 {
        self.months as u32 as u64 | (self.days as u32 as u64) << 32
    }

    /// A number that other intervals of fixed length mostly differ in.
    #[inline]
    pub(crate) fn hash(self) -> i64 {
        self.micros ^ i64::from(self.days).rotate_left(32)
    }

    /// The interval of this many nanoseconds, as days and microseconds of one sign, or `None` when it is no whole
    /// number of microseconds or longer than every interval.
    #[must_use]
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        if nanos % NANOS_PER_MICRO != 0 {
            return None;
        }
        // Microseconds take the days that their own field can't hold.
        let days = (nanos / NANOS_PER_DAY).clamp(i32::MIN.into(), i32::MAX.into());
        let micros = i64::try_from((nanos - days * NANOS_PER_DAY) / NANOS_PER_MICRO).ok()?;
        Some(Self { months: 0, days: days as i32, micros })
    }
}

/// Prints the literal that makes this interval, in the engine's own words: `INTERVAL '1 month -30 days 00:00:01.5'`.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (count, unit) in [(self.months / 12, "year"), (self.months % 12, "month"), (self.days, "day")] {
            match count {
                0 => {}
                1 | -1 => parts.push(format!("{count} {unit}")),
                _ => parts.push(format!("{count} {unit}s")),
            }
        }
        if self.micros != 0 || parts.is_empty() {
            let sign = if self.micros < 0 { "-" } else { "" };
            let (seconds, micros) = (
                self.micros.unsigned_abs() / MICROS_PER_SECOND,
                self.micros.unsigned_abs() % MICROS_PER_SECOND,
            );
            let fraction = crate::civil::fraction(micros, 6);
            parts.push(format!(
                "{sign}{:02}:{:02}:{:02}{fraction}",
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60
            ));
        }
        write!(f, "INTERVAL '{}'", parts.join(" "))
    }
}
