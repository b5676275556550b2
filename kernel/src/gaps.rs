//! What filling gaps is made of: the rows of one key in order, the stretches of time between them, the neighbours of a
//! row that have a value, and the line between two of them.
//!
//! A row is named by its number among the rows of its key, from 1 on; 0 is no row. So a number can be looked up in a
//! list of SQL, where 0 gives NULL.

use crate::error::{Argument, Error, Result};
use crate::{Grid, Interval, Precision};
use std::cmp::Ordering;

/// Puts the numbers of all rows whose time is known into the order of their times, and gives how many there are.
///
/// # Panics
///
/// When `rows` is shorter than `times`.
pub fn order_rows(times: &[i64], is_known: impl Fn(usize) -> bool, rows: &mut [i64]) -> usize {
    let mut len = 0;
    for index in (0..times.len()).filter(|&index| is_known(index)) {
        rows[len] = index as i64 + 1;
        len += 1;
    }
    rows[..len].sort_unstable_by_key(|&row| times[row as usize - 1]);
    len
}

/// The rows of one key in the order of their times.
#[derive(Debug, Clone, Copy)]
pub struct Ordered<'a> {
    /// The time of each row, by its number less one.
    pub times: &'a [i64],
    /// The numbers, as [`order_rows`] puts them.
    pub rows: &'a [i64],
}

/// A stretch of time after a row and before the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The place of the row before it in the order, from 1 on; 0 before the first row.
    pub place: i64,
    /// Where it starts.
    pub since: i64,
    /// Where it ends, exclusive.
    pub until: i64,
}

impl<'a> Ordered<'a> {
    fn time(&self, place: usize) -> i64 {
        self.times[self.rows[place] as usize - 1]
    }

    /// The first time that two rows share.
    #[must_use]
    pub fn twice(&self) -> Option<i64> {
        (1..self.rows.len())
            .map(|place| self.time(place))
            .zip(self.rows)
            .find_map(|(time, &before)| (self.times[before as usize - 1] == time).then_some(time))
    }

    /// The stretches that `[since, until)` falls into: each starts at a row, or at `since`, or `most` ticks after the
    /// one before, so that none is longer than that.
    pub fn pieces(self, since: i64, until: i64, most: u64) -> impl Iterator<Item = Piece> + 'a {
        (0..=self.rows.len()).flat_map(move |place| {
            let from = if place == 0 { since } else { self.time(place - 1).max(since) };
            let to = if place == self.rows.len() { until } else { self.time(place).min(until) };
            // Modulo 2^64, which is exact: the distance of two `i64` fits a `u64`.
            let len = if from < to { (to.wrapping_sub(from) as u64 - 1) / most + 1 } else { 0 };
            (0..len).map(move |index| {
                let start = from.wrapping_add(index.wrapping_mul(most) as i64);
                let end = if index + 1 == len { to } else { start.wrapping_add(most as i64) };
                Piece { place: place as i64, since: start, until: end }
            })
        })
    }
}

/// For each place of an order the number of the latest row up to it that has a value; 0 where there is none.
///
/// # Panics
///
/// When `out` is shorter than `rows`.
pub fn previous_known(rows: &[i64], is_known: impl Fn(usize) -> bool, out: &mut [i64]) {
    let mut known = 0;
    for (&row, out) in rows.iter().zip(&mut out[..rows.len()]) {
        known = if is_known(row as usize - 1) { row } else { known };
        *out = known;
    }
}

/// For each place of an order the number of the earliest row after it that has a value; 0 where there is none.
///
/// # Panics
///
/// When `out` is shorter than `rows`.
pub fn next_known(rows: &[i64], is_known: impl Fn(usize) -> bool, out: &mut [i64]) {
    let mut known = 0;
    for (&row, out) in rows.iter().zip(&mut out[..rows.len()]).rev() {
        *out = known;
        known = if is_known(row as usize - 1) { row } else { known };
    }
}

/// Where one of two sessions of a key ends and the next one begins: rows less than `gap` ticks apart are of one session.
///
/// Calls `session` with the places of the rows of each session and with the times of its first and last row. An
/// infinite time is a session of its own.
pub fn sessions(
    ordered: Ordered<'_>,
    gap: i128,
    mut session: impl FnMut(std::ops::Range<usize>, i64, i64) -> Result<()>,
) -> Result<()> {
    let mut from = 0;
    for place in 1..=ordered.rows.len() {
        let last = ordered.time(place - 1);
        let goes_on = place < ordered.rows.len() && {
            let next = ordered.time(place);
            let apart = i128::from(next) - i128::from(last);
            if Precision::is_infinite(last) || Precision::is_infinite(next) {
                apart == 0
            } else {
                apart < gap
            }
        };
        if !goes_on {
            session(from..place, ordered.time(from), last)?;
            from = place;
        }
    }
    Ok(())
}

