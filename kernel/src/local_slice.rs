//! The local bucket of every timestamp in a slice, for one zone and grid.
//!
//! While a clock isn't set, local buckets are those of a plain grid. So all of them together are a list of runs, about one
//! for each time that the clock is set: buckets side by side, of which only the last may be longer or shorter than the
//! others, where it touches the change. The runs are counted out once, while the query is bound; after that a row needs
//! to find its run, floor to that run's grid and stop at its last bucket.
//!
//! | the block's rows lie in | loop |
//! |---|---|
//! | one run, its last bucket left out | the loops of [`crate::bucket_slice`] |
//! | one bucket that touches a change | fill |
//! | up to four runs | select the run by comparisons, divide in `f64` |
//! | more runs, a stretch of less than 2^52 units | look the run up by its slot of time, divide in `f64` |
//! | anything wider | the same, but multiply by a 64-bit reciprocal |
//!
//! Rows before or after all runs (the ends of the type's range, infinities, and where a rule goes on for centuries) are
//! worked out one at a time.

use crate::blocks::{Rows, blocks};
use crate::grid::Divisor;
use crate::local::Run;
use crate::simd::{Kernel, Level, run_at};
use crate::slice::{Extremes, Floor, Units};
use crate::validity::{WORD, is_valid};
use crate::{Edge, Grid, LocalGrid, OutOfRange, Precision, Zone};
use std::sync::Arc;

/// The buckets of one grid on the wall clock of one zone, prepared for loops over rows.
#[derive(Debug, Clone)]
pub struct LocalBuckets {
    zone: Arc<Zone>,
    grid: Grid,
    precision: Precision,
    runs: Runs,
}

/// Where a rule goes on for ever, the runs are counted out until 2200-01-01.
const RUNS_UNTIL: i64 = 7_258_118_400;

impl LocalBuckets {
    /// The points of `grid`, in ticks of `precision`, on the wall clock of `zone`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use time_bucket_kernel::{Edge, Grid, LocalBuckets, Precision, Zone};
    /// // A clock that is set from 01:00 to 02:00, so that this day has 23 hours.
    /// let zone = Arc::new(Zone::new(0, &[(3_600, 3_600)], false).unwrap());
    /// let days = LocalBuckets::new(zone, Grid::new(86_400, 0).unwrap(), Precision::Second);
    /// let mut out = [0; 3];
    /// days.slice(Edge::End, &[-1, 7_200, 82_800], None, &mut out).unwrap();
    /// assert_eq!(out, [0, 82_800, 169_200]);
    /// ```
    #[must_use]
    pub fn new(zone: Arc<Zone>, grid: Grid, precision: Precision) -> Self {
        let local = LocalGrid::new(&zone, &grid, precision);
        let lowest = (*precision.range().start()).max(Precision::INFINITIES[0] + 1);
        let until = if zone.repeats() { RUNS_UNTIL } else { i64::MAX };
        let highest = (*precision.range().end()).min(until.saturating_mul(precision.ticks_per_second()));
        let runs = if grid.divisor().is_some() { runs(&local, lowest, highest) } else { Vec::new() };
        Self { zone, grid, precision, runs: Runs::new(&runs) }
    }

