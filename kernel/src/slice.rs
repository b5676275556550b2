//! The bucket of every timestamp in a slice, for one grid.
//!
//! A block's smallest and largest valid timestamp decide everything that a loop would otherwise test in each row:
//! whether an answer is out of range (floor is monotone, so the two extremes speak for all), and which of four loops is
//! exact here. Mostly it is the third, so that one is tried at once, and finds the extremes on its way; when they say
//! that it was wrong, or when there are NULL rows, the block is scanned before a loop is chosen.
//!
//! | the block's rows lie in | loop |
//! |---|---|
//! | one bucket | fill |
//! | two neighbouring buckets | compare with the boundary |
//! | a stretch of less than 2^52 units | divide in `f64`, exactly |
//! | anything wider | multiply by a 64-bit reciprocal |
//!
//! A block is copied to the output first, and the loops work there, in place: a plain copy streams from memory better
//! than any loop with arithmetic, and what it leaves is in the first-level cache. This measured a third faster than
//! reading the rows where they lie.
//!
//! The unit is the largest power of two that divides the width: buckets start on its multiples, so what lies below
//! it never matters, and a stretch of an hour's buckets in nanoseconds may be 2^65 ticks long before `f64` is too
//! narrow.

use crate::blocks::{BLOCK, Rows, blocks};
use crate::grid::Divisor;
use crate::simd::{Kernel, Level, run_at};
use crate::validity::{WORD, is_valid};
use crate::{Civil, Edge, Error, Grid, Precision};

/// The bucket's edge at `row` is no finite timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange {
    /// The first such row of the slice.
    pub row: usize,
}

impl OutOfRange {
    /// What is said of it: the timestamp of that row, and the edge that was asked for.
    #[must_use]
    pub const fn error(self, edge: Edge, precision: Precision, ts: &[i64]) -> Error {
        Error::OutOfRange { edge, value: Civil { tick: ts[self.row], precision } }
    }
}

/// Writes to `out` the `edge` of the bucket that each of `ts` lies in.
///
/// Infinite timestamps give themselves. Rows that `validity` does not hold may be anything: they never raise an
/// error, and what is written for them has no meaning.
///
/// # Errors
///
/// [`OutOfRange`] when a valid row's edge is not a finite timestamp of this precision; `out` is then partly written.
///
/// # Panics
///
/// When `out` is shorter than `ts`, or `validity` than one bit a row.
///
/// # Examples
///
/// ```
/// use time_bucket_kernel::{Edge, Grid, Precision, bucket_slice};
/// let quarter_hours = Grid::new(900, 0).unwrap();
/// let mut out = [0; 3];
/// bucket_slice(&quarter_hours, Precision::Second, Edge::Start, &[-1, 899, 900], None, &mut out).unwrap();
/// assert_eq!(out, [-900, 0, 900]);
/// ```
pub fn bucket_slice(
    grid: &Grid,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<(), OutOfRange> {
    bucket_slice_at(Level::best(), grid, precision, edge, ts, validity, out)
}

/// [`bucket_slice`] with a chosen instruction set, so that each can be tested.
pub(crate) fn bucket_slice_at(
    level: Level,
    grid: &Grid,
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    validity: Option<&[u64]>,
    out: &mut [i64],
) -> Result<(), OutOfRange> {
    for Rows { range, ts, validity, out } in blocks(ts, validity, out) {
        let block = Block { grid, precision, edge, ts, validity, out };
        run_at(level, block).map_err(|OutOfRange { row }| OutOfRange { row: range.start + row })?;
    }
    Ok(())
}

struct Block<'a> {
    grid: &'a Grid,
    precision: Precision,
    edge: Edge,
    ts: &'a [i64],
    validity: Option<&'a [u64]>,
    out: &'a mut [i64],
}

impl Kernel for Block<'_> {
    type Output = Result<(), OutOfRange>;

    #[inline(always)]
    fn run(mut self) -> Result<(), OutOfRange> {
        self.at_once().unwrap_or_else(|| self.after_a_scan())
    }
}

