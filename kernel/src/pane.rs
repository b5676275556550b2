//! Panes: the disjoint pieces from which a sliding query is composed.
//!
//! A query that looks back `lookback` and is asked every `cadence` needs pieces of which both are whole multiples.
//! The widest such piece is their greatest common divisor (Li et al., "No Pane, No Gain", SIGMOD Record 34(1), 2005).

use crate::error::{Argument, Error, Result};
use crate::{Civil, Interval, Precision, Steps};

/// The widest pane of which lookback and cadence are whole multiples; the lookback itself without a cadence, that is,
/// when it is `None` or zero.
///
/// The result is in days where lookback and cadence are, else in microseconds, so that it prints as they do.
///
/// # Errors
///
/// The lookback must be fixed and positive, the cadence fixed and not negative.
///
/// # Examples
///
/// ```
/// use time_bucket_kernel::{Interval, pane_width};
/// let minutes = |minutes: i64| Interval { months: 0, days: 0, micros: minutes * 60_000_000 };
/// assert_eq!(pane_width(minutes(5), Some(minutes(2))), Ok(minutes(1)));
/// assert_eq!(pane_width(minutes(5), None), Ok(minutes(5)));
/// ```
pub fn pane_width(lookback: Interval, cadence: Option<Interval>) -> Result<Interval> {
    let length = lookback_nanos(lookback)?;
    let width = match cadence.map(cadence_nanos).transpose()? {
        None | Some(0) => return Ok(lookback),
        Some(cadence) => gcd(length.unsigned_abs(), cadence),
    };
    let is_in_days = |interval: Interval| interval.micros == 0;
    let in_days = is_in_days(lookback) && cadence.is_some_and(is_in_days);
    // No longer than the lookback, so that an interval holds it.
    Ok(from_nanos(width, in_days).unwrap_or(lookback))
}

/// The length of a lookback.
///
/// # Errors
///
/// It must be fixed and positive.
pub fn lookback_nanos(lookback: Interval) -> Result<i128> {
    Precision::Nanosecond.length_ticks(Argument::Lookback, lookback)
}

/// The length of a cadence, zero for none.
///
/// # Errors
///
/// It must be fixed and not negative.
pub fn cadence_nanos(value: Interval) -> Result<u128> {
    let argument = Argument::Cadence;
    let nanos = value.fixed_nanos().ok_or(Error::Calendar { argument, value })?;
    u128::try_from(nanos).map_err(|_| Error::Negative { argument, value })
}

/// The cadence of scheduled times: the greatest common divisor of their consecutive differences, in any order; zero
/// for less than two times.
///
/// # Errors
///
/// The times must be finite, and whole microseconds apart.
///
/// # Examples
///
/// ```
/// use time_bucket_kernel::{Interval, Precision, cadence_of};
/// let minute = Interval { months: 0, days: 0, micros: 60_000_000 };
/// assert_eq!(cadence_of(&[0, 120, 300], Precision::Second), Ok(minute));
/// ```
pub fn cadence_of(times: &[i64], precision: Precision) -> Result<Interval> {
    if let Some(&tick) = times.iter().find(|&&tick| !precision.is_finite(tick)) {
        return Err(Error::Infinite { argument: Argument::Times, value: Civil { tick, precision } });
    }
    let steps = times.windows(2).map(|pair| u128::from(pair[0].abs_diff(pair[1])));
    let nanos = steps.fold(0, gcd) * precision.nanos_per_tick().unsigned_abs();
    from_nanos(nanos, false).ok_or(Error::TimesNotWhole { nanos })
}

/// An interval in days, or in microseconds if they fit.
fn from_nanos(nanos: u128, in_days: bool) -> Option<Interval> {
    let nanos = i128::try_from(nanos).ok().filter(|nanos| nanos % 1_000 == 0)?;
    let in_micros =
        || i64::try_from(nanos / 1_000).ok().map(|micros| Interval { micros, ..Interval::default() });
    let in_both = || Interval::from_nanos(nanos);
    if in_days { in_both() } else { in_micros().or_else(in_both) }
}