    /// The same buckets, one at a time.
    #[must_use]
    pub fn grid(&self) -> LocalGrid<'_> {
        LocalGrid::new(&self.zone, &self.grid, self.precision)
    }

    /// The zone whose clock it is.
    #[must_use]
    pub fn zone(&self) -> Arc<Zone> {
        Arc::clone(&self.zone)
    }

    /// The precision of the ticks.
    #[must_use]
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// The bucket that holds `ts`, as [`LocalGrid::bucket`] has it.
    #[must_use]
    pub fn bucket(&self, ts: i64) -> (i128, i128) {
        match (self.grid.divisor(), self.runs.of(ts)) {
            (Some(divisor), Some(run)) => {
                let start = run.start(divisor, ts);
                (start.into(), run.end(divisor, start).into())
            }
            _ => self.grid().bucket(ts),
        }
    }

    /// The run that holds `ts`, if it is known.
    pub(crate) fn run_of(&self, ts: i64) -> Option<Run<i64>> {
        self.grid.divisor().and_then(|_| self.runs.of(ts))
    }

    /// Writes to `out` the `edge` of the bucket that each of `ts` lies in.
    ///
    /// Infinite timestamps give themselves. Rows that `validity` does not hold may be anything: they never raise an error,
    /// and what is written for them has no meaning.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] when a valid row's edge is not a finite timestamp of this precision; `out` is then partly written.
    ///
    /// # Panics
    ///
    /// When `out` is shorter than `ts`, or `validity` than one bit a row.
    pub fn slice(
        &self,
        edge: Edge,
        ts: &[i64],
        validity: Option<&[u64]>,
        out: &mut [i64],
    ) -> Result<(), OutOfRange> {
        self.slice_at(Level::best(), edge, ts, validity, out)
    }

    /// [`Self::slice`] with a chosen instruction set, so that each can be tested.
    pub(crate) fn slice_at(
        &self,
        level: Level,
        edge: Edge,
        ts: &[i64],
        validity: Option<&[u64]>,
        out: &mut [i64],
    ) -> Result<(), OutOfRange> {
        for Rows { range, ts, validity, out } in blocks(ts, validity, out) {
            out.copy_from_slice(ts);
            let extremes = run_at(level, Scan { ts: out, validity });
            let (low, high) = (extremes.lowest, extremes.highest);
            if low > high {
                continue; // All are NULL.
            }
            let divisor = self.grid.divisor().filter(|_| self.runs.len > 0);
            match (self.runs.of(low), self.runs.of(high), divisor) {
                (Some(first), Some(last), Some(divisor)) => {
                    self.within(level, edge, divisor, extremes, (first, last), out);
                }
                (_, _, divisor) => {
                    if let Some(divisor) = divisor {
                        run_at(level, Many { runs: &self.runs, divisor, edge, ticks: out });
                    }
                    self.outside(edge, ts, validity, out)
                        .map_err(|row| OutOfRange { row: range.start + row })?;
                }
            }
        }
        Ok(())
    }

    /// A block all of whose valid rows lie in the runs from `first` to `last`.
    fn within(
        &self,
        level: Level,
        edge: Edge,
        divisor: &Divisor,
        extremes: Extremes,
        (first, last): (Run<i64>, Run<i64>),
        ticks: &mut [i64],
    ) {
        let Extremes { lowest, highest } = extremes;
        let width = divisor.width() as i64;
        if first == last {
            let is_plain = last.next.wrapping_sub(last.last) == width || highest < last.last;
            if is_plain && let Some(grid) = Grid::new(self.grid.width(), first.first.into()) {
                return run_at(level, Floor { grid: &grid, edge, extremes, ticks });
            }
            if lowest >= last.last {
                return ticks.fill(match edge {
                    Edge::Start => last.last,
                    Edge::End => last.next,
                });
            }
        }
        let (units, runs) = (Units::new(divisor), &self.runs);
        // Nearer to the rows than the run's own beginning, which may be thousands of years ago.
        let origin = first.start(divisor, lowest);
        let few = runs.few(lowest, highest);
        if let Some(mut runs) = few.filter(|_| units.reach(i128::from(highest) - i128::from(origin))) {
            runs[0].first = origin;
            return run_at(level, Few { runs, units, width, edge, ticks });
        }
        if units.reach(i128::from(highest) - i128::from(first.first)) {
            match runs.steps {
                0 | 1 => return run_at(level, Several::<1> { runs, units, width, edge, ticks }),
                2 => return run_at(level, Several::<2> { runs, units, width, edge, ticks }),
                _ => {}
            }
        }
        run_at(level, Many { runs, divisor, edge, ticks });
    }

    /// Works out the rows that lie in no run; `Err` has the first one that is valid and has no answer.
    #[cold]
    #[inline(never)]
    fn outside(
        &self,
        edge: Edge,
        ts: &[i64],
        validity: Option<&[u64]>,
        out: &mut [i64],
    ) -> Result<(), usize> {
        let local = self.grid();
        // The bucket met last, since such rows are often all of one time, such as the year 9999.
        let mut met = (0, 0);
        for (row, (&ts, out)) in ts.iter().zip(out).enumerate() {
            if !is_valid(validity, row) || self.runs.of(ts).is_some() {
                continue;
            }
            if Precision::is_infinite(ts) {
                *out = ts;
                continue;
            }
            if !(met.0..met.1).contains(&ts.into()) {
                met = local.bucket(ts);
            }
            let answer = match edge {
                Edge::Start => met.0,
                Edge::End => met.1,
            };
            *out = self.precision.finite(answer).ok_or(row)?;
        }
        Ok(())
    }
}

