//! Windows of local buckets: the buckets of a range, and those of so many buckets in a row around each timestamp.

use crate::lists::{List, fill_lists, size_lists};
use crate::local::Run;
use crate::{
    Anchors, Argument, Civil, Clocks, Error, Grid, Hop, Interval, LocalBuckets, LocalGrid, Precision, Result,
    Shape, Zone,
};

/// Every local bucket that meets a range of time, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSeries {
    /// Each run, and how many buckets there are before it.
    runs: Vec<(u64, Run<i64>)>,
    width: i64,
    len: u64,
}

impl LocalSeries {
    /// The buckets that meet `[from, until)`; none when that is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`], [`Error::Backwards`] when `until` is before `from`, or [`Error::WindowOutOfRange`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use time_bucket_kernel::{Grid, LocalBuckets, LocalSeries, Precision, Zone};
    /// // A clock that is set from 01:00 to 02:00, so that this day has 23 hours.
    /// let zone = Arc::new(Zone::new(0, &[(3_600, 3_600)], false).unwrap());
    /// let days = LocalBuckets::new(zone, Grid::new(86_400, 0).unwrap(), Precision::Second);
    /// let series = LocalSeries::new(&days, 5, 82_801).unwrap();
    /// let (mut starts, mut ends) = ([0; 2], [0; 2]);
    /// series.write_starts(0, &mut starts);
    /// series.write_ends(0, &mut ends);
    /// assert_eq!((starts, ends, series.len()), ([0, 82_800], [82_800, 169_200], 2));
    /// ```
    pub fn new(buckets: &LocalBuckets, from: i64, until: i64) -> Result<Self> {
        let (local, precision) = (buckets.grid(), buckets.precision());
        let civil = |tick| Civil { tick, precision };
        civil(from).require_finite(Argument::From)?;
        civil(until).require_finite(Argument::Until)?;
        if until < from {
            return Err(Error::Backwards { from: civil(from), until: civil(until) });
        }
        let width = local.grid().width();
        let finite = |argument, tick, bound| {
            precision.finite(bound).ok_or(Error::WindowOutOfRange { argument, value: civil(tick) })
        };
        let (mut runs, mut len) = (Vec::new(), 0);
        let mut next = if from < until { buckets.bucket(from).0 } else { until.into() };
        while next < i128::from(until) {
            let mut run = local.run(next);
            let last = run.first + (i128::from(until) - 1 - run.first) / width * width;
            if last < run.last {
                (run.last, run.next) = (last, last + width);
            }
            next = run.next;
            let first = finite(Argument::From, from, run.first)?;
            let run = Run {
                first,
                last: finite(Argument::Until, until, run.last)?,
                next: finite(Argument::Until, until, run.next)?,
            };
            runs.push((len, run));
            len += (i128::from(run.last) - i128::from(run.first)).unsigned_abs() as u64 / width.max(1) as u64
                + 1;
        }
        Ok(Self { runs, width: width as i64, len })
    }

    /// How many buckets.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes the starts of the buckets from index `from` on, as many as there is room for.
    pub fn write_starts(&self, from: u64, out: &mut [i64]) {
        self.write(from, out, |start, _| start);
    }

    /// Writes the ends of the buckets from index `from` on, as many as there is room for.
    pub fn write_ends(&self, from: u64, out: &mut [i64]) {
        self.write(
            from,
            out,
            |start, run| {
                if start == run.last { run.next } else { start.wrapping_add(self.width) }
            },
        );
    }

    fn write(&self, from: u64, out: &mut [i64], bound: impl Fn(i64, &Run<i64>) -> i64) {
        let mut at = self.runs.partition_point(|(before, _)| *before <= from).saturating_sub(1);
        for (index, out) in (from..).zip(out) {
            while self.runs.get(at + 1).is_some_and(|(before, _)| *before <= index) {
                at += 1;
            }
            let Some((before, run)) = self.runs.get(at) else { return };
            // Modulo 2^64, which is exact: every bound fits an `i64`.
            let start = run.first.wrapping_add(self.width.wrapping_mul((index - before) as i64));
            *out = bound(start, run);
        }
    }
}

