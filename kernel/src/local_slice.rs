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
//! | more runs | look the run up by a slot of time, multiply by a reciprocal |
//!
//! Rows before or after all runs (the ends of the type's range, infinities, and where a rule goes on for centuries) are
//! worked out one at a time.

use crate::grid::Divisor;
use crate::local::Run;
use crate::simd::{Kernel, Level, run_at};
use crate::slice::{BLOCK, Extremes, Floor, Units};
use crate::validity::{WORD, is_valid};
use crate::{Edge, Grid, LocalGrid, OutOfRange, Precision, Zone};
use std::sync::Arc;

/// The buckets of one grid on the wall clock of one zone, prepared for loops over rows.
#[derive(Debug, Clone)]
pub struct LocalBuckets {
    zone: Arc<Zone>,
    grid: Grid,
    precision: Precision,
    runs: Vec<Run<i64>>,
    slots: Slots,
}

/// Where a rule goes on for ever, the runs are counted out until 2200-01-01.
const RUNS_UNTIL: i64 = 7_258_118_400;

/// More runs than this are not kept; from there on each row is worked out.
const MOST_RUNS: usize = 1 << 14;

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
        let slots = Slots::new(&runs);
        Self { zone, grid, precision, runs, slots }
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
        match (self.grid.divisor(), self.run_of(ts)) {
            (Some(divisor), Some(run)) => {
                let start = run.start(divisor, ts);
                (start.into(), run.end(divisor, start).into())
            }
            _ => self.grid().bucket(ts),
        }
    }

    /// The run that holds `ts`, if one does.
    fn run_of(&self, ts: i64) -> Option<&Run<i64>> {
        let is_held = self.runs.first()?.first <= ts && ts < self.runs.last()?.next;
        is_held.then(|| &self.runs[self.slots.find(&self.runs, ts)])
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
        let out = &mut out[..ts.len()];
        for (index, (ts, out)) in ts.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
            let validity = validity.map(|words| &words[index * (BLOCK / WORD)..]);
            out.copy_from_slice(ts);
            let extremes = run_at(level, Scan { ts: out, validity });
            let (low, high) = (extremes.lowest, extremes.highest);
            if low > high {
                continue; // All are NULL.
            }
            match (self.run_of(low), self.run_of(high), self.grid.divisor()) {
                (Some(first), Some(last), Some(divisor)) => {
                    self.within(level, edge, divisor, extremes, (first, last), out);
                }
                (_, _, divisor) => {
                    if let Some(divisor) = divisor.filter(|_| !self.runs.is_empty()) {
                        run_at(
                            level,
                            Many { runs: &self.runs, slots: &self.slots, divisor, edge, ticks: out },
                        );
                    }
                    self.outside(edge, ts, validity, out)
                        .map_err(|row| OutOfRange { row: index * BLOCK + row })?;
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
        (first, last): (&Run<i64>, &Run<i64>),
        ticks: &mut [i64],
    ) {
        let Extremes { lowest, highest } = extremes;
        if first.first == last.first {
            let plain_until = if last.next.wrapping_sub(last.last) == divisor.width() as i64 {
                last.next
            } else {
                last.last
            };
            if highest < plain_until
                && let Some(grid) = Grid::new(self.grid.width(), first.first.into())
            {
                return run_at(level, Floor { grid: &grid, edge, extremes, ticks });
            }
            if lowest >= last.last {
                return ticks.fill(match edge {
                    Edge::Start => last.last,
                    Edge::End => last.next,
                });
            }
        }
        let index = self.slots.find(&self.runs, lowest);
        let units = Units::new(divisor);
        let origin = first.start(divisor, lowest);
        let few = Few::take(&self.runs[index..], highest)
            .filter(|_| units.reach(i128::from(highest) - i128::from(origin)));
        if let Some(mut runs) = few {
            // Nearer to the rows than the run's own beginning, which may be thousands of years ago.
            runs[0].first = origin;
            return run_at(level, Few { runs, units, width: divisor.width() as i64, edge, ticks });
        }
        run_at(level, Many { runs: &self.runs, slots: &self.slots, divisor, edge, ticks });
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
            if !is_valid(validity, row) || self.run_of(ts).is_some() {
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
    while next < until && runs.len() < MOST_RUNS {
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
    fn start(&self, divisor: &Divisor, ts: i64) -> i64 {
        let past_start = divisor.rest(ts.wrapping_sub(self.first) as u64);
        ts.wrapping_sub(past_start as i64).min(self.last)
    }

    /// The end of the bucket that starts at `start`.
    #[inline(always)]
    fn end(&self, divisor: &Divisor, start: i64) -> i64 {
        if start == self.last { self.next } else { start.wrapping_add(divisor.width() as i64) }
    }
}

/// An index of runs by time: which run holds the beginning of each slot of `2^shift` ticks.
#[derive(Debug, Clone)]
struct Slots {
    from: i64,
    shift: u32,
    runs: Vec<u16>,
    /// The most runs that begin within one slot.
    steps: usize,
}

impl Slots {
    /// The index of 12 KiB stays in the first-level cache beside a block.
    const MOST: u64 = 6 << 10;

    fn new(runs: &[Run<i64>]) -> Self {
        let (Some(second), Some(last)) = (runs.get(1), runs.last()) else {
            return Self { from: 0, shift: 63, runs: vec![0], steps: 0 };
        };
        let from = second.first - 1;
        let distance = last.first.abs_diff(from);
        let shift = (0..63).find(|shift| distance >> shift < Self::MOST).unwrap_or(63);
        let run_at = |ticks: u64| {
            let tick = from.saturating_add_unsigned(ticks);
            runs.partition_point(|run| run.first <= tick) - 1
        };
        let slots = 0..=distance >> shift;
        let steps = slots.clone().map(|slot| {
            let first = slot << shift;
            run_at(first.saturating_add((1 << shift) - 1)) - run_at(first)
        });
        let steps = steps.max().unwrap_or_default();
        Self { from, shift, runs: slots.map(|slot| run_at(slot << shift) as u16).collect(), steps }
    }

    /// The index of the run that holds `ts`; of some run when none does.
    #[inline(always)]
    fn find(&self, runs: &[Run<i64>], ts: i64) -> usize {
        let slot = ts.max(self.from).wrapping_sub(self.from) as u64 >> self.shift;
        let mut index: usize = self.runs[slot.min(self.runs.len() as u64 - 1) as usize].into();
        for _ in 0..self.steps {
            index += usize::from(ts >= runs[index].next && index + 1 < runs.len());
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

/// So many runs are told apart by comparisons.
const FEW: usize = 4;

/// Buckets in place the ticks of a few neighbouring runs.
struct Few<'a> {
    runs: [Run<i64>; FEW],
    units: Units,
    width: i64,
    edge: Edge,
    ticks: &'a mut [i64],
}

impl Few<'_> {
    /// The first of `runs` up to the one that holds `highest`, if they are few enough.
    fn take(runs: &[Run<i64>], highest: i64) -> Option<[Run<i64>; FEW]> {
        const NEVER: Run<i64> = Run { first: i64::MAX, last: i64::MAX, next: i64::MAX };
        let count = runs.iter().take(FEW).position(|run| highest < run.next)? + 1;
        Some(std::array::from_fn(|index| if index < count { runs[index] } else { NEVER }))
    }
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
            let start = run.first.wrapping_add(units.whole_widths(ts.wrapping_sub(run.first)));
            *tick = match edge {
                Edge::Start => start.min(run.last),
                Edge::End => {
                    if start >= run.last {
                        run.next
                    } else {
                        start.wrapping_add(width)
                    }
                }
            };
        }
    }
}

/// Buckets in place the ticks of any runs.
struct Many<'a> {
    runs: &'a [Run<i64>],
    slots: &'a Slots,
    divisor: &'a Divisor,
    edge: Edge,
    ticks: &'a mut [i64],
}

impl Kernel for Many<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { runs, slots, divisor, edge, ticks } = self;
        for tick in ticks {
            let run = &runs[slots.find(runs, *tick)];
            let start = run.start(divisor, *tick);
            *tick = match edge {
                Edge::Start => start,
                Edge::End => run.end(divisor, start),
            };
        }
    }
}
