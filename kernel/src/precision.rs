//! What a tick is worth, and which ticks a timestamp column may hold.

use std::ops::RangeInclusive;

/// The length of one tick of a timestamp type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// One second: `TIMESTAMP_S`.
    Second,
    /// One millisecond: `TIMESTAMP_MS`.
    Millisecond,
    /// One microsecond: `TIMESTAMP` and `TIMESTAMPTZ`.
    Microsecond,
    /// One nanosecond: `TIMESTAMP_NS` and `TIMESTAMPTZ_NS`.
    Nanosecond,
}

/// DuckDB's smallest finite `TIMESTAMP` in microseconds, midnight of 290309-12-22 (BC): the first whole day whose
/// every microsecond fits an `i64`.
const LOWEST_MICROSECOND: i64 = -9_223_372_022_400_000_000;
/// DuckDB's largest finite `TIMESTAMP` in microseconds, one below the sentinel of `infinity`.
const HIGHEST_MICROSECOND: i64 = i64::MAX - 1;

impl Precision {
    /// Every precision, from coarse to fine.
    pub const ALL: [Self; 4] = [Self::Second, Self::Millisecond, Self::Microsecond, Self::Nanosecond];

    /// The ticks that stand for `-infinity` and `infinity`, in every precision.
    pub const INFINITIES: [i64; 2] = [-i64::MAX, i64::MAX];

    /// How many nanoseconds one tick lasts.
    #[must_use]
    pub const fn nanos_per_tick(self) -> i128 {
        match self {
            Self::Second => 1_000_000_000,
            Self::Millisecond => 1_000_000,
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }

    /// How many ticks one second lasts.
    #[must_use]
    pub const fn ticks_per_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Millisecond => 1_000,
            Self::Microsecond => 1_000_000,
            Self::Nanosecond => 1_000_000_000,
        }
    }

    /// Whole ticks in `nanos` nanoseconds, or `None` when that is not a whole number.
    #[must_use]
    pub const fn ticks(self, nanos: i128) -> Option<i128> {
        let tick = self.nanos_per_tick();
        if nanos % tick == 0 { Some(nanos / tick) } else { None }
    }

    /// The ticks between the engine's smallest and largest finite timestamp of this precision, both included.
    ///
    /// Seconds and milliseconds end where the same instant in microseconds would leave the range of `TIMESTAMP`.
    /// Nanoseconds use all of `i64`; the range then holds the sentinel of `-infinity`, which [`Self::is_finite`]
    /// leaves out.
    #[must_use]
    pub const fn range(self) -> RangeInclusive<i64> {
        match self {
            Self::Second => LOWEST_MICROSECOND / 1_000_000..=HIGHEST_MICROSECOND / 1_000_000,
            Self::Millisecond => LOWEST_MICROSECOND / 1_000..=HIGHEST_MICROSECOND / 1_000,
            Self::Microsecond => LOWEST_MICROSECOND..=HIGHEST_MICROSECOND,
            Self::Nanosecond => i64::MIN..=i64::MAX - 1,
        }
    }

    /// `tick` as a finite timestamp, or `None` when this precision can't represent it.
    #[must_use]
    pub fn finite(self, tick: i128) -> Option<i64> {
        i64::try_from(tick).ok().filter(|tick| self.is_finite(*tick))
    }

    /// Whether `tick` is a finite timestamp: within [`Self::range`] and no sentinel.
    #[must_use]
    pub fn is_finite(self, tick: i64) -> bool {
        self.range().contains(&tick) && !Self::is_infinite(tick)
    }

    /// Whether `tick` is one of the two sentinels.
    #[must_use]
    #[inline]
    pub const fn is_infinite(tick: i64) -> bool {
        tick == Self::INFINITIES[0] || tick == Self::INFINITIES[1]
    }

    /// The plural of the unit, for messages.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Second => "seconds",
            Self::Millisecond => "milliseconds",
            Self::Microsecond => "microseconds",
            Self::Nanosecond => "nanoseconds",
        }
    }
}
