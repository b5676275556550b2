//! The local bucket of every timestamp when zone, width, offset or origin come from columns.
//!
//! Each row looks up its own zone's clock. Most buckets lie between two changes of the clock, where they are those of a plain
//! grid; others are worked out.

use crate::rows::Grids;
use crate::validity::is_valid;
use crate::{Civil, Edge, Error, LocalGrid, Precision, Result, RowGrids, Zone};
use std::sync::Arc;

/// A grid and a zone a row, of which the grids are not yet validated. All slices are as long as the timestamps.
#[derive(Debug, Clone, Copy)]
pub struct LocalRows<'a> {
    /// Each row's grid, of readings of the clock.
    pub grids: RowGrids<'a>,
    /// Each row's zone: where it stands in `known`.
    pub zones: &'a [u16],
    /// All zones of the rows.
    pub known: &'a [Arc<Zone>],
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
/// When one of the slices is shorter than `ts`, `validity` than one bit a row, or a valid row's zone is not among `known`.
pub fn bucket_local_rows(
    rows: &LocalRows<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    let LocalRows { grids, zones, known } = rows;
    let mut met = Grids::new();
    for (row, (&ts, out)) in ts.iter().zip(out).enumerate() {
        if !is_valid(validity, row) {
            continue;
        }
        let grid = met.of(row, grids, precision)?;
        *out = if Precision::is_infinite(ts) {
            ts
        } else {
            let local = LocalGrid::new(&known[usize::from(zones[row])], grid, precision);
            let answer = local.edge_tick(edge, ts).filter(|&tick| precision.is_finite(tick));
            answer.ok_or(Error::OutOfRange { edge, value: Civil { tick: ts, precision } })?
        };
    }
    Ok(())
}
