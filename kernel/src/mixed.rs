//! One pass over a block whose rows lie on a few grids, in any order.
//!
//! Some rows are heads: each stands for all rows with its arguments. A first loop codes which head each row has; a second
//! one divides in `f64` by the width of the row's own head, picked by masks, which vectorises where a look-up in a table
//! does not. The extremes of its rows tell whether that is exact on every one of the grids, and whether an answer may be out
//! of range; if so, the pass is not made.
//!
//! The rows are changed where they lie, in the output, as in [`bucket_slice`](crate::bucket_slice). A row without a head is
//! left as it is, so that another pass, with other heads, finds its timestamp there.

use crate::blocks::BLOCK;
use crate::simd::{Kernel, Level, run_at};
use crate::slice::{Extremes, Units};
use crate::validity::WORD;
use crate::{Anchors, Edge, Grid, Interval, Precision, RowGrids};

/// How many grids one pass knows.
pub(crate) const HEADS: usize = 4;

/// The code of a row that no head stands for.
const NONE: u8 = HEADS as u8;

/// Which head each row of a block has.
pub(crate) struct Codes([u8; BLOCK]);

impl Codes {
    /// Compares the arguments of all rows with those of the rows `heads`, of which some may be the same.
    pub(crate) fn new(level: Level, grids: &RowGrids<'_>, heads: [usize; HEADS]) -> Self {
        let mut codes = [NONE; BLOCK];
        run_at(level, WriteCodes { grids, heads, codes: &mut codes[..grids.widths.len()] });
        Self(codes)
    }

    /// Clears in `mask` the rows that have no head.
    pub(crate) fn keep_in(&self, level: Level, mask: &mut [u64]) {
        run_at(level, KeepCoded { codes: &self.0, mask });
    }
}

struct WriteCodes<'a> {
    grids: &'a RowGrids<'a>,
    heads: [usize; HEADS],
    codes: &'a mut [u8],
}

impl Kernel for WriteCodes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { grids: RowGrids { widths, anchors }, heads, codes } = self;
        let head_widths = heads.map(|row| widths[row]);
        let of_width = |width: &Interval| head_widths.map(|head| width.difference(head));
        match anchors {
            Anchors::Epoch => write_codes(codes, widths.iter().map(of_width)),
            Anchors::Offset(offsets) => {
                let heads = heads.map(|row| offsets[row]);
                let offsets = offsets.iter().map(|offset| heads.map(|head| offset.difference(head)));
                write_codes(codes, either(widths.iter().map(of_width), offsets));
            }
            Anchors::Origin(origins, _) => {
                let heads = heads.map(|row| origins[row]);
                let origins = origins.iter().map(|origin| heads.map(|head| (origin ^ head) as u64));
                write_codes(codes, either(widths.iter().map(of_width), origins));
            }
            Anchors::Date(dates) => {
                let heads = heads.map(|row| dates[row]);
                let dates = dates.iter().map(|date| heads.map(|head| u64::from((date ^ head) as u32)));
                write_codes(codes, either(widths.iter().map(of_width), dates));
            }
        }
    }
}

/// A row's differences from the heads, zero for none.
type Differences = [u64; HEADS];

/// The differences in one or the other argument.
#[inline(always)]
fn either(
    some: impl Iterator<Item = Differences>,
    others: impl Iterator<Item = Differences>,
) -> impl Iterator<Item = Differences> {
    some.zip(others).map(|(some, others)| std::array::from_fn(|head| some[head] | others[head]))
}

/// Writes the first head that a row has no difference from.
#[inline(always)]
fn write_codes(codes: &mut [u8], differences: impl Iterator<Item = Differences>) {
    for (code, differences) in codes.iter_mut().zip(differences) {
        let first = |code, head: usize| if differences[head] == 0 { head as u8 } else { code };
        *code = (0..HEADS).rev().fold(NONE, first);
    }
}

struct KeepCoded<'a> {
    codes: &'a [u8; BLOCK],
    mask: &'a mut [u64],
}

impl Kernel for KeepCoded<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (codes, _) = self.codes.as_chunks::<WORD>();
        for (word, codes) in self.mask.iter_mut().zip(codes) {
            let coded = |word, (bit, &code): (usize, &u8)| word | u64::from(code != NONE) << bit;
            *word &= codes.iter().enumerate().fold(0, coded);
        }
    }
}