impl LocalBuckets {
    /// The start of the bucket that lies so many before the one that starts at `start`: exact, and possibly outside of what an
    /// `i64` holds, but no earlier than is needed to see that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use time_bucket_kernel::{Grid, LocalBuckets, Precision, Zone};
    /// // A clock that is set from 01:00 to 02:00, so that this day has 23 hours.
    /// let zone = Arc::new(Zone::new(0, &[(3_600, 3_600)], false).unwrap());
    /// let days = LocalBuckets::new(zone, Grid::new(86_400, 0).unwrap(), Precision::Second);
    /// assert_eq!(days.start_before(169_200, 3), -86_400);
    /// ```
    #[must_use]
    pub fn start_before(&self, start: i64, mut count: u64) -> i128 {
        let (mut start, width) = (i128::from(start), self.grid().grid().width());
        while count > 0 {
            let Ok(tick) = i64::try_from(start) else { break };
            // The buckets of a run in one step, to its first one or as far as asked.
            let before = self.run_of(tick).map_or(0, |run| (start - i128::from(run.first)) / width);
            if let Ok(whole @ 1..) = u64::try_from(before) {
                let steps = whole.min(count);
                (start, count) = (start - i128::from(steps) * width, count - steps);
            } else {
                (start, count) = (self.grid().bucket_of(start - 1).0, count - 1);
            }
        }
        start
    }

    /// The start of the oldest of `count` windows of as many buckets that hold `ts`, where all of their buckets are a width each.
    fn oldest_of_even(&self, ts: i64, count: u64) -> Option<i64> {
        let (divisor, run) = (self.grid().grid().divisor()?, self.run_of(ts)?);
        let reach = i64::try_from(u128::from(count - 1) * u128::from(divisor.width())).ok()?;
        let start = run.start(divisor, ts);
        let (oldest, newest) = (start.checked_sub(reach)?, start.checked_add(reach)?);
        (run.first <= oldest && newest < run.last).then_some(oldest)
    }

    /// How many buckets start in `[since, until)`, and the first start; `None` where that is no `i64`.
    #[must_use]
    pub fn starts_between(&self, since: i64, until: i64) -> Option<(i64, u64)> {
        let (start, end) = self.bucket(since);
        let first = if start == i128::from(since) { start } else { end };
        let (mut next, mut len, width) = (first, 0, self.grid().grid().width());
        while next < i128::from(until) {
            let mut run = self.grid().run(next);
            let last = run.first + (i128::from(until) - 1 - run.first) / width * width;
            if last < run.last {
                (run.last, run.next) = (last, i128::from(until));
            }
            len += u64::try_from((run.last - run.first) / width).ok()? + 1;
            next = run.next;
        }
        Some((i64::try_from(first).ok()?, len))
    }
}

/// The windows that apply to each row: `size / slide` local buckets of the slide in a row, or those that grow by a bucket of
/// the step within one of the size.
#[derive(Debug, Clone, Copy)]
pub enum LocalHops<'a> {
    /// The same for all: the slide's buckets, and how many to a window.
    One(&'a LocalBuckets, u64),
    /// The same for all: the buckets of step and size.
    Grow(&'a LocalBuckets, &'a LocalBuckets),
    /// Other ones a row, not yet validated. All slices are as long as the timestamps.
    Rows {
        /// Each row's slide.
        slides: &'a [Interval],
        /// Each row's size.
        sizes: &'a [Interval],
        /// Each row's anchor.
        anchors: Anchors<'a>,
        /// Each row's zone: its place among the clocks.
        zones: &'a [u16],
        /// The clocks of all zones.
        clocks: &'a Clocks,
    },
}

/// How many buckets of a slide, or step, make a window of a size.
///
/// # Errors
///
/// The reason why slide or size is refused, [`Error::NotMultiple`] or [`Error::TooManyWindows`].
pub fn local_hop(precision: Precision, shape: Shape, slide: Interval, size: Interval) -> Result<u64> {
    let divisor = shape.step();
    let slide_ticks = precision.length_ticks(divisor, slide)?;
    let size_ticks = precision.length_ticks(Argument::Size, size)?;
    if size_ticks % slide_ticks != 0 {
        return Err(Error::NotMultiple { argument: Argument::Size, value: size, divisor, unit: slide });
    }
    let (windows, limit) = (size_ticks / slide_ticks, Hop::MOST_WINDOWS);
    let too_many = || Error::TooManyWindows { argument: divisor, step: slide, size, windows, limit };
    u64::try_from(windows).ok().filter(|_| windows <= limit).ok_or_else(too_many)
}

/// The buckets of one row.
enum Buckets<'a> {
    Prepared(&'a LocalBuckets),
    Grid(&'a Zone, Grid),
}

impl Buckets<'_> {
    fn bucket(&self, precision: Precision, ts: i64) -> (i128, i128) {
        match self {
            Self::Prepared(buckets) => buckets.bucket(ts),
            Self::Grid(zone, grid) => LocalGrid::new(zone, grid, precision).bucket(ts),
        }
    }
}