impl Block<'_> {
    /// One pass that guesses from the first row where all rows lie, divides in `f64` and keeps the extremes, which
    /// tell afterwards whether the guess was right. `None` when it was wrong, or when there are NULL rows, whose
    /// payloads no guess survives.
    #[inline(always)]
    fn at_once(&mut self) -> Option<Result<(), OutOfRange>> {
        let (divisor, &first) = (self.grid.divisor()?, self.ts.first()?);
        if self.validity.is_some() {
            return None;
        }
        let units = Units::new(divisor);
        let below = units.below()?;
        // Half of what `f64` reaches lies before the first row, half after it.
        let origin = self.grid.start(first) - below;
        let shifted = origin + if self.edge == Edge::End { self.grid.width() } else { 0 };
        self.out.copy_from_slice(self.ts);
        let extremes = units.floor(origin as i64, shifted as i64, self.out);
        let Extremes { lowest, highest } = extremes;
        if extremes.have_infinity()
            || i128::from(lowest) < origin
            || !units.reach(i128::from(highest) - origin)
        {
            return None;
        }
        Some(self.edges(extremes).map(drop))
    }

    /// Scans for the extremes of the valid rows first, and chooses the loop by them.
    #[inline(always)]
    fn after_a_scan(&mut self) -> Result<(), OutOfRange> {
        self.out.copy_from_slice(self.ts);
        let mut extremes = Extremes::of(self.out, self.validity);
        let has_infinity = extremes.have_infinity();
        if has_infinity {
            extremes = Extremes::of_finite(self.out, self.validity);
        }
        if extremes.lowest <= extremes.highest {
            let (first, last) = self.edges(extremes)?;
            self.between(extremes, first, last);
        }
        if has_infinity {
            for (out, &ts) in self.out.iter_mut().zip(self.ts) {
                *out = if Precision::is_infinite(ts) { ts } else { *out };
            }
        }
        Ok(())
    }

    /// The answers for the smallest and the largest timestamp. As floor is monotone, all others lie between them.
    #[inline(always)]
    fn edges(&self, extremes: Extremes) -> Result<(i64, i64), OutOfRange> {
        let edge = |ts| self.precision.finite(self.grid.edge(self.edge, ts));
        edge(extremes.lowest).zip(edge(extremes.highest)).ok_or_else(|| self.first_out_of_range())
    }

    /// Puts the answers, of which the smallest and the largest are known, in the place of the timestamps in `out`.
    #[inline(always)]
    fn between(&mut self, Extremes { lowest, highest }: Extremes, first: i64, last: i64) {
        let Block { grid, ref mut out, .. } = *self;
        if first == last {
            out.fill(first);
        } else if i128::from(last) - i128::from(first) == grid.width() {
            let boundary = grid.start(highest) as i64;
            for tick in out.iter_mut() {
                *tick = if *tick >= boundary { last } else { first };
            }
        } else if let Some(divisor) = grid.divisor() {
            let start = grid.start(lowest);
            let units = Units::new(divisor);
            if units.reach(i128::from(highest) - start) {
                units.floor(start as i64, first, out);
            } else {
                multiply_high(divisor, first.wrapping_sub(start as i64), out);
            }
        }
    }

    /// The row to name in the error. Only called when there is one.
    #[cold]
    #[inline(never)]
    fn first_out_of_range(&self) -> OutOfRange {
        let is_out = |ts| {
            !Precision::is_infinite(ts) && self.precision.finite(self.grid.edge(self.edge, ts)).is_none()
        };
        let row =
            self.ts.iter().enumerate().position(|(row, &ts)| is_valid(self.validity, row) && is_out(ts));
        OutOfRange { row: row.unwrap_or_default() }
    }
}

/// Puts the start or end of its bucket in the place of each timestamp, of which the smallest and the largest are known, and
/// all of whose answers fit an `i64`.
pub(crate) struct Floor<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) edge: Edge,
    pub(crate) extremes: Extremes,
    pub(crate) ticks: &'a mut [i64],
}

impl Kernel for Floor<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { grid, edge, extremes, ticks: out } = self;
        let edge_of = |ts| grid.edge(edge, ts) as i64;
        let (first, last) = (edge_of(extremes.lowest), edge_of(extremes.highest));
        Block { grid, precision: Precision::Nanosecond, edge, ts: &[], validity: None, out }
            .between(extremes, first, last);
    }
}

/// The smallest and largest of some timestamps; `lowest > highest` when there are none.
#[derive(Clone, Copy)]
pub(crate) struct Extremes {
    pub(crate) lowest: i64,
    pub(crate) highest: i64,
}

impl Extremes {
    const NONE: Self = Self { lowest: i64::MAX, highest: i64::MIN };

    /// Whether an infinity may be among them; nanoseconds use the ticks below the smaller one too.
    #[inline(always)]
    pub(crate) const fn have_infinity(self) -> bool {
        let [negative, positive] = Precision::INFINITIES;
        self.lowest <= negative || self.highest == positive
    }

    /// Of all valid rows.
    #[inline(always)]
    pub(crate) fn of(ts: &[i64], validity: Option<&[u64]>) -> Self {
        match validity {
            None => ts.iter().fold(Self::NONE, |Self { lowest, highest }, &ts| Self {
                lowest: lowest.min(ts),
                highest: highest.max(ts),
            }),
            Some(words) => Self::scan(ts, words, |_| true),
        }
    }

    /// Of the valid rows that are not infinite.
    #[inline(always)]
    pub(crate) fn of_finite(ts: &[i64], validity: Option<&[u64]>) -> Self {
        Self::where_valid(ts, validity, |ts| !Precision::is_infinite(ts))
    }

    /// Of the valid rows of a block that `keep` holds.
    #[inline(always)]
    pub(crate) fn where_valid(ts: &[i64], validity: Option<&[u64]>, keep: impl Fn(i64) -> bool) -> Self {
        Self::scan(ts, validity.unwrap_or(&[u64::MAX; BLOCK / WORD]), keep)
    }

