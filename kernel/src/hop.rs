//! Windows that overlap: all that hold a timestamp, of those that hop by a slide and of those that grow by a step.
//!
//! Hopping windows `[s, s + size)` start on the grid of the slide. The starts are the grid points in
//! `(ts - size, ts]`: with `past` the distance of `ts` from the grid point below it, there is one for each whole
//! `k >= 0` with `past + k * slide < size`. That is `size / slide` of them, and one more where `past` is less than the
//! remainder.
//!
//! Growing windows `[s, s + k * step)` start on the grid of the size, of which the step is a whole part. The ends are
//! the points of that finer grid in `(ts, s + size]`.
//!
//! Two passes over the rows: [`count_windows`] sizes the lists, [`write_windows`] fills them. Both find `past` by one
//! multiplication; that no bound is out of range is known from the smallest and the largest timestamp before them.

use crate::error::{Argument, Error, Result};
use crate::grid::Divisor;
use crate::lists::{List, fill_lists, size_lists};
use crate::rows::Anchors;
use crate::slice::Extremes;
use crate::{Civil, Grid, Interval, Precision, Steps};

/// How the windows around a timestamp lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One starts at every slide, all are of one size.
    Hop,
    /// One starts at every size, and grows step by step.
    Grow,
}

impl Shape {
    /// What the distance between two neighbouring windows is called.
    #[must_use]
    pub const fn step(self) -> Argument {
        match self {
            Self::Hop => Argument::Slide,
            Self::Grow => Argument::Step,
        }
    }
}

/// Windows of which it is known that step, size and anchor are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    shape: Shape,
    /// Where windows start.
    grid: Grid,
    step: i128,
    size: i128,
    /// `size / step`
    whole: u64,
    /// `size % step`
    rest: i128,
}

impl Hop {
    /// More windows a row than this are refused: they come from a mistaken unit rather than from a question.
    pub const MOST_WINDOWS: i128 = 100_000;

    /// The windows of this step and size, whose starts are on a grid through `anchor`.
    ///
    /// # Errors
    ///
    /// The reason why step or size is refused, [`Error::NotMultiple`] for growing windows, or
    /// [`Error::TooManyWindows`].
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::{Hop, Interval, Precision, Shape};
    /// let minutes = |minutes: i64| Interval { months: 0, days: 0, micros: minutes * 60_000_000 };
    /// let hop = Hop::new(Shape::Hop, Precision::Second, minutes(2), minutes(5), 0).unwrap();
    /// assert_eq!(hop.count(60), 2); // the windows that start 120 seconds before the epoch, and at it
    /// let grow = Hop::new(Shape::Grow, Precision::Second, minutes(2), minutes(6), 0).unwrap();
    /// assert_eq!(grow.count(120), 2); // from the epoch to 240 and to 360 seconds after it
    /// ```
    pub fn new(
        shape: Shape,
        precision: Precision,
        step: Interval,
        size: Interval,
        anchor: i128,
    ) -> Result<Self> {
        let argument = shape.step();
        let step_ticks = precision.length_ticks(argument, step)?;
        let size_ticks = precision.length_ticks(Argument::Size, size)?;
        let (whole, rest) = (size_ticks / step_ticks, size_ticks % step_ticks);
        let grid = match shape {
            Shape::Hop => precision.grid(argument, step, anchor)?,
            Shape::Grow if rest != 0 => {
                let (argument, divisor) = (Argument::Size, argument);
                return Err(Error::NotMultiple { argument, value: size, divisor, unit: step });
            }
            Shape::Grow => precision.grid(Argument::Size, size, anchor)?,
        };
        let windows = whole + i128::from(rest != 0);
        match u64::try_from(whole) {
            Ok(whole) if windows <= Self::MOST_WINDOWS => {
                Ok(Self { shape, grid, step: step_ticks, size: size_ticks, whole, rest })
            }
            _ => Err(Error::TooManyWindows { argument, step, size, windows, limit: Self::MOST_WINDOWS }),
        }
    }

