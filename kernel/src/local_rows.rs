//! The local bucket of every timestamp when zone, width, offset or origin come from columns.
//!
//! Each row looks up its own zone's clock. Most buckets lie between two changes of the clock, where they are those of a plain
//! grid: where all rows of a block have the same one, a loop without branches settles those. Others are worked out.

use crate::blocks::{BLOCK, Rows, blocks};
use crate::clocks::{AtOnce, Between};
use crate::rows::{Grids, Uniform};
use crate::simd::{Level, run_at};
use crate::validity::{WORD, rows_of, valid_rows};
use crate::{Civil, Clocks, Edge, Error, LocalGrid, Precision, Result, RowGrids};

/// A grid and a zone a row, of which the grids are not yet validated. All slices are as long as the timestamps.
#[derive(Debug, Clone, Copy)]
pub struct LocalRows<'a> {
    /// Each row's grid, of readings of the clock.
    pub grids: RowGrids<'a>,
    /// Each row's zone: its place among the clocks.
    pub zones: &'a [u16],
}

/// Writes to `out` the `edge` of the bucket that each of `ts` lies in, on that row's own grid and clock.
///
/// Infinite timestamps give themselves. A row that `validity` does not hold raises no error, whatever its arguments are; what
/// is written for it has no meaning.
///
/// # Errors
///
/// The first valid row's [`Error`] whose arguments are refused or whose edge is out of range.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, `validity` than one bit a row, or a row's zone is not among `clocks`.
pub fn bucket_local_rows(
    rows: &LocalRows<'_>,
    clocks: &mut Clocks,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    bucket_local_rows_at(Level::best(), rows, clocks, precision, edge, ts, validity, out)
}

/// [`bucket_local_rows`] with a chosen instruction set, so that each can be tested.
#[expect(clippy::too_many_arguments, reason = "one more than what it tests")]
pub(crate) fn bucket_local_rows_at(
    level: Level,
    rows: &LocalRows<'_>,
    clocks: &mut Clocks,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    for block in blocks(ts, validity, out) {
        let range = block.range.clone();
        let rows = LocalRows { grids: rows.grids.of_rows(range.clone()), zones: &rows.zones[range] };
        bucket_block(level, &rows, clocks, precision, edge, block)?;
    }
    Ok(())
}

/// [`bucket_local_rows`] for up to [`BLOCK`] rows.
fn bucket_block(
    level: Level,
    rows: &LocalRows<'_>,
    clocks: &mut Clocks,
    precision: Precision,
    edge: Edge,
    Rows { ts, validity, out, .. }: Rows<'_>,
) -> Result<()> {
    let LocalRows { grids, zones } = rows;
    let mut left = [0; BLOCK / WORD];
    let left = valid_rows(&mut left, validity, ts.len());
    let Some(first) = rows_of(left).next() else { return Ok(()) };
    if run_at(level, Uniform(grids)) {
        let grid = grids.grid(first, precision)?;
        if let Some(between) = Between::new(&grid, precision) {
            let grid = &grid;
            run_at(level, AtOnce { grid, between, clocks, edge, ts, zones, validity, left, out });
        }
    }
    one_by_one(rows, clocks, precision, edge, ts, left, out)
}

/// The rows of `mask`, in order, so that the first error is the one that is met.
fn one_by_one(
    rows: &LocalRows<'_>,
    clocks: &mut Clocks,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    mask: &[u64],
    out: &mut [i64],
) -> Result<()> {
    let LocalRows { grids, zones } = rows;
    let mut met = Grids::new();
    for row in rows_of(mask) {
        let (ts, zone, grid) = (ts[row], usize::from(zones[row]), met.of(row, grids, precision)?);
        out[row] = if Precision::is_infinite(ts) {
            ts
        } else {
            let between = Between::new(grid, precision)
                .and_then(|between| between.of_row(grid, edge, ts, clocks, zone));
            let answer = between.or_else(|| {
                precision.finite(LocalGrid::new(clocks.zone(zone), grid, precision).edge(edge, ts))
            });
            answer.ok_or(Error::OutOfRange { edge, value: Civil { tick: ts, precision } })?
        };
    }
    Ok(())
}
