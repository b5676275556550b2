//! The bucket of every timestamp when width, offset or origin come from columns.
//!
//! Such columns mostly hold one value after all, or a few. Where all rows of a block have the same arguments, it goes through
//! the slice kernel; where they have a few, passes over the block take the rows of four grids at a time, in whatever order
//! they come. Rows whose arguments few others share are left for the end, one by one, with the grids met last kept at hand.

use crate::blocks::{BLOCK, Rows, blocks};
use crate::error::{Argument, Result};
use crate::mixed::{Codes, HEADS, Mixed};
use crate::simd::{Kernel, Level, run_at};
use crate::slice::bucket_slice_at;
use crate::validity::{WORD, rows_of, valid_rows};
use crate::{Anchor, Edge, Grid, Interval, OutOfRange, Precision};
use std::ops::Range;

/// A grid a row, not yet validated. All slices are as long as the timestamps.
#[derive(Debug, Clone, Copy)]
pub struct RowGrids<'a> {
    /// Each row's width.
    pub widths: &'a [Interval],
    /// Each row's anchor.
    pub anchors: Anchors<'a>,
}

/// What anchors each row's grid.
pub type Anchors<'a> = Anchor<&'a [Interval], &'a [i64], &'a [i32]>;

impl Anchors<'_> {
    /// The ticks of a row's anchor.
    ///
    /// # Errors
    ///
    /// The reason why an offset or origin is refused.
    pub fn row_ticks(&self, row: usize, precision: Precision) -> Result<i128> {
        match self {
            Self::Epoch => Anchor::Epoch,
            Self::Offset(offsets) => Anchor::Offset(offsets[row]),
            Self::Origin(origins, of) => Anchor::Origin(origins[row], *of),
            Self::Date(dates) => Anchor::Date(dates[row]),
        }
        .ticks(precision)
    }

    /// Whether two rows have the same anchor.
    #[inline(always)]
    pub(crate) fn same(&self, row: usize, other: usize) -> bool {
        match self {
            Self::Epoch => true,
            Self::Offset(offsets) => offsets[row].is(offsets[other]),
            Self::Origin(origins, _) => origins[row] == origins[other],
            Self::Date(dates) => dates[row] == dates[other],
        }
    }

    /// The anchors of some neighbouring rows.
    pub(crate) fn of_rows(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Epoch => Self::Epoch,
            Self::Offset(offsets) => Self::Offset(&offsets[rows]),
            Self::Origin(origins, of) => Self::Origin(&origins[rows], *of),
            Self::Date(dates) => Self::Date(&dates[rows]),
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
    /// The grids of some neighbouring rows.
    pub(crate) fn of_rows(&self, rows: Range<usize>) -> Self {
        Self { widths: &self.widths[rows.clone()], anchors: self.anchors.of_rows(rows) }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn grid(&self, row: usize, precision: Precision) -> Result<Grid> {
        // An error in the width comes before one in the anchor, as it does at bind.
        precision.length_ticks(Argument::Width, self.widths[row])?;
        precision.grid(Argument::Width, self.widths[row], self.anchors.row_ticks(row, precision)?)
    }

    /// Whether two rows have the same arguments.
    #[inline(always)]
    fn same(&self, row: usize, other: usize) -> bool {
        self.widths[row].is(self.widths[other]) & self.anchors.same(row, other)
    }

    /// Rows of `mask` that differ from each other in their arguments, one looked at in each word. Fewer than [`HEADS`] are
    /// filled up with the first; `None` for an empty mask.
    fn heads(&self, mask: &[u64]) -> Option<[usize; HEADS]> {
        // From another bit on in each word, so that neither runs nor arguments that come in turn hide some of them.
        let mut rows = mask.iter().enumerate().filter(|(_, word)| **word != 0).map(|(index, word)| {
            let from = index * STRIDE % WORD;
            let bit = word.rotate_right(from as u32).trailing_zeros() as usize;
            index * WORD + (from + bit) % WORD
        });
        let mut heads = [rows.next()?; HEADS];
        let mut found = 1;
        for row in rows {
            if heads[..found].iter().all(|&head| !self.same(head, row)) {
                heads[found] = row;
                found += 1;
                if found == HEADS {
                    break;
                }
            }
        }
        Some(heads)
    }

    /// A number that rows with other arguments mostly differ in.
    #[inline]
    fn hash(&self, row: usize) -> usize {
        const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = (self.widths[row].hash() ^ self.anchors.hash(row).rotate_left(17)) as u64;
        (mixed.wrapping_mul(GOLDEN_RATIO) >> 32) as usize
    }
}

/// Whether all rows have the arguments of the first.
pub(crate) struct Uniform<'a>(pub(crate) &'a RowGrids<'a>);

impl Kernel for Uniform<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let RowGrids { widths, anchors } = self.0;
        let same = match anchors {
            Anchors::Epoch => true,
            Anchors::Offset(offsets) => is_uniform(offsets, |offset, first| offset.difference(first)),
            Anchors::Origin(origins, _) => is_uniform(origins, |origin, first| (origin ^ first) as u64),
            Anchors::Date(dates) => is_uniform(dates, |date, first| u64::from((date ^ first) as u32)),
        };
        same && is_uniform(widths, |width, first| width.difference(first))
    }
}

