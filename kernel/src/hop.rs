//! Hopping windows: all windows `[s, s + size)` that hold a timestamp, with `s` on the grid of the slide.
//!
//! The starts are the grid points in `(ts - size, ts]`. With `past` the distance of `ts` from the grid point below
//! it, there is one for each whole `k >= 0` with `past + k * slide < size`; that is `size / slide` of them, and one
//! more where `past` is less than the remainder. No division is left for the rows.
//!
//! Two passes over the rows: [`count_windows`] sizes the lists, [`write_windows`] fills them.

use crate::error::{Argument, Error, Result};
use crate::rows::Anchors;
use crate::validity::is_valid;
use crate::{Civil, Grid, Interval, Precision, Steps};

/// Where a row's list stands among all elements. Its layout is that of `duckdb_list_entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct List {
    /// The index of its first element.
    pub offset: u64,
    /// How many elements.
    pub length: u64,
}

/// Hopping windows of which it is known that slide, size and anchor are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    grid: Grid,
    size: i128,
    /// `size / slide`
    whole: u64,
    /// `size % slide`
    rest: i128,
}

impl Hop {
    /// More windows a row than this are refused: they come from a mistaken unit rather than from a question.
    pub const MOST_WINDOWS: i128 = 100_000;

    /// The windows of this slide and size, whose starts are on the grid through `anchor`.
    ///
    /// # Errors
    ///
    /// The reason why slide or size is refused, or [`Error::TooManyWindows`].
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::{Hop, Interval, Precision};
    /// let minutes = |minutes: i64| Interval { months: 0, days: 0, micros: minutes * 60_000_000 };
    /// let hop = Hop::new(Precision::Second, minutes(2), minutes(5), 0).unwrap();
    /// assert_eq!(hop.count(60), 2); // the windows that start 120 seconds before the epoch, and at it
    /// ```
    pub fn new(precision: Precision, slide: Interval, size: Interval, anchor: i128) -> Result<Self> {
        let grid = precision.grid(Argument::Slide, slide, anchor)?;
        let size_ticks = precision.length_ticks(Argument::Size, size)?;
        let (whole, rest) = (size_ticks / grid.width(), size_ticks % grid.width());
        let windows = whole + i128::from(rest != 0);
        match u64::try_from(whole) {
            Ok(whole) if windows <= Self::MOST_WINDOWS => Ok(Self { grid, size: size_ticks, whole, rest }),
            _ => Err(Error::TooManyWindows { slide, size, windows, limit: Self::MOST_WINDOWS }),
        }
    }

    /// How many windows hold `ts`; none where it lies in a gap between windows shorter than the slide.
    #[must_use]
    #[inline]
    pub fn count(&self, ts: i64) -> u64 {
        let past_start = i128::from(ts) - self.grid.start(ts);
        self.whole + u64::from(past_start < self.rest)
    }

    /// The start of the earliest window that holds `ts`, of `count` such windows.
    #[inline]
    fn first(&self, ts: i64, count: u64) -> i128 {
        self.grid.start(ts) - (i128::from(count) - 1) * self.grid.width()
    }

    /// The starts and the ends of the windows that hold `ts`, or `None` when one is no finite timestamp.
    #[inline]
    fn bounds(&self, precision: Precision, ts: i64) -> Option<(Steps, Steps)> {
        let count = self.count(ts);
        let first = self.first(ts, count);
        let slide = self.grid.width();
        Some((
            Steps::new(precision, first, slide, count)?,
            Steps::new(precision, first + self.size, slide, count)?,
        ))
    }
}

/// The windows that apply to each row.
#[derive(Debug, Clone, Copy)]
pub enum Hops<'a> {
    /// The same for all.
    One(&'a Hop),
    /// Other ones a row, not yet validated. All slices are as long as the timestamps.
    Rows {
        /// Each row's slide.
        slides: &'a [Interval],
        /// Each row's size.
        sizes: &'a [Interval],
        /// Each row's anchor.
        anchors: Anchors<'a>,
    },
}

impl Hops<'_> {
    /// The windows of `row`; those of the row `previous`, already made, where its arguments are the same.
    #[inline]
    fn of_row(&self, row: usize, precision: Precision, previous: Option<(usize, Hop)>) -> Result<Hop> {
        match *self {
            Self::One(hop) => Ok(*hop),
            Self::Rows { slides, sizes, anchors } => match previous {
                Some((other, hop))
                    if slides[row] == slides[other]
                        && sizes[row] == sizes[other]
                        && anchors.same(row, other) =>
                {
                    Ok(hop)
                }
                _ => Hop::new(precision, slides[row], sizes[row], anchors.row_ticks(row, precision)?),
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
    let lists = &mut lists[..ts.len()];
    let mut total = 0;
    let mut previous = None;
    for (row, (&ts, list)) in ts.iter().zip(lists).enumerate() {
        *list = List { offset: total, length: 0 };
        if !is_valid(validity, row) {
            continue;
        }
        let hop = hops.of_row(row, precision, previous)?;
        previous = Some((row, hop));
        list.length = if Precision::is_infinite(ts) {
            1
        } else {
            let out_of_range =
                || Error::WindowOutOfRange { argument: Argument::Ts, value: Civil { tick: ts, precision } };
            match hop.count(ts) {
                0 => 0,
                _ => hop.bounds(precision, ts).ok_or_else(out_of_range)?.0.len(),
            }
        };
        total += list.length;
    }
    Ok(total)
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
    let mut previous = None;
    for (row, (&ts, list)) in ts.iter().zip(lists).enumerate() {
        if list.length == 0 {
            continue;
        }
        let elements = list.offset as usize..(list.offset + list.length) as usize;
        let (starts, ends) = (&mut starts[elements.clone()], &mut ends[elements]);
        if Precision::is_infinite(ts) {
            (starts[0], ends[0]) = (ts, ts);
            continue;
        }
        let hop = hops.of_row(row, precision, previous)?;
        previous = Some((row, hop));
        // Modulo 2^64, which is exact: every bound fits an `i64`.
        let first = hop.first(ts, list.length) as i64;
        let (slide, size) = (hop.grid.width() as i64, hop.size as i64);
        let mut start = first;
        for (out_start, out_end) in starts.iter_mut().zip(ends) {
            *out_start = start;
            *out_end = start.wrapping_add(size);
            start = start.wrapping_add(slide);
        }
    }
    Ok(())
}