/// All runs from the first bucket start that is not before `lowest` to the last one that is not after `highest`; none when
/// there is no bucket between.
fn runs(local: &LocalGrid<'_>, lowest: i64, highest: i64) -> Vec<Run<i64>> {
    let width = local.grid().width();
    let (start, end) = local.bucket(lowest);
    let mut next = if start == i128::from(lowest) { start } else { end };
    let until = local.bucket(highest).0;
    let mut runs: Vec<Run<i64>> = Vec::new();
    while next < until && runs.len() < Runs::MOST {
        let mut run = local.run(next);
        if run.next > until {
            // Its buckets start a width apart, and one of them at `until`.
            (run.last, run.next) = (until - width, until);
        }
        next = run.next;
        let run = Run { first: run.first as i64, last: run.last as i64, next: run.next as i64 };
        match runs.last_mut() {
            Some(before) if i128::from(run.first) - i128::from(before.last) == width => {
                (before.last, before.next) = (run.last, run.next);
            }
            _ => runs.push(run),
        }
    }
    runs
}

impl Run<i64> {
    /// The start of the bucket that holds `ts`, which lies in this run.
    #[inline(always)]
    pub(crate) fn start(&self, divisor: &Divisor, ts: i64) -> i64 {
        let past_start = divisor.rest(ts.wrapping_sub(self.first) as u64);
        ts.wrapping_sub(past_start as i64).min(self.last)
    }

    /// The end of the bucket that starts at `start`.
    #[inline(always)]
    fn end(&self, divisor: &Divisor, start: i64) -> i64 {
        if start == self.last { self.next } else { start.wrapping_add(divisor.width() as i64) }
    }
}

/// Runs one after the other, with an index by time: which of them holds the beginning of each slot of `2^shift` ticks.
#[derive(Debug, Clone)]
struct Runs {
    len: usize,
    from: i64,
    shift: u32,
    slots: Box<[u32]>,
    /// The most runs that begin within one slot.
    steps: usize,
    /// All of them, and some that never begin, so that what follows a run can be read: [`FEW`], or as many as are stepped over.
    runs: Box<[Run<i64>]>,
}

/// Of two weeks each, if they are to hold three centuries.
const SLOTS: usize = 8 << 10;

/// So many runs are told apart by comparisons.
const FEW: usize = 4;

/// A run that no timestamp has reached.
const NEVER: Run<i64> = Run { first: i64::MAX, last: i64::MAX, next: i64::MAX };

impl Runs {
    /// No more than these are kept; later rows are worked out.
    const MOST: usize = 2 << 10;

    fn new(runs: &[Run<i64>]) -> Self {
        let mut slots: Box<[u32]> = vec![0; SLOTS].into();
        let with_more =
            |more: usize| runs.iter().copied().chain(std::iter::repeat_n(NEVER, more + FEW)).collect();
        let (Some(second), Some(last)) = (runs.get(1), runs.last()) else {
            return Self { len: runs.len(), from: 0, shift: 63, slots, steps: 0, runs: with_more(0) };
        };
        let from = second.first - 1;
        let distance = last.first.abs_diff(from);
        let shift = (0..63).find(|shift| distance >> shift < SLOTS as u64 - 1).unwrap_or(63);
        let (mut steps, mut run) = (0, 0);
        for (slot, holds) in slots.iter_mut().enumerate() {
            let begins_by = |run: usize, slot: usize| {
                runs.get(run).is_some_and(|run| run.first.abs_diff(from) < (slot as u64) << shift)
            };
            let before = run;
            while begins_by(run + 1, slot) {
                run += 1;
            }
            steps = steps.max(run - before);
            *holds = run as u32;
        }
        Self { len: runs.len(), from, shift, slots, steps, runs: with_more(steps) }
    }

    /// The run that holds `ts`, if one does.
    fn of(&self, ts: i64) -> Option<Run<i64>> {
        let (first, last) = (self.runs[..self.len].first()?, self.runs[..self.len].last()?);
        (first.first <= ts && ts < last.next).then(|| self.runs[self.find(self.slot(ts), ts, self.steps)])
    }

