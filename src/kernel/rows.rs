//! The bucket of every timestamp when width, offset or origin differ from row to row.
//!
//! Neighbouring rows mostly share their arguments, so a grid is made once for each run of equal arguments: a long
//! run goes through the slice kernel, a short one row by row with the grid of the run.

use super::validity::is_valid;
use super::{Civil, Edge, Grid, Interval, Precision, bucket_slice};
use crate::error::{Argument, Error, Result};

/// A grid a row, not yet validated. All slices are as long as the timestamps.
#[derive(Debug, Clone, Copy)]
pub struct RowGrids<'a> {
    /// Each row's width.
    pub widths: &'a [Interval],
    /// Each row's anchor.
    pub anchors: Anchors<'a>,
}

/// Where each row's grid is anchored.
#[derive(Debug, Clone, Copy)]
pub enum Anchors<'a> {
    /// At the epoch.
    Epoch,
    /// At the epoch plus this row's interval.
    Offset(&'a [Interval]),
    /// At this row's timestamp, whose precision may differ from the bucketed column's.
    Origin(&'a [i64], Precision),
}

impl Precision {
    /// The ticks of a width: fixed, positive and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`], [`Error::NotPositive`] or [`Error::IntervalNotWhole`].
    pub fn width_ticks(self, width: Interval) -> Result<i128> {
        self.length_ticks(Argument::Width, width)
    }

    /// The ticks of a length, such as a width or a window's size: fixed, positive and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`], [`Error::NotPositive`] or [`Error::IntervalNotWhole`], about `argument`.
    pub fn length_ticks(self, argument: Argument, value: Interval) -> Result<i128> {
        let ticks = self.interval_ticks(argument, value);
        match value.fixed_nanos() {
            Some(nanos) if nanos <= 0 => Err(Error::NotPositive { argument, value }),
            _ => ticks,
        }
    }

    /// The ticks of an offset: fixed and whole, of any sign.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`] or [`Error::IntervalNotWhole`].
    pub fn offset_ticks(self, offset: Interval) -> Result<i128> {
        self.interval_ticks(Argument::Offset, offset)
    }

    fn interval_ticks(self, argument: Argument, value: Interval) -> Result<i128> {
        let nanos = value.fixed_nanos().ok_or(Error::Calendar { argument, value })?;
        self.ticks(nanos).ok_or(Error::IntervalNotWhole { argument, value, precision: self })
    }

    /// The ticks of an origin given in another precision: finite and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`] or [`Error::OriginNotWhole`].
    pub fn origin_ticks(self, origin: i64, of: Self) -> Result<i128> {
        let value = Civil { tick: origin, precision: of };
        if Self::is_infinite(origin) {
            return Err(Error::Infinite { argument: Argument::Origin, value });
        }
        let nanos = i128::from(origin) * of.nanos_per_tick();
        self.ticks(nanos).ok_or(Error::OriginNotWhole { value, precision: self })
    }
}

impl RowGrids<'_> {
    fn grid(&self, row: usize, precision: Precision) -> Result<Grid> {
        let width = precision.width_ticks(self.widths[row])?;
        let anchor = self.anchors.ticks(row, precision)?;
        Grid::new(width, anchor)
            .ok_or(Error::NotPositive { argument: Argument::Width, value: self.widths[row] })
    }

    #[inline]
    fn same(&self, row: usize, other: usize) -> bool {
        self.widths[row] == self.widths[other] && self.anchors.same(row, other)
    }
}

impl Anchors<'_> {
    /// The ticks of a row's anchor.
    pub(super) fn ticks(&self, row: usize, precision: Precision) -> Result<i128> {
        match self {
            Self::Epoch => Ok(0),
            Self::Offset(offsets) => precision.offset_ticks(offsets[row]),
            Self::Origin(origins, of) => precision.origin_ticks(origins[row], *of),
        }
    }

    /// Whether two rows have the same anchor.
    #[inline]
    pub(super) fn same(&self, row: usize, other: usize) -> bool {
        match self {
            Self::Epoch => true,
            Self::Offset(offsets) => offsets[row] == offsets[other],
            Self::Origin(origins, _) => origins[row] == origins[other],
        }
    }
}

/// Shorter runs are not worth the slice kernel's scan of its block.
const SHORT_RUN: usize = 16;

/// Writes to `out` the `edge` of the bucket that each of `ts` lies in, on that row's own grid.
///
/// A row that `validity` does not hold raises no error, whatever its arguments are; what is written for it has no
/// meaning.
///
/// # Errors
///
/// The first valid row's [`Error`] whose arguments are refused or whose edge is out of range.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, or `validity` than one bit a row.
pub fn bucket_rows(
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    let out_of_range = |row: usize| Error::OutOfRange { edge, value: Civil { tick: ts[row], precision } };
    let mut row = 0;
    while row < ts.len() {
        if !is_valid(validity, row) {
            row += 1;
            continue;
        }
        let grid = grids.grid(row, precision)?;
        let end = (row + 1..ts.len()).find(|&next| !is_valid(validity, next) || !grids.same(row, next));
        let run = row..end.unwrap_or(ts.len());
        if run.len() < SHORT_RUN {
            for row in run.clone() {
                out[row] = if Precision::is_infinite(ts[row]) {
                    ts[row]
                } else {
                    precision.finite(grid.edge(edge, ts[row])).ok_or_else(|| out_of_range(row))?
                };
            }
        } else {
            bucket_slice(&grid, precision, edge, &ts[run.clone()], None, &mut out[run.clone()])
                .map_err(|error| out_of_range(run.start + error.row))?;
        }
        row = run.end;
    }
    Ok(())
}