/// Whether no value differs from the first; ends at the first word of rows where one does.
#[inline(always)]
fn is_uniform<T: Copy>(values: &[T], difference: impl Fn(T, T) -> u64) -> bool {
    values.chunks(WORD).all(|some| some.iter().fold(0, |all, &value| all | difference(value, values[0])) == 0)
}

/// The grids of the arguments met last, each with a row that has these arguments.
pub(crate) struct Grids([Option<(usize, Grid)>; Self::LEN]);

impl Grids {
    const LEN: usize = 16;

    /// None met yet.
    pub(crate) const fn new() -> Self {
        Self([None; Self::LEN])
    }

    /// The grid of `row`.
    #[inline(always)]
    pub(crate) fn of(&mut self, row: usize, rows: &RowGrids<'_>, precision: Precision) -> Result<&Grid> {
        let slot = &mut self.0[rows.hash(row) % Self::LEN];
        if slot.as_ref().is_none_or(|(met, _)| !rows.same(*met, row)) {
            *slot = Some((row, rows.grid(row, precision)?));
        }
        let (_, grid) = slot.as_ref().expect("the slot was just filled");
        Ok(grid)
    }
}

/// Rows that a pass over the block has to settle to be worth it; fewer are quicker one by one.
const WORTHWHILE: u32 = 128;

/// How much further on in its word than in the word before a head is looked for; odd, so that no period hides rows.
const STRIDE: usize = 7;

/// Writes to `out` the `edge` of the bucket that each of `ts` lies in, on that row's own grid.
///
/// A row that `validity` does not hold raises no error, whatever its arguments are; what is written for it has no
/// meaning.
///
/// # Errors
///
/// The first valid row's [`Error`](crate::Error) whose arguments are refused or whose edge is out of range.
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
    bucket_rows_at(Level::best(), grids, precision, edge, ts, validity, out)
}

/// [`bucket_rows`] with a chosen instruction set, so that each can be tested.
pub(crate) fn bucket_rows_at(
    level: Level,
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    for block in blocks(ts, validity, out) {
        bucket_block(level, &grids.of_rows(block.range.clone()), precision, edge, block)?;
    }
    Ok(())
}

/// [`bucket_rows`] for up to [`BLOCK`] rows.
fn bucket_block(
    level: Level,
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    Rows { ts, validity, out, .. }: Rows<'_>,
) -> Result<()> {
    let mut left = [0; BLOCK / WORD];
    let left = valid_rows(&mut left, validity, ts.len());
    let Some(first) = rows_of(left).next() else { return Ok(()) };
    if run_at(level, Uniform(grids)) {
        let grid = grids.grid(first, precision)?;
        if bucket_slice_at(level, &grid, precision, edge, ts, validity, out).is_ok() {
            return Ok(());
        }
    } else {
        pass_by_pass(level, grids, precision, edge, ts, left, out);
    }
    one_by_one(grids, precision, edge, ts, left, out)
}

/// Clears in `left` the rows that were settled by passes over the whole block.
fn pass_by_pass(
    level: Level,
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    left: &mut [u64],
    out: &mut [i64],
) {
    let mut mask = [0; BLOCK / WORD];
    let mask = &mut mask[..left.len()];
    out.copy_from_slice(ts);
    while let Some(heads) = grids.heads(left) {
        let codes = Codes::new(level, grids, heads);
        mask.copy_from_slice(left);
        codes.keep_in(level, mask);
        if mask.iter().map(|word| word.count_ones()).sum::<u32>() < WORTHWHILE {
            return;
        }
        // What is refused is left for `one_by_one`, which finds the first such row.
        let [Ok(a), Ok(b), Ok(c), Ok(d)] = heads.map(|row| grids.grid(row, precision)) else { return };
        let mixed = Mixed { grids: &[a, b, c, d], codes: &codes, precision, edge, ts, mask, out };
        if !mixed.write(level) {
            return;
        }
        left.iter_mut().zip(&*mask).for_each(|(left, mask)| *left &= !mask);
    }
}

/// The rows of `mask`, in order, so that the first error is the one that is met.
fn one_by_one(
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    mask: &[u64],
    out: &mut [i64],
) -> Result<()> {
    let mut met = Grids::new();
    for row in rows_of(mask) {
        let grid = met.of(row, grids, precision)?;
        out[row] = if Precision::is_infinite(ts[row]) {
            ts[row]
        } else {
            let finite = grid.edge_tick(edge, ts[row]).filter(|&tick| precision.is_finite(tick));
            finite.ok_or_else(|| OutOfRange { row }.error(edge, precision, ts))?
        };
    }
    Ok(())
}