    /// How many windows hold `ts`; none where it lies in a gap between windows shorter than the slide.
    #[must_use]
    #[inline]
    pub fn count(&self, ts: i64) -> u64 {
        let past = i128::from(ts) - self.grid.start(ts);
        match self.shape {
            Shape::Hop => self.whole + u64::from(past < self.rest),
            Shape::Grow => self.whole - (past / self.step) as u64,
        }
    }

    /// The first start and the first end of the `count` windows that hold `ts`.
    #[inline]
    fn first(&self, ts: i64, count: u64) -> (i128, i128) {
        let (start, grown) = (self.grid.start(ts), (i128::from(count) - 1) * self.step);
        match self.shape {
            Shape::Hop => (start - grown, start - grown + self.size),
            Shape::Grow => (start, start + self.size - grown),
        }
    }

    /// How far the starts and the ends of neighbouring windows are apart.
    const fn steps(&self) -> (i128, i128) {
        match self.shape {
            Shape::Hop => (self.step, self.step),
            Shape::Grow => (0, self.step),
        }
    }

    /// The starts and the ends of the windows that hold `ts`, or `None` when one is no finite timestamp.
    #[inline]
    fn bounds(&self, precision: Precision, ts: i64) -> Option<(Steps, Steps)> {
        let count = self.count(ts);
        let ((start, end), (starts, ends)) = (self.first(ts, count), self.steps());
        Some((Steps::new(precision, start, starts, count)?, Steps::new(precision, end, ends, count)?))
    }

    /// The same in 64 bits, for a size and a step that fit them.
    fn narrow(&self) -> Option<Narrow<'_>> {
        Some(Narrow {
            shape: self.shape,
            divisor: self.grid.divisor()?,
            step: u64::try_from(self.step).ok()?,
            size: u64::try_from(self.size).ok()?,
            whole: self.whole,
            rest: u64::try_from(self.rest).ok()?,
        })
    }
}

/// A [`Hop`] in words of 64 bits. Its bounds are modulo 2^64, which is exact where they are finite timestamps.
#[derive(Clone, Copy)]
struct Narrow<'a> {
    shape: Shape,
    divisor: &'a Divisor,
    step: u64,
    size: u64,
    whole: u64,
    rest: u64,
}

impl Narrow<'_> {
    /// How many windows hold `ts`.
    #[inline(always)]
    fn count(&self, ts: i64) -> u64 {
        match self.shape {
            Shape::Hop if self.rest == 0 => self.whole,
            Shape::Hop => self.whole + u64::from(self.divisor.ticks_past_start(ts) < self.rest),
            Shape::Grow => self.whole - self.divisor.ticks_past_start(ts) / self.step,
        }
    }

    /// The first start and the first end of the `count` windows that hold `ts`.
    #[inline(always)]
    fn first(&self, ts: i64, count: u64) -> (i64, i64) {
        let start = (ts as u64).wrapping_sub(self.divisor.ticks_past_start(ts));
        let grown = count.wrapping_sub(1).wrapping_mul(self.step);
        let (start, end) = match self.shape {
            Shape::Hop => (start.wrapping_sub(grown), start.wrapping_sub(grown).wrapping_add(self.size)),
            Shape::Grow => (start, start.wrapping_add(self.size).wrapping_sub(grown)),
        };
        (start as i64, end as i64)
    }
}

/// The windows that apply to each row.
#[derive(Debug, Clone, Copy)]
pub enum Hops<'a> {
    /// The same for all.
    One(&'a Hop),
    /// Other ones a row, not yet validated. All slices are as long as the timestamps.
    Rows {
        /// How they lie.
        shape: Shape,
        /// Each row's slide or step.
        steps: &'a [Interval],
        /// Each row's size.
        sizes: &'a [Interval],
        /// Each row's anchor.
        anchors: Anchors<'a>,
    },
}