    /// Of the rows that are valid and that `keep` holds.
    #[inline(always)]
    fn scan(ts: &[i64], words: &[u64], keep: impl Fn(i64) -> bool) -> Self {
        let mut extremes = Self::NONE;
        let (blocks, rest) = ts.as_chunks::<WORD>();
        for (ts, word) in blocks.iter().zip(words) {
            extremes.include(ts, *word, &keep);
        }
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            extremes.include(&last, words[blocks.len()] & ((1 << rest.len()) - 1), &keep);
        }
        extremes
    }

    /// The rows of one word of a mask. Written with a known length and as plain selections, which the compiler turns
    /// into masked vector instructions; with `min` and `max` it does not.
    #[inline(always)]
    fn include(&mut self, ts: &[i64; WORD], word: u64, keep: impl Fn(i64) -> bool) {
        let Self { mut lowest, mut highest } = *self;
        for (row, &ts) in ts.iter().enumerate() {
            let keep = (word & 1 << row != 0) & keep(ts);
            let low = if keep { ts } else { Self::NONE.lowest };
            let high = if keep { ts } else { Self::NONE.highest };
            lowest = if low < lowest { low } else { lowest };
            highest = if high > highest { high } else { highest };
        }
        *self = Self { lowest, highest };
    }
}

/// Ticks counted in a power of two that divides the width, so that `f64` holds them exactly up to [`Units::MOST`].
#[derive(Clone, Copy)]
pub(crate) struct Units {
    /// The power.
    pub(crate) shift: u32,
    /// The width in units.
    pub(crate) width: f64,
    /// Of the width.
    pub(crate) inverse: f64,
}

/// `2^52`: added to a smaller non-negative `f64` it leaves the nearest whole number in the low 52 bits. This works
/// on every instruction set, where conversions between `i64` and `f64` do not.
const MAGIC: f64 = (1_u64 << 52) as f64;

impl Units {
    /// One more than the largest number of units.
    const MOST: u64 = 1 << 52;

    /// The largest that there are.
    #[inline(always)]
    pub(crate) fn new(divisor: &Divisor) -> Self {
        Self::with_shift(divisor, divisor.width().trailing_zeros())
    }

    /// Units of `2^shift` ticks, which has to divide the width.
    #[inline(always)]
    pub(crate) fn with_shift(divisor: &Divisor, shift: u32) -> Self {
        let width = (divisor.width() >> shift) as f64;
        Self { shift, width, inverse: 1.0 / width }
    }

    /// Whether every number from 0 to `distance` ticks fits 64 bits and is below 2^52 units.
    #[inline(always)]
    pub(crate) fn reach(&self, distance: i128) -> bool {
        distance <= i128::from(u64::MAX) && distance >> self.shift < i128::from(Self::MOST)
    }

    /// How many ticks half of the numbers of units are, in whole widths, but no more than a quarter of all 64-bit
    /// numbers; `None` for a width larger than that.
    #[inline(always)]
    fn below(&self) -> Option<i128> {
        const QUARTER: u64 = 1 << 62;
        let whole = self.width as u64;
        let widths = (Self::MOST / 2).min(QUARTER >> self.shift) / whole;
        (widths > 0).then_some(i128::from(widths * whole) << self.shift)
    }

    /// The ticks of the whole widths in a distance of ticks.
    ///
    /// Exact for `n < 2^52` units. The inverse and the product are each rounded once, which moves the quotient by at most
    /// `n / width * 2^-52 < 1 / width`: by nothing when the width is a power of two, else by a third at most. The nearest
    /// whole number is thus less than one away from the true quotient: it is the floor or one above it. `quotient * width`
    /// is below 2^53 and exact, so one comparison tells which of the two. A width that `f64` has to round is above 2^53;
    /// the quotient is then below a half, and the answer 0.
    #[inline(always)]
    pub(crate) fn whole_widths(&self, distance: i64) -> i64 {
        let Self { shift, width, inverse } = *self;
        let units = (distance as u64) >> shift;
        let units = f64::from_bits(units | MAGIC.to_bits()) - MAGIC;
        let quotient = (units * inverse + MAGIC) - MAGIC;
        let product = quotient * width;
        let floor = if product > units { product - width } else { product };
        let floor = (floor + MAGIC).to_bits() ^ MAGIC.to_bits();
        (floor << shift) as i64
    }

    /// Floors in place to the grid through `origin`, which no answer is below; `shifted` stands for `origin`.
    /// Gives the extremes, by which a caller that doesn't know them learns whether [`Self::reach`] was kept to.
    #[inline(always)]
    fn floor(&self, origin: i64, shifted: i64, ticks: &mut [i64]) -> Extremes {
        let Extremes { mut lowest, mut highest } = Extremes::NONE;
        for tick in ticks {
            let ts = *tick;
            *tick = shifted.wrapping_add(self.whole_widths(ts.wrapping_sub(origin)));
            lowest = lowest.min(ts);
            highest = highest.max(ts);
        }
        Extremes { lowest, highest }
    }
}

/// Floors in place to the divisor's grid and adds `shift`.
#[inline(always)]
fn multiply_high(divisor: &Divisor, shift: i64, ticks: &mut [i64]) {
    for tick in ticks {
        *tick = tick.wrapping_sub(divisor.ticks_past_start(*tick) as i64).wrapping_add(shift);
    }
}