/// How many starts of buckets there are in `[since, until)`, and the first of them.
#[must_use]
pub fn starts_between(grid: &Grid, since: i64, until: i64) -> Option<(i64, u64)> {
    let start = grid.start(since);
    let first = if start == i128::from(since) { start } else { start + grid.width() };
    let left = i128::from(until) - first;
    if left <= 0 {
        return Some((since, 0));
    }
    // Both are below 2^65, and mostly below 2^64, where the division is short.
    let len = match (u64::try_from(left - 1), u64::try_from(grid.width())) {
        (Ok(left), Ok(width)) => left / width + 1,
        _ => u64::try_from((left - 1) / grid.width()).ok()? + 1,
    };
    Some((i64::try_from(first).ok()?, len))
}

/// Where between two times a third one lies: `part` of `whole` ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    part: u64,
    whole: u64,
}

impl Fraction {
    /// Of `time` between `from` and `to`, or `None` where it lies outside them, or they are one.
    #[must_use]
    pub fn new(from: i64, to: i64, time: i64) -> Option<Self> {
        let between = from < to && from <= time && time <= to;
        // Modulo 2^64, which is exact.
        let distance = |time: i64| time.wrapping_sub(from) as u64;
        between.then(|| Self { part: distance(time), whole: distance(to) })
    }

    /// The whole number on the line from `from` to `to` that is nearest, halves away from zero; exact.
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::Fraction;
    /// let third = Fraction::new(0, 3, 1).unwrap();
    /// assert_eq!(third.between(10, 20), 13);
    /// assert_eq!(third.between(0, -2), -1);
    /// ```
    #[must_use]
    pub fn between(self, from: i128, to: i128) -> i128 {
        // The distance of two `i128` fits a `u128`, and so does a remainder below 2^64 times a part below 2^64.
        let distance = from.abs_diff(to);
        let (part, whole) = (u128::from(self.part), u128::from(self.whole));
        let rest = distance % whole * part;
        let (steps, rest) = (distance / whole * part + rest / whole, rest % whole);
        // As a number of whole steps downwards, and a rest above it.
        let (floor, rest) = match (to < from, rest) {
            (false, rest) => (from.wrapping_add_unsigned(steps), rest),
            (true, 0) => (from.wrapping_sub_unsigned(steps), 0),
            (true, rest) => (from.wrapping_sub_unsigned(steps) - 1, whole - rest),
        };
        let up = match (2 * rest).cmp(&whole) {
            Ordering::Less => false,
            Ordering::Equal => floor >= 0,
            Ordering::Greater => true,
        };
        floor + i128::from(up)
    }

    /// The number on the line from `from` to `to`. Equal ends give themselves, and finite ones a finite number.
    #[must_use]
    #[inline]
    pub fn between_f64(self, from: f64, to: f64) -> f64 {
        let part = self.part as f64 / self.whole as f64;
        let distance = to - from;
        if distance.is_finite() || !from.is_finite() || !to.is_finite() {
            from + distance * part
        } else {
            from * (1.0 - part) + to * part
        }
    }
}

impl Precision {
    /// The greatest tick that is not later than a point of another precision, which is `of`. Infinities stay.
    #[must_use]
    pub fn floor_of(self, tick: i64, of: Self) -> i128 {
        if Self::is_infinite(tick) {
            return tick.into();
        }
        (i128::from(tick) * of.nanos_per_tick()).div_euclid(self.nanos_per_tick())
    }

    /// The smallest tick that is not earlier than a point of another precision, which is `of`. Infinities stay.
    #[must_use]
    pub fn ceil_of(self, tick: i64, of: Self) -> i128 {
        if Self::is_infinite(tick) {
            return tick.into();
        }
        let nanos = i128::from(tick) * of.nanos_per_tick();
        -(-nanos).div_euclid(self.nanos_per_tick())
    }

    /// The whole ticks of a length that may be finer, rounded down: fixed, and not negative.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`] or [`Error::Negative`].
    pub fn floor_length(self, argument: Argument, value: Interval) -> Result<i128> {
        let nanos = value.fixed_nanos().ok_or(Error::Calendar { argument, value })?;
        if nanos < 0 { Err(Error::Negative { argument, value }) } else { Ok(nanos / self.nanos_per_tick()) }
    }
}