impl Hops<'_> {
    /// The windows of all rows, where their smallest and largest timestamp say that none has a bound out of range.
    fn all_finite(&self, precision: Precision, ts: &[i64], validity: Option<&[u64]>) -> Option<Narrow<'_>> {
        let Self::One(hop) = self else { return None };
        let extremes = Extremes::of(ts, validity);
        let Extremes { lowest, highest } = extremes;
        if extremes.have_infinity() || lowest > highest {
            return None;
        }
        // The bounds grow with the timestamp. Those of the extremes are finite, and above the sentinel of -infinity,
        // which a bound of nanoseconds might hit. A slide that is longer than the size may leave out an extreme's own
        // windows, so it is asked for those next to it.
        let finite = |tick| precision.finite(tick).is_some_and(|tick| tick > Precision::INFINITIES[0]);
        let first = hop.grid.start(lowest) - hop.size;
        let last = hop.grid.end(highest) + hop.size;
        (finite(first) && finite(last)).then(|| hop.narrow()).flatten()
    }

    /// The windows of `row`; those of the row `previous`, already made, where its arguments are the same.
    #[inline]
    fn of_row(&self, row: usize, precision: Precision, previous: Option<(usize, Hop)>) -> Result<Hop> {
        match *self {
            Self::One(hop) => Ok(*hop),
            Self::Rows { shape, steps, sizes, anchors } => match previous {
                Some((other, hop))
                    if steps[row] == steps[other]
                        && sizes[row] == sizes[other]
                        && anchors.same(row, other) =>
                {
                    Ok(hop)
                }
                _ => Hop::new(shape, precision, steps[row], sizes[row], anchors.row_ticks(row, precision)?),
            },
        }
    }
}

/// Writes to `lists` where each row's windows stand, one row after the other, and gives the number of all windows.
///
/// An infinite timestamp has one window. Rows that `validity` does not hold have none, and raise no error, whatever
/// their arguments are.
///
/// # Errors
///
/// The first valid row's [`Error`] whose arguments are refused or one of whose windows has a bound out of range.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, or `validity` than one bit a row.
pub fn count_windows(
    hops: &Hops<'_>,
    precision: Precision,
    ts: &[i64],
    validity: Option<&[u64]>,
    lists: &mut [List],
) -> Result<u64> {
    if let Some(narrow) = hops.all_finite(precision, ts, validity) {
        return size_lists(ts, validity, lists, |_, ts| Ok(narrow.count(ts)));
    }
    let mut previous = None;
    size_lists(ts, validity, lists, |row, ts| {
        let hop = hops.of_row(row, precision, previous)?;
        previous = Some((row, hop));
        let out_of_range =
            || Error::WindowOutOfRange { argument: Argument::Ts, value: Civil { tick: ts, precision } };
        match hop.count(ts) {
            _ if Precision::is_infinite(ts) => Ok(1),
            0 => Ok(0),
            _ => Ok(hop.bounds(precision, ts).ok_or_else(out_of_range)?.0.len()),
        }
    })
}

/// Writes the bounds of every window, where `lists` says, as [`count_windows`] sized them from the same arguments.
///
/// # Errors
///
/// None after [`count_windows`] has succeeded.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, or `starts` or `ends` than all lists together.
pub fn write_windows(
    hops: &Hops<'_>,
    precision: Precision,
    ts: &[i64],
    lists: &[List],
    starts: &mut [i64],
    ends: &mut [i64],
) -> Result<()> {
    if let Hops::One(hop) = hops
        && let Some(narrow) = hop.narrow()
    {
        let steps = hop.steps();
        return fill_lists(ts, lists, starts, ends, |_, ts, starts, ends| {
            write_steps(narrow.first(ts, starts.len() as u64), steps, starts, ends);
            Ok(())
        });
    }
    let mut previous = None;
    fill_lists(ts, lists, starts, ends, |row, ts, starts, ends| {
        let hop = hops.of_row(row, precision, previous)?;
        previous = Some((row, hop));
        let (start, end) = hop.first(ts, starts.len() as u64);
        write_steps((start as i64, end as i64), hop.steps(), starts, ends);
        Ok(())
    })
}

/// Writes the first start and the first end, and what follows each at its step. All is modulo 2^64, which is exact: every bound
/// fits an `i64`.
#[inline(always)]
fn write_steps(first: (i64, i64), steps: (i128, i128), starts: &mut [i64], ends: &mut [i64]) {
    let ((mut start, mut end), (step_start, step_end)) = (first, steps);
    for (out_start, out_end) in starts.iter_mut().zip(ends) {
        (*out_start, *out_end) = (start, end);
        start = start.wrapping_add(step_start as i64);
        end = end.wrapping_add(step_end as i64);
    }
}
