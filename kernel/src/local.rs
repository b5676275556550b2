//! Buckets by a zone's wall clock: where they start and end, for one instant at a time, exactly.
//!
//! The grid is made of readings of the clock. A bucket starts at each instant at which the clock shows a grid point for the
//! first time, or jumps over one or more; and where the clock is set back by at least a width, the grid points that it shows
//! again start buckets again. So buckets partition time, and each ends where the next one starts.
//!
//! The first kind is found without looking at any bucket before: of all readings that the clock has shown or jumped over up
//! to an instant the latest is known ([`Segment::top`]), the grid point below that is the bucket's, and the clock first
//! showed it in the segment that [`Zone::reaching`] finds. The second kind lies within two days of the instant, or it
//! doesn't matter.

use crate::zone::{FAR, Segment, Zone};
use crate::{Edge, Grid, Precision};
use std::ops::Range;

/// A grid of readings of a zone's clock.
#[derive(Debug, Clone, Copy)]
pub struct LocalGrid<'a> {
    zone: &'a Zone,
    grid: &'a Grid,
    second: i128,
}

impl<'a> LocalGrid<'a> {
    /// The points of `grid`, in ticks of `precision`, on the wall clock of `zone`.
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::{Grid, LocalGrid, Precision, Zone};
    /// // A clock that is set from 01:00 to 02:00, so that this day has 23 hours.
    /// let zone = Zone::new(0, &[(3_600, 3_600)], false).unwrap();
    /// let days = Grid::new(86_400, 0).unwrap();
    /// assert_eq!(LocalGrid::new(&zone, &days, Precision::Second).bucket(7_200), (0, 82_800));
    /// ```
    #[must_use]
    pub fn new(zone: &'a Zone, grid: &'a Grid, precision: Precision) -> Self {
        Self { zone, grid, second: precision.ticks_per_second().into() }
    }

    pub(crate) const fn grid(&self) -> &'a Grid {
        self.grid
    }

    /// The segment of an index, in ticks.
    pub(crate) fn segment(&self, index: usize) -> Ticks {
        let Segment { from, until, offset, top, back } = self.zone.segment(index);
        // The first segment has no beginning, and the last one no end.
        let scale =
            |seconds: i64| if seconds.abs() == FAR { i128::MAX / i128::from(4 * FAR) } else { self.second };
        let ticks = |seconds: i64| i128::from(seconds) * scale(seconds);
        let (from, offset, back) = (ticks(from), ticks(offset), ticks(back));
        let readings = from + offset..ticks(until) + offset;
        let again = readings.start..readings.end.min(readings.start + back);
        let again = if back >= self.grid.width() { again } else { readings.start..readings.start };
        Ticks { from, offset, top: ticks(top), readings, again }
    }

    /// The index of the segment that holds `ts`.
    pub(crate) fn at(&self, ts: i128) -> usize {
        self.zone.at(self.whole_seconds(ts))
    }

    /// The second that a tick lies in.
    fn whole_seconds(&self, tick: i128) -> i64 {
        tick.div_euclid(self.second).clamp(i128::from(1 - FAR), i128::from(FAR - 1)) as i64
    }

    /// The bucket that holds `ts`: its start, and its end, which is the start of the next one. Both are exact, and possibly
    /// outside of what an `i64` holds.
    #[must_use]
    pub fn bucket(&self, ts: i64) -> (i128, i128) {
        self.bucket_of(ts.into())
    }

    /// The start or the end of the bucket that holds `ts`.
    #[must_use]
    pub fn edge(&self, edge: Edge, ts: i64) -> i128 {
        let (start, end) = self.bucket(ts);
        match edge {
            Edge::Start => start,
            Edge::End => end,
        }
    }

    /// [`Self::bucket`] of an instant that no timestamp need hold.
    pub(crate) fn bucket_of(&self, ts: i128) -> (i128, i128) {
        let index = self.at(ts);
        let segment = self.segment(index);
        let latest = (ts + segment.offset).max(segment.top - 1);
        let point = self.grid.floor(latest);
        let shown = (self.first_shown(point), self.first_shown(point + self.grid.width()));
        if i128::from(self.zone.most_back()) * self.second < self.grid.width() {
            return shown;
        }
        (self.shown_again_by(ts, index, shown.0), self.shown_again_after(ts, index, shown.1))
    }

    /// The instant at which the clock shows a grid point or jumps over it, for the first time.
    fn first_shown(&self, point: i128) -> i128 {
        let segment = self.segment(self.zone.reaching(self.whole_seconds(point)));
        segment.from.max(point - segment.offset)
    }

    /// The latest instant up to `ts`, but after `start`, at which the clock shows a grid point again; or `start`.
    fn shown_again_by(&self, ts: i128, index: usize, start: i128) -> i128 {
        for segment in (0..=index).rev().map(|index| self.segment(index)) {
            let latest = segment.again.end.min(ts + segment.offset + 1) - 1;
            let point = self.grid.floor(latest);
            if segment.again.contains(&point) {
                return start.max(point - segment.offset);
            }
            if segment.from <= start {
                break;
            }
        }
        start
    }

    /// The first instant after `ts`, but before `end`, at which the clock shows a grid point again; or `end`.
    fn shown_again_after(&self, ts: i128, index: usize, end: i128) -> i128 {
        for segment in (index..self.zone.len()).map(|index| self.segment(index)) {
            if segment.from >= end {
                break;
            }
            let earliest = segment.again.start.max(ts + segment.offset + 1);
            let point = self.grid.floor(earliest - 1) + self.grid.width();
            if segment.again.contains(&point) {
                return end.min(point - segment.offset);
            }
        }
        end
    }

    /// The buckets from the one that starts at `start` on, while the clock isn't set: as many as lie side by side, a width
    /// each but for the last, which may end at any time.
    pub(crate) fn run(&self, start: i128) -> Run<i128> {
        let segment = self.segment(self.at(start));
        let reading = start + segment.offset;
        let until = match () {
            // What starts at a jump over grid points is a bucket alone.
            () if self.grid.floor(reading) != reading => reading + 1,
            () if reading >= segment.top => segment.readings.end,
            () if segment.again.contains(&reading) => segment.again.end,
            () => reading + 1,
        };
        let last = self.grid.floor(until - 1).max(reading) - segment.offset;
        Run { first: start, last, next: self.bucket_of(last).1 }
    }
}

/// A [`Segment`] in ticks.
pub(crate) struct Ticks {
    pub(crate) from: i128,
    pub(crate) offset: i128,
    pub(crate) top: i128,
    /// What the clock shows.
    pub(crate) readings: Range<i128>,
    /// The part of it that starts buckets again, since the clock was set back by at least a width.
    pub(crate) again: Range<i128>,
}

/// Buckets side by side: they start at `first` and every width later up to `last`, and the last one ends at `next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run<T> {
    pub(crate) first: T,
    pub(crate) last: T,
    pub(crate) next: T,
}
