//! Windows that are counted out rather than looked up: the buckets of a range, and the stored windows of a lookback.

use crate::error::{Argument, Error, Result};
use crate::pane::staleness;
use crate::{Civil, Grid, Interval, Precision, Steps};

/// Every bucket that meets a range of time, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    starts: Steps,
    ends: Steps,
}

impl Series {
    /// The buckets of `grid` that meet `[from, until)`; none when that is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`], [`Error::Backwards`] when `until` is before `from`, or [`Error::WindowOutOfRange`].
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::{Grid, Precision, Series};
    /// let minutes = Grid::new(60, 0).unwrap();
    /// let series = Series::new(&minutes, Precision::Second, 59, 121).unwrap();
    /// assert_eq!(series.len(), 3); // from 0, 60 and 120
    /// ```
    pub fn new(grid: &Grid, precision: Precision, from: i64, until: i64) -> Result<Self> {
        let civil = |tick| Civil { tick, precision };
        civil(from).require_finite(Argument::From)?;
        civil(until).require_finite(Argument::Until)?;
        if until < from {
            return Err(Error::Backwards { from: civil(from), until: civil(until) });
        }
        let out_of_range = |argument, tick| Error::WindowOutOfRange { argument, value: civil(tick) };
        let (first, width) = (grid.start(from), grid.width());
        let len = if from == until { 0 } else { (grid.start(until - 1) - first) / width + 1 };
        let len = u64::try_from(len).map_err(|_| out_of_range(Argument::Until, until))?;
        if len == 0 {
            let steps = Steps::new(precision, from.into(), 0, 0);
            let steps = steps.ok_or_else(|| out_of_range(Argument::From, from))?;
            return Ok(Self { starts: steps, ends: steps });
        }
        let starts = Steps::new(precision, first, width, len);
        let starts = starts.ok_or_else(|| out_of_range(Argument::From, from))?;
        let ends = Steps::new(precision, first + width, width, len);
        Ok(Self { starts, ends: ends.ok_or_else(|| out_of_range(Argument::Until, until))? })
    }

    /// How many buckets.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.starts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The buckets' starts and ends.
    #[must_use]
    pub const fn bounds(&self) -> (&Steps, &Steps) {
        (&self.starts, &self.ends)
    }
}

/// Stored windows of one size and slide that lie side by side and together make a lookback, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cover {
    windows: Series,
    aligned_end: i64,
    staleness: Interval,
}

impl Cover {
    /// The windows that cover `[end - lookback, end)` once, where `end` is `at` floored to the grid of the slide
    /// through `anchor`.
    ///
    /// # Errors
    ///
    /// Each length must be fixed, positive and whole ticks, the lookback a multiple of the size and the size of the
    /// slide; `at` must be finite and no window out of range.
    pub fn new(
        precision: Precision,
        at: i64,
        lookback: Interval,
        size: Interval,
        slide: Interval,
        anchor: i128,
    ) -> Result<Self> {
        let lookback_ticks = precision.length_ticks(Argument::Lookback, lookback)?;
        let size_ticks = precision.length_ticks(Argument::Size, size)?;
        let grid = precision.grid(Argument::Slide, slide, anchor)?;
        if lookback_ticks % size_ticks != 0 {
            let (argument, divisor) = (Argument::Lookback, Argument::Size);
            return Err(Error::NotMultiple { argument, value: lookback, divisor, unit: size });
        }
        if size_ticks % grid.width() != 0 {
            let (argument, divisor) = (Argument::Size, Argument::Slide);
            return Err(Error::NotMultiple { argument, value: size, divisor, unit: slide });
        }
        let (argument, value) = (Argument::At, Civil { tick: at, precision });
        value.require_finite(argument)?;
        let out_of_range = || Error::WindowOutOfRange { argument, value };
        let end = grid.start(at);
        let len = u64::try_from(lookback_ticks / size_ticks).map_err(|_| out_of_range())?;
        let first = end - lookback_ticks;
        let windows = Series {
            starts: Steps::new(precision, first, size_ticks, len).ok_or_else(out_of_range)?,
            ends: Steps::new(precision, first + size_ticks, size_ticks, len).ok_or_else(out_of_range)?,
        };
        Ok(Self {
            windows,
            aligned_end: precision.finite(end).ok_or_else(out_of_range)?,
            staleness: staleness(precision, at, end).ok_or_else(out_of_range)?,
        })
    }

    /// The windows.
    #[must_use]
    pub const fn windows(&self) -> &Series {
        &self.windows
    }

    /// Where the newest window ends.
    #[must_use]
    pub const fn aligned_end(&self) -> i64 {
        self.aligned_end
    }

    /// How much later than that the query is asked, in whole microseconds, rounded up.
    #[must_use]
    pub const fn staleness(&self) -> Interval {
        self.staleness
    }
}