impl<'a> LocalHops<'a> {
    /// The buckets of a row, and how many make a window.
    fn of_row(&self, row: usize, precision: Precision) -> Result<(Buckets<'a>, u64)> {
        match *self {
            Self::One(buckets, count) => Ok((Buckets::Prepared(buckets), count)),
            // One window for the step that holds the timestamp; there are as many as steps follow.
            Self::Grow(step, _) => Ok((Buckets::Prepared(step), 1)),
            Self::Rows { slides, sizes, anchors, zones, clocks } => {
                let anchor = anchors.row_ticks(row, precision)?;
                let count = local_hop(precision, Shape::Hop, slides[row], sizes[row])?;
                let grid = precision.grid(Argument::Slide, slides[row], anchor)?;
                Ok((Buckets::Grid(clocks.zone(zones[row].into()), grid), count))
            }
        }
    }

    /// Writes the bounds of the windows that hold `ts`, or only sees whether all are finite where there is no room.
    fn windows(
        &self,
        row: usize,
        precision: Precision,
        ts: i64,
        mut out: Option<(&mut [i64], &mut [i64])>,
    ) -> Result<u64> {
        if let Self::One(buckets, count) = *self
            && let Some(oldest) = buckets.oldest_of_even(ts, count)
        {
            if let Some((starts, ends)) = out {
                let (count, width) = (count as i64, buckets.grid().grid().width() as i64);
                for (index, (start, end)) in (0..count).zip(starts.iter_mut().zip(ends)) {
                    (*start, *end) = (oldest + index * width, oldest + (index + count) * width);
                }
            }
            return Ok(count);
        }
        let (buckets, count) = self.of_row(row, precision)?;
        if Precision::is_infinite(ts) {
            return Ok(1);
        }
        let out_of_range =
            || Error::WindowOutOfRange { argument: Argument::Ts, value: Civil { tick: ts, precision } };
        let finite = |bound| precision.finite(bound).ok_or_else(out_of_range);
        let (start, end) = buckets.bucket(precision, ts);
        if let Self::Grow(step, size) = self {
            let (first, last) = size.bucket(ts);
            let (first, last, mut end, mut len) = (finite(first)?, finite(last)?, finite(end)?, 0);
            loop {
                if let Some((starts, ends)) = &mut out {
                    (starts[len], ends[len]) = (first, end);
                }
                len += 1;
                if end >= last {
                    return Ok(len as u64);
                }
                end = finite(step.bucket(end).1)?;
            }
        }
        let (mut start, mut end) = (finite(start)?, finite(end)?);
        for index in 0..count as usize {
            if let Some((starts, ends)) = &mut out {
                (starts[count as usize - 1 - index], ends[index]) = (start, end);
            }
            if index + 1 < count as usize {
                start = finite(buckets.bucket(precision, start.checked_sub(1).ok_or_else(out_of_range)?).0)?;
                end = finite(buckets.bucket(precision, end).1)?;
            }
        }
        Ok(count)
    }
}

/// Writes to `lists` where each row's windows stand, one row after the other, and gives the number of all windows.
///
/// An infinite timestamp has one window. Rows that `validity` does not hold have none, and raise no error.
///
/// # Errors
///
/// The first valid row's [`Error`] whose arguments are refused or one of whose windows has a bound out of range.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, or `validity` than one bit a row.
pub fn count_local_windows(
    hops: &LocalHops<'_>,
    precision: Precision,
    ts: &[i64],
    validity: Option<&[u64]>,
    lists: &mut [List],
) -> Result<u64> {
    size_lists(ts, validity, lists, |row, ts| hops.windows(row, precision, ts, None))
}

/// Writes the bounds of every window, where `lists` says, as [`count_local_windows`] sized them from the same arguments.
///
/// # Errors
///
/// None after [`count_local_windows`] has succeeded.
///
/// # Panics
///
/// When one of the slices is shorter than `ts`, or `starts` or `ends` than all lists together.
pub fn write_local_windows(
    hops: &LocalHops<'_>,
    precision: Precision,
    ts: &[i64],
    lists: &[List],
    starts: &mut [i64],
    ends: &mut [i64],
) -> Result<()> {
    fill_lists(ts, lists, starts, ends, |row, ts, starts, ends| {
        hops.windows(row, precision, ts, Some((starts, ends))).map(drop)
    })
}