    /// The runs from that of `lowest` to that of `highest`, both of which lie in one, if they are few.
    fn few(&self, lowest: i64, highest: i64) -> Option<[Run<i64>; FEW]> {
        let [first, last] = [lowest, highest].map(|ts| self.find(self.slot(ts), ts, self.steps));
        let few = *self.runs[first..].first_chunk()?;
        (last - first < FEW).then_some(few)
    }

    /// The slot of a time.
    #[inline(always)]
    fn slot(&self, ts: i64) -> u32 {
        let slot = ts.max(self.from).wrapping_sub(self.from) as u64 >> self.shift;
        slot.min(SLOTS as u64 - 1) as u32
    }

    /// The index of the run that holds `ts` of this slot, as long as no more than `steps` runs begin in it; any one where none
    /// does.
    #[inline(always)]
    fn find(&self, slot: u32, ts: i64, steps: usize) -> usize {
        let mut index = self.slots[slot as usize] as usize;
        for _ in 0..steps {
            index += usize::from(ts >= self.runs[index + 1].first);
        }
        index
    }
}

/// Looks for the extremes of the valid rows.
struct Scan<'a> {
    ts: &'a [i64],
    validity: Option<&'a [u64]>,
}

impl Kernel for Scan<'_> {
    type Output = Extremes;

    #[inline(always)]
    fn run(self) -> Extremes {
        Extremes::of(self.ts, self.validity)
    }
}

/// Buckets in place the ticks of a few neighbouring runs.
struct Few<'a> {
    runs: [Run<i64>; FEW],
    units: Units,
    width: i64,
    edge: Edge,
    ticks: &'a mut [i64],
}

impl Kernel for Few<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { runs, units, width, edge, ticks } = self;
        for tick in ticks {
            let ts = *tick;
            let [mut run, later @ ..] = runs;
            for later in later {
                run = if ts >= later.first { later } else { run };
            }
            *tick = edge_within(run, &units, width, edge, ts);
        }
    }
}

/// The edge of the bucket that holds `ts`, which lies in this run.
#[inline(always)]
fn edge_within(run: Run<i64>, units: &Units, width: i64, edge: Edge, ts: i64) -> i64 {
    let start = run.first.wrapping_add(units.whole_widths(ts.wrapping_sub(run.first)));
    let end = start.wrapping_add(width);
    match edge {
        Edge::Start => start.min(run.last),
        Edge::End => {
            if start >= run.last {
                run.next
            } else {
                end
            }
        }
    }
}

/// Buckets in place the ticks of several runs, all within reach, no more than `STEPS` of which begin in one slot.
struct Several<'a, const STEPS: usize> {
    runs: &'a Runs,
    units: Units,
    width: i64,
    edge: Edge,
    ticks: &'a mut [i64],
}

impl<const STEPS: usize> Kernel for Several<'_, STEPS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { runs, units, width, edge, ticks } = self;
        let (words, rest) = ticks.as_chunks_mut::<WORD>();
        for ticks in words {
            // What is looked up one by one stands between two loops that a processor does several rows of at a time.
            let slots = ticks.map(|ts| runs.slot(ts));
            let mut held = [NEVER; WORD];
            for row in 0..WORD {
                held[row] = runs.runs[runs.find(slots[row], ticks[row], STEPS)];
            }
            for row in 0..WORD {
                ticks[row] = edge_within(held[row], &units, width, edge, ticks[row]);
            }
        }
        for tick in rest {
            let run = runs.runs[runs.find(runs.slot(*tick), *tick, STEPS)];
            *tick = edge_within(run, &units, width, edge, *tick);
        }
    }
}

/// Buckets in place the ticks of any runs.
struct Many<'a> {
    runs: &'a Runs,
    divisor: &'a Divisor,
    edge: Edge,
    ticks: &'a mut [i64],
}

impl Kernel for Many<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { runs, divisor, edge, ticks } = self;
        for tick in ticks {
            let run = runs.runs[runs.find(runs.slot(*tick), *tick, runs.steps)];
            let start = run.start(divisor, *tick);
            *tick = match edge {
                Edge::Start => start,
                Edge::End => run.end(divisor, start),
            };
        }
    }
}