/// The rows of a block that have a head, on their heads' grids.
pub(crate) struct Mixed<'a> {
    pub(crate) grids: &'a [Grid; HEADS],
    pub(crate) codes: &'a Codes,
    pub(crate) precision: Precision,
    pub(crate) edge: Edge,
    pub(crate) ts: &'a [i64],
    /// The rows that count; each has a head.
    pub(crate) mask: &'a [u64],
    /// The timestamps of the rows that no pass has had yet.
    pub(crate) out: &'a mut [i64],
}

impl Mixed<'_> {
    /// Puts the answers in the place of the timestamps of all rows that have a head; `false` when this would not be exact,
    /// or when some answer may be out of range.
    pub(crate) fn write(self, level: Level) -> bool {
        run_at(level, self)
    }
}

/// One grid, as the loop needs it.
#[derive(Clone, Copy, Default)]
struct Head {
    /// The grid point that no row of the block is below.
    origin: i64,
    /// What stands for it in the answers.
    shifted: i64,
    /// In units, as is its inverse.
    width: f64,
    inverse: f64,
}

impl Kernel for Mixed<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut extremes = Extremes::of(self.ts, Some(self.mask));
        let has_infinity = extremes.have_infinity();
        if has_infinity {
            extremes = Extremes::of_finite(self.ts, Some(self.mask));
        }
        if extremes.lowest <= extremes.highest {
            let Some((shift, heads)) = self.heads(extremes) else { return false };
            floor(shift, &heads, &self.codes.0, self.out);
        }
        if has_infinity {
            for ((out, &ts), &code) in self.out.iter_mut().zip(self.ts).zip(&self.codes.0) {
                *out = if (code != NONE) & Precision::is_infinite(ts) { ts } else { *out };
            }
        }
        true
    }
}

impl Mixed<'_> {
    /// The power of two that ticks are counted in, and the grids in it.
    #[inline(always)]
    fn heads(&self, Extremes { lowest, highest }: Extremes) -> Option<(u32, [Head; HEADS])> {
        let divisors = self.grids.each_ref().map(Grid::divisor);
        let shift = divisors
            .iter()
            .map(|divisor| divisor.map_or(0, |divisor| divisor.width().trailing_zeros()))
            .min()?;
        let mut heads = [Head::default(); HEADS];
        for (head, grid) in heads.iter_mut().zip(self.grids) {
            let units = Units::with_shift(grid.divisor()?, shift);
            let (start, shifted) = (grid.start(lowest), grid.edge(self.edge, lowest));
            self.precision.finite(shifted)?;
            self.precision.finite(grid.edge(self.edge, highest))?;
            if !units.reach(i128::from(highest) - start) {
                return None;
            }
            *head = Head {
                origin: start as i64,
                shifted: shifted as i64,
                width: units.width,
                inverse: units.inverse,
            };
        }
        Some((shift, heads))
    }
}

/// Floors the rows with a head to their heads' grids.
#[inline(always)]
fn floor(shift: u32, heads: &[Head; HEADS], codes: &[u8], ticks: &mut [i64]) {
    let origins = heads.map(|head| head.origin as u64);
    let shifted = heads.map(|head| head.shifted as u64);
    let widths = heads.map(|head| head.width.to_bits());
    let inverses = heads.map(|head| head.inverse.to_bits());
    for (tick, &code) in ticks.iter_mut().zip(codes) {
        let bits = [0, 1, 2].map(|bit| (u64::from(code) >> bit & 1).wrapping_neg());
        let ts = *tick as u64;
        let width = f64::from_bits(pick(widths, bits));
        let units = Units { shift, width, inverse: f64::from_bits(pick(inverses, bits)) };
        let from_origin = ts.wrapping_sub(pick(origins, bits)) as i64;
        let answer = pick(shifted, bits).wrapping_add(units.whole_widths(from_origin) as u64);
        *tick = blend(answer, ts, bits[2]) as i64;
    }
}

/// `one` or, where the bits of `mask` are set, `other`.
#[inline(always)]
const fn blend(one: u64, other: u64, mask: u64) -> u64 {
    one ^ ((one ^ other) & mask)
}

/// The one of four that two bits name, each of which fills a mask.
#[inline(always)]
const fn pick([a, b, c, d]: [u64; HEADS], [low, high, _]: [u64; 3]) -> u64 {
    blend(blend(a, b, low), blend(c, d, low), high)
}
