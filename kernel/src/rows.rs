//! The bucket of every timestamp when width, offset or origin come from columns.
//!
//! Such columns mostly hold one value after all, or a few. So the rows of a block that have the same arguments are
//! marked in a mask and go through the slice kernel together, group by group. Rows whose arguments few others share are
//! left for the end, one by one, with the grids met last kept at hand.

use crate::error::{Argument, Result};
use crate::simd::{Kernel, Level, run_at};
use crate::slice::BLOCK;
use crate::validity::{WORD, first_valid, rows_of};
use crate::{Anchor, Edge, Grid, Interval, OutOfRange, Precision, bucket_slice};
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
    pub(crate) fn row_ticks(&self, row: usize, precision: Precision) -> Result<i128> {
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
    fn of_rows(&self, rows: Range<usize>) -> Self {
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
    #[cold]
    #[inline(never)]
    fn grid(&self, row: usize, precision: Precision) -> Result<Grid> {
        // An error in the width comes before one in the anchor, as it does at bind.
        precision.length_ticks(Argument::Width, self.widths[row])?;
        precision.grid(Argument::Width, self.widths[row], self.anchors.row_ticks(row, precision)?)
    }

    /// Whether two rows have the same arguments.
    #[inline(always)]
    fn same(&self, row: usize, other: usize) -> bool {
        self.widths[row].is(self.widths[other]) & self.anchors.same(row, other)
    }

    /// A number that rows with other arguments mostly differ in.
    #[inline]
    fn hash(&self, row: usize) -> usize {
        const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = (self.widths[row].hash() ^ self.anchors.hash(row).rotate_left(17)) as u64;
        (mixed.wrapping_mul(GOLDEN_RATIO) >> 32) as usize
    }
}

/// Clears in `mask` the rows whose arguments are not those of `row`.
struct Alike<'a> {
    grids: &'a RowGrids<'a>,
    row: usize,
    mask: &'a mut [u64],
}

impl Kernel for Alike<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { grids: RowGrids { widths, anchors }, row, mask } = self;
        keep(mask, widths, |width| width.difference(widths[row]));
        match anchors {
            Anchors::Epoch => {}
            Anchors::Offset(offsets) => keep(mask, offsets, |offset| offset.difference(offsets[row])),
            Anchors::Origin(origins, _) => keep(mask, origins, |origin| (origin ^ origins[row]) as u64),
            Anchors::Date(dates) => keep(mask, dates, |date| u64::from((date ^ dates[row]) as u32)),
        }
    }
}

/// Keeps in `mask` the values that have no difference.
#[inline(always)]
fn keep<T: Copy>(mask: &mut [u64], values: &[T], difference: impl Fn(T) -> u64) {
    let same = |values: &[T]| {
        values
            .iter()
            .enumerate()
            .fold(0, |word, (bit, &value)| word | if difference(value) == 0 { 1 << bit } else { 0 })
    };
    let (blocks, rest) = values.as_chunks::<WORD>();
    for (word, block) in mask.iter_mut().zip(blocks) {
        *word &= same(block);
    }
    if let Some(word) = mask.get_mut(blocks.len()) {
        *word &= same(rest);
    }
}

/// Copies the rows that `mask` holds.
struct CopyWhere<'a> {
    from: &'a [i64],
    mask: &'a [u64],
    into: &'a mut [i64],
}

impl Kernel for CopyWhere<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let copy = |from: &[i64], into: &mut [i64], word: u64| {
            for (row, (from, into)) in from.iter().zip(into).enumerate() {
                *into = if word & 1 << row != 0 { *from } else { *into };
            }
        };
        let (from, from_rest) = self.from.as_chunks::<WORD>();
        let (into, into_rest) = self.into.as_chunks_mut::<WORD>();
        for ((from, into), word) in from.iter().zip(into).zip(self.mask) {
            copy(from, into, *word);
        }
        if let Some(word) = self.mask.get(from.len()) {
            copy(from_rest, into_rest, *word);
        }
    }
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

/// Rows with the same arguments that are worth going through the slice kernel together with all others.
const GROUP: u32 = 96;

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
    for from in (0..ts.len()).step_by(BLOCK) {
        let rows = from..ts.len().min(from + BLOCK);
        let grids =
            RowGrids { widths: &grids.widths[rows.clone()], anchors: grids.anchors.of_rows(rows.clone()) };
        let validity = validity.map(|words| &words[from / WORD..]);
        bucket_block(&grids, precision, edge, &ts[rows.clone()], validity, &mut out[rows])?;
    }
    Ok(())
}

/// [`bucket_rows`] for up to [`BLOCK`] rows.
fn bucket_block(
    grids: &RowGrids<'_>,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<()> {
    let words = ts.len().div_ceil(WORD);
    let mut left = [u64::MAX; BLOCK / WORD];
    let left = &mut left[..words];
    if let Some(validity) = validity {
        left.copy_from_slice(&validity[..words]);
    }
    if let (Some(last), rest @ 1..) = (left.last_mut(), ts.len() % WORD) {
        *last &= (1 << rest) - 1;
    }
    let mut mask = [0; BLOCK / WORD];
    let mask = &mut mask[..words];
    let mut is_first = true;
    while let Some(row) = first_valid(left) {
        mask.copy_from_slice(left);
        run_at(Level::best(), Alike { grids, row, mask });
        let rows = mask.iter().map(|word| word.count_ones()).sum::<u32>();
        let all = mask == left;
        if rows < GROUP && !all {
            break;
        }
        // All rows before this one are done, so its error comes first.
        let grid = grids.grid(row, precision)?;
        let done = if all && is_first {
            bucket_slice(&grid, precision, edge, ts, validity, out)
        } else {
            let mut answers = [0; BLOCK];
            bucket_slice(&grid, precision, edge, ts, Some(mask), &mut answers).map(|()| {
                run_at(Level::best(), CopyWhere { from: &answers[..ts.len()], mask, into: out });
            })
        };
        if done.is_err() {
            break;
        }
        left.iter_mut().zip(&*mask).for_each(|(left, mask)| *left &= !mask);
        is_first = false;
    }
    one_by_one(grids, precision, edge, ts, left, out)
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
