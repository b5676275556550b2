//! The bucket of every timestamp when width, offset or origin come from columns.
//!
//! Mostly such columns hold one value after all, or a few. A chunk whose valid rows all have the same arguments goes
//! through the slice kernel; any other row by row, with the grids of the arguments met last kept at hand, so that a
//! change of arguments rarely costs a division.

use super::validity::{WORD, is_valid};
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
    /// At midnight of this row's DATE, in days from the epoch.
    Date(&'a [i32]),
}

impl Anchors<'_> {
    /// The ticks of a row's anchor.
    pub(super) fn ticks(&self, row: usize, precision: Precision) -> Result<i128> {
        match self {
            Self::Epoch => Ok(0),
            Self::Offset(offsets) => precision.offset_ticks(offsets[row]),
            Self::Origin(origins, of) => precision.origin_ticks(origins[row], *of),
            Self::Date(dates) => precision.date_ticks(dates[row]),
        }
    }

    /// Whether two rows have the same anchor.
    #[inline(always)]
    pub(super) fn same(&self, row: usize, other: usize) -> bool {
        match self {
            Self::Epoch => true,
            Self::Offset(offsets) => offsets[row].is(offsets[other]),
            Self::Origin(origins, _) => origins[row] == origins[other],
            Self::Date(dates) => dates[row] == dates[other],
        }
    }

    /// Whether all of the first `len` rows that are valid have the anchor of `row`.
    fn all_same(&self, row: usize, len: usize, validity: Option<&[u64]>) -> bool {
        match self {
            Self::Epoch => true,
            Self::Offset(offsets) => all(offsets, len, validity, |offset| offset.difference(offsets[row])),
            Self::Origin(origins, _) => all(origins, len, validity, |origin| (origin ^ origins[row]) as u64),
            Self::Date(dates) => all(dates, len, validity, |date| u64::from((date ^ dates[row]) as u32)),
        }
    }

    #[inline]
    fn hash(&self, row: usize) -> i64 {
        match self {
            Self::Epoch => 0,
            Self::Offset(offsets) => offsets[row].hash(),
            Self::Origin(origins, _) => origins[row],
            Self::Date(dates) => dates[row].into(),
        }
    }
}

impl RowGrids<'_> {
    #[cold]
    #[inline(never)]
    fn grid(&self, row: usize, precision: Precision) -> Result<Grid> {
        let width = precision.width_ticks(self.widths[row])?;
        let anchor = self.anchors.ticks(row, precision)?;
        Grid::new(width, anchor)
            .ok_or(Error::NotPositive { argument: Argument::Width, value: self.widths[row] })
    }

    /// Whether two rows have the same arguments.
    #[inline(always)]
    fn same(&self, row: usize, other: usize) -> bool {
        self.widths[row].is(self.widths[other]) & self.anchors.same(row, other)
    }

    /// Whether all of the first `len` rows that are valid have the arguments of `row`.
    fn all_same(&self, row: usize, len: usize, validity: Option<&[u64]>) -> bool {
        all(self.widths, len, validity, |width| width.difference(self.widths[row]))
            && self.anchors.all_same(row, len, validity)
    }

    /// A number that rows with other arguments mostly differ in.
    #[inline]
    fn hash(&self, row: usize) -> usize {
        const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = (self.widths[row].hash() ^ self.anchors.hash(row).rotate_left(17)) as u64;
        (mixed.wrapping_mul(GOLDEN_RATIO) >> 32) as usize
    }
}

/// Whether the first `len` values that are valid all have no difference. All are looked at, since a loop without an
/// early end vectorises.
#[inline(always)]
fn all<T: Copy>(values: &[T], len: usize, validity: Option<&[u64]>, difference: impl Fn(T) -> u64) -> bool {
    let values = &values[..len];
    let differences = match validity {
        None => values.iter().fold(0, |all, &value| all | difference(value)),
        Some(words) => values.chunks(WORD).zip(words).fold(0, |all, (values, word)| {
            let if_valid = |bit: usize| (word >> bit & 1).wrapping_neg();
            values.iter().enumerate().fold(all, |all, (bit, &value)| all | difference(value) & if_valid(bit))
        }),
    };
    differences == 0
}

/// The grids of the arguments met last, each with a row that has these arguments.
struct Grids([Option<(usize, Grid)>; Self::LEN]);

impl Grids {
    const LEN: usize = 16;

    /// The grid of `row`.
    #[inline(always)]
    fn of(&mut self, row: usize, rows: &RowGrids<'_>, precision: Precision) -> Result<&Grid> {
        let slot = &mut self.0[rows.hash(row) % Self::LEN];
        if slot.as_ref().is_none_or(|(met, _)| !rows.same(*met, row)) {
            *slot = Some((row, rows.grid(row, precision)?));
        }
        let (_, grid) = slot.as_ref().expect("the slot was just filled");
        Ok(grid)
    }
}

/// Shorter runs of equal arguments are not worth the slice kernel's preparations.
const LONG_RUN: usize = 32;

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
    let Some(first) = (0..ts.len()).find(|&row| is_valid(validity, row)) else { return Ok(()) };
    if grids.all_same(first, ts.len(), validity) {
        let grid = grids.grid(first, precision)?;
        return bucket_slice(&grid, precision, edge, ts, validity, out)
            .map_err(|error| out_of_range(error.row));
    }
    let mut met = Grids([None; Grids::LEN]);
    let range = precision.range();
    let mut row = first;
    while row < ts.len() {
        if !is_valid(validity, row) {
            row += 1;
            continue;
        }
        let grid = met.of(row, grids, precision)?;
        let end = (row + 1..ts.len()).find(|&next| !grids.same(row, next)).unwrap_or(ts.len());
        if end - row >= LONG_RUN && validity.is_none() {
            bucket_slice(grid, precision, edge, &ts[row..end], None, &mut out[row..end])
                .map_err(|error| out_of_range(row + error.row))?;
        } else {
            for row in row..end {
                if Precision::is_infinite(ts[row]) {
                    out[row] = ts[row];
                } else if is_valid(validity, row) {
                    let tick = grid.edge_tick(edge, ts[row]);
                    let finite = tick.filter(|tick| range.contains(tick) && !Precision::is_infinite(*tick));
                    out[row] = finite.ok_or_else(|| out_of_range(row))?;
                }
            }
        }
        row = end;
    }
    Ok(())
}