/// The greatest common divisor, by Euclid; `gcd(n, 0) = n`.
const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A lookback, cut into panes of which the newest has index 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panes {
    width: Interval,
    /// When each pane starts, and when it ends, where a query time is given.
    bounds: Option<(Steps, Steps)>,
    /// How much later than the newest one's end the query is asked.
    staleness: Interval,
    len: u64,
}

impl Panes {
    /// The panes of one query; their bounds too when it is known when it is asked. They lie on the grid of their width
    /// through `anchor`, as stored panes do; the newest is the last that has ended.
    ///
    /// # Errors
    ///
    /// Those of [`pane_width`]; a budget that is not positive or exceeded; an infinite `at`, one in ticks of which
    /// the width is no multiple, or one with a pane out of range.
    pub fn new(
        lookback: Interval,
        cadence: Option<Interval>,
        at: Option<(i64, Precision)>,
        anchor: i128,
        budget: i64,
    ) -> Result<Self> {
        if budget <= 0 {
            return Err(Error::Budget { value: budget });
        }
        let width = pane_width(lookback, cadence)?;
        let panes =
            lookback_nanos(lookback)? / Precision::Nanosecond.length_ticks(Argument::PaneWidth, width)?;
        if panes > i128::from(budget) {
            return Err(Error::OverBudget { lookback, width, panes, budget });
        }
        let len = panes as u64;
        let bounds = at.map(|(at, precision)| bounds(at, precision, width, anchor, len)).transpose()?;
        let staleness = bounds.as_ref().map_or_else(Interval::default, |(_, staleness)| *staleness);
        Ok(Self { width, bounds: bounds.map(|(bounds, _)| bounds), staleness, len })
    }

    /// How many panes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none, which is never so.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The width of each pane.
    #[must_use]
    pub const fn width(&self) -> Interval {
        self.width
    }

    /// How far before the query time pane `index` ends.
    #[must_use]
    pub fn offset(&self, index: u64) -> Interval {
        let Interval { days, micros, .. } = self.width;
        let scaled = || {
            let index = i64::try_from(index).ok()?;
            let days = i32::try_from(i64::from(days).checked_mul(index)?).ok()?;
            Some(Interval { months: 0, days, micros: micros.checked_mul(index)? })
        };
        let in_both = || Interval::from_nanos(self.width.fixed_nanos()? * i128::from(index));
        // Less than the lookback, so that an interval holds it.
        scaled().or_else(in_both).unwrap_or_default()
    }

    /// How much later than the newest pane's end the query is asked, in whole microseconds, rounded up.
    #[must_use]
    pub const fn staleness(&self) -> Interval {
        self.staleness
    }

    /// The starts and the ends of the panes, where a query time was given.
    #[must_use]
    pub const fn bounds(&self) -> Option<&(Steps, Steps)> {
        self.bounds.as_ref()
    }
}

fn bounds(
    at: i64,
    precision: Precision,
    width: Interval,
    anchor: i128,
    len: u64,
) -> Result<((Steps, Steps), Interval)> {
    let (argument, value) = (Argument::At, Civil { tick: at, precision });
    value.require_finite(argument)?;
    let out_of_range = || Error::WindowOutOfRange { argument, value };
    let grid = precision.grid(Argument::PaneWidth, width, anchor)?;
    let (end, width) = (grid.start(at), grid.width());
    let starts = Steps::new(precision, end - width, -width, len);
    let bounds = starts.zip(Steps::new(precision, end, -width, len)).ok_or_else(out_of_range)?;
    Ok((bounds, staleness(precision, at, end).ok_or_else(out_of_range)?))
}

/// How much later than `end` a query is asked. It is rounded up, so that it is never understated: an interval has no
/// nanoseconds.
pub(crate) fn staleness(precision: Precision, at: i64, end: i128) -> Option<Interval> {
    let nanos = (i128::from(at) - end) * precision.nanos_per_tick();
    Interval::from_nanos((nanos + 999) / 1_000 * 1_000)
}
