//! Hops, panes, cadences, series and covers against plain `i128` arithmetic: each bound, and each refusal to the word.
#![no_main]

mod input;

use arbitrary::{Arbitrary, Unstructured};
use input::{
    Anchor, AnyGrid, AnyInterval, Column, Unit, anchor_ticks, finite, is_infinite, length, nanos, range,
    tick_nanos,
};
use kernel::{Argument, Error, Result};
use kernel::{
    Civil, Cover, Grid, Hop, Hops, Interval, List, Panes, Precision, Series, Shape, Steps, cadence_of,
    count_windows, is_valid, pane_width, write_windows,
};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

#[derive(Debug, Arbitrary)]
enum Input {
    Hops {
        unit: Unit,
        /// One slide, size and anchor for all rows.
        one: bool,
        run: u8,
        slides: [AnyInterval; 3],
        sizes: [Multiple; 3],
        anchor: Anchor,
        column: Column,
    },
    Panes {
        unit: AnyInterval,
        lookback: Multiple,
        cadence: Option<Multiple>,
        at: Option<(Unit, Tick)>,
        /// None: as many panes as there are.
        budget: Option<i32>,
    },
    Cadence {
        unit: Unit,
        digits: u8,
        times: Column,
    },
    Series {
        unit: Unit,
        grid: AnyGrid,
        from: Tick,
        until: Until,
    },
    Cover {
        unit: Unit,
        at: Tick,
        slide: AnyInterval,
        size: Multiple,
        lookback: Multiple,
    },
}

/// A timestamp at which something changes, or any.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Tick {
    Any(i64),
    Near(i32),
    Lowest(i16),
    Highest(i16),
    Infinity,
    MinusInfinity,
}

impl Tick {
    fn of(self, precision: Precision) -> i64 {
        let (lowest, highest) = range(precision);
        match self {
            Self::Any(tick) => tick,
            Self::Near(tick) => tick.into(),
            Self::Lowest(above) => lowest.saturating_add(above.into()),
            Self::Highest(above) => highest.saturating_add(above.into()),
            Self::Infinity => i64::MAX,
            Self::MinusInfinity => -i64::MAX,
        }
    }
}

#[derive(Debug, Arbitrary)]
enum Until {
    At(Tick),
    After(u32),
}

/// A length next to another one.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Multiple {
    /// So many times the other, or nearly.
    Of(#[arbitrary(with = times)] i32, Option<i8>),
    /// As many days as there can be, and so many times the other's microseconds.
    Longest(#[arbitrary(with = times)] i32),
    Any(AnyInterval),
}

/// Mostly a few, else about as many as a row may have windows.
fn times(u: &mut Unstructured<'_>) -> arbitrary::Result<i32> {
    if u.ratio(1, 8)? { u.int_in_range(99_990..=100_010) } else { u.int_in_range(0..=40) }
}

impl Multiple {
    fn of(self, unit: Interval) -> Interval {
        match self {
            Self::Of(times, extra) => Interval {
                months: unit.months,
                days: unit.days.saturating_mul(times),
                micros: unit.micros.saturating_mul(times.into()).saturating_add(extra.unwrap_or(0).into()),
            },
            Self::Longest(times) => {
                Interval { months: 0, days: i32::MAX, micros: unit.micros.saturating_mul(times.into()) }
            }
            Self::Any(any) => any.interval(),
        }
    }
}

/// The ticks `first + index * step` for each index below `len`.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    first: i128,
    step: i128,
    len: i128,
}

impl Ticks {
    fn get(self, index: i128) -> i128 {
        self.first + index * self.step
    }

    fn later(self, by: i128) -> Self {
        Self { first: self.first + by, ..self }
    }

    fn are_finite(self, precision: Precision) -> bool {
        let ends = [self.first, self.get(self.len - 1)];
        // Nanoseconds have finite timestamps on either side of -infinity.
        let to_sentinel = i128::from(-i64::MAX) - self.first;
        let hits_sentinel =
            to_sentinel % self.step == 0 && (0..self.len).contains(&(to_sentinel / self.step));
        ends.iter().all(|&tick| finite(precision, tick).is_some()) && !hits_sentinel
    }

    /// Compares the first ticks, some from `near` on, and the last.
    fn check(self, steps: &Steps, near: u64) {
        const SOME: u64 = 70;
        let len = steps.len();
        assert_eq!((i128::from(len), len == 0), (self.len, steps.is_empty()));
        for from in [0, near.checked_rem(len).unwrap_or(0), len.saturating_sub(SOME)] {
            let mut out = vec![0; SOME.min(len - from) as usize];
            steps.write(from, &mut out);
            for (index, &tick) in (from..).zip(&out) {
                assert_eq!(i128::from(tick), self.get(index.into()), "{index} of {self:?}");
            }
        }
    }
}

/// Both answers, if there are any: what the oracle refuses is refused for the same reason, in one line.
fn agree<A: Debug, B: Debug>(kernel: Result<A>, oracle: Result<B>) -> Option<(A, B)> {
    match (kernel, oracle) {
        (Ok(kernel), Ok(oracle)) => Some((kernel, oracle)),
        (Err(kernel), Err(oracle)) => {
            assert_eq!(kernel, oracle);
            assert!(!kernel.to_string().contains('\n'));
            None
        }
        (kernel, oracle) => panic!("{kernel:?} instead of {oracle:?}"),
    }
}

fn require(condition: bool, error: Error) -> Result<()> {
    if condition { Ok(()) } else { Err(error) }
}

fn require_finite(argument: Argument, value: Civil) -> Result<()> {
    require(!is_infinite(value.tick), Error::Infinite { argument, value })
}

/// Slide and size in ticks.
fn hop(precision: Precision, slide: Interval, size: Interval) -> Result<(i128, i128)> {
    let slide_ticks = length(Argument::Slide, slide, precision)?;
    let size_ticks = length(Argument::Size, size, precision)?;
    let (windows, limit) = (-(-size_ticks).div_euclid(slide_ticks), 100_000);
    require(
        windows <= limit,
        Error::TooManyWindows { argument: Argument::Slide, step: slide, size, windows, limit },
    )?;
    Ok((slide_ticks, size_ticks))
}

/// The starts of the windows that hold `ts`, the grid points in `(ts - size, ts]`, and how long the windows are.
fn windows(
    precision: Precision,
    (slide, size): (i128, i128),
    anchor: i128,
    ts: i64,
) -> Result<(Ticks, i128)> {
    if is_infinite(ts) {
        return Ok((Ticks { first: ts.into(), step: 1, len: 1 }, 0));
    }
    let points_to = |tick: i128| (tick - anchor).div_euclid(slide) + 1;
    let (before, to) = (points_to(i128::from(ts) - size), points_to(ts.into()));
    let starts = Ticks { first: anchor + before * slide, step: slide, len: to - before };
    let in_range =
        starts.len == 0 || starts.are_finite(precision) && starts.later(size).are_finite(precision);
    let value = Civil { tick: ts, precision };
    require(in_range, Error::WindowOutOfRange { argument: Argument::Ts, value })?;
    Ok((starts, size))
}

fn check_hops(
    hops: &Hops<'_>,
    precision: Precision,
    column: &Column,
    oracle: impl Fn(usize) -> Result<(Ticks, i128)>,
) {
    /// Lists of more elements than this only take longer.
    const MOST: u64 = 200_000;
    const UNTOUCHED: i64 = 0x5a5a;
    let Column { ts, validity } = column;
    let mut lists = vec![List { offset: 7, length: 7 }; ts.len() + 1];
    let none = (Ticks { first: 0, step: 1, len: 0 }, 0);
    let rows =
        (0..ts.len()).map(|row| if is_valid(validity.as_deref(), row) { oracle(row) } else { Ok(none) });
    let counted = count_windows(hops, precision, ts, validity.as_deref(), &mut lists);
    let Some((total, rows)) = agree(counted, rows.collect::<Result<Vec<_>>>()) else { return };
    let mut offset = 0;
    for (list, (starts, _)) in lists.iter().zip(&rows) {
        assert_eq!(*list, List { offset, length: starts.len as u64 });
        offset += list.length;
    }
    assert_eq!((total, lists[ts.len()]), (offset, List { offset: 7, length: 7 }));
    if total > MOST {
        return;
    }
    let total = total as usize;
    let (mut starts, mut ends) = (vec![UNTOUCHED; total + 3], vec![UNTOUCHED; total + 3]);
    write_windows(hops, precision, ts, &lists[..ts.len()], &mut starts, &mut ends).unwrap();
    let mut written = starts.iter().zip(&ends);
    for (&ts, &(expected, size)) in ts.iter().zip(&rows) {
        for (index, (&start, &end)) in (0..expected.len).zip(&mut written) {
            assert_eq!(i128::from(start), expected.get(index));
            assert_eq!(i128::from(end), expected.get(index) + size);
            assert!(start <= ts && (ts < end || is_infinite(ts)));
        }
    }
    assert_eq!((&starts[total..], &ends[total..]), (&[UNTOUCHED; 3][..], &[UNTOUCHED; 3][..]));
}

/// The greatest common divisor by halving and subtracting.
fn gcd(a: u128, b: u128) -> u128 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    while a != b {
        (a, b) = (a.min(b), a.abs_diff(b));
        b >>= b.trailing_zeros();
    }
    a << twos
}

/// The nanoseconds of lookback and pane.
fn pane_nanos(lookback: Interval, cadence: Option<Interval>) -> Result<(i128, i128)> {
    let whole = length(Argument::Lookback, lookback, Precision::Nanosecond)?;
    let Some(value) = cadence else { return Ok((whole, whole)) };
    let argument = Argument::Cadence;
    let cadence = nanos(value).ok_or(Error::Calendar { argument, value })?;
    require(cadence >= 0, Error::Negative { argument, value })?;
    Ok((whole, gcd(whole.unsigned_abs(), cadence.unsigned_abs()) as i128))
}

fn check_panes(lookback: Interval, cadence: Option<Interval>, at: Option<(Precision, i64)>, budget: i64) {
    let widths = agree(pane_width(lookback, cadence), pane_nanos(lookback, cadence));
    if let Some((width, (_, pane))) = widths {
        assert_eq!(nanos(width), Some(pane));
        match cadence.filter(|cadence| (cadence.days, cadence.micros) != (0, 0)) {
            None => assert_eq!(width, lookback),
            Some(cadence) if lookback.micros == 0 && cadence.micros == 0 => assert_eq!(width.micros, 0),
            Some(_) => assert_eq!(width.days == 0, pane / 1_000 <= i128::from(i64::MAX), "{width}"),
        }
    }
    let oracle = || {
        require(budget > 0, Error::Budget { value: budget })?;
        let (whole, pane) = pane_nanos(lookback, cadence)?;
        let (width, panes) = (pane_width(lookback, cadence)?, whole / pane);
        require(panes <= budget.into(), Error::OverBudget { lookback, width, panes, budget })?;
        let Some((precision, tick)) = at else { return Ok((panes, pane, None)) };
        let (argument, value) = (Argument::At, Civil { tick, precision });
        require_finite(argument, value)?;
        let step = length(Argument::PaneWidth, width, precision)?;
        let end = i128::from(tick).div_euclid(step) * step;
        let ends = Ticks { first: end, step: -step, len: panes };
        let starts = ends.later(-step);
        let oldest = starts.get(panes - 1);
        assert_eq!((end - oldest) * tick_nanos(precision), whole);
        let in_range = ends.are_finite(precision) && starts.are_finite(precision);
        require(in_range, Error::WindowOutOfRange { argument, value })?;
        Ok((panes, pane, Some((starts, ends))))
    };
    let made = Panes::new(lookback, cadence, at.map(|(precision, tick)| (tick, precision)), 0, budget);
    let Some((made, (panes, pane, bounds))) = agree(made, oracle()) else { return };
    assert_eq!((i128::from(made.len()), made.is_empty()), (panes, false));
    assert_eq!(nanos(made.width()), Some(pane));
    let len = made.len();
    for index in [0, 1, len / 3, len / 2, len - 1].into_iter().filter(|&index| index < len) {
        assert_eq!(nanos(made.offset(index)), Some(i128::from(index) * pane), "{index} of {made:?}");
    }
    match (made.bounds(), bounds) {
        (Some((starts, ends)), Some((expected_starts, expected_ends))) => {
            expected_starts.check(starts, len / 2);
            expected_ends.check(ends, len / 2);
        }
        (kernel, oracle) => assert!(kernel.is_none() && oracle.is_none()),
    }
}

fn check_cadence(precision: Precision, times: &[i64]) {
    let oracle = || {
        for &tick in times {
            let value = Civil { tick, precision };
            let is_finite = finite(precision, tick.into()).is_some();
            require(is_finite, Error::Infinite { argument: Argument::Times, value })?;
        }
        let steps = times.windows(2).map(|pair| (i128::from(pair[1]) - i128::from(pair[0])).unsigned_abs());
        let nanos = steps.fold(0, gcd) * tick_nanos(precision) as u128;
        require(nanos.is_multiple_of(1_000), Error::TimesNotWhole { nanos })?;
        Ok(nanos as i128)
    };
    let Some((cadence, expected)) = agree(cadence_of(times, precision), oracle()) else { return };
    assert_eq!(nanos(cadence), Some(expected));
    assert_eq!(cadence.days == 0, expected / 1_000 <= i128::from(i64::MAX), "{cadence}");
}

fn check_series(precision: Precision, grid: &AnyGrid, from: i64, until: i64) {
    let (width, anchor) = (grid.width(), grid.anchor());
    let Some(made) = Grid::new(width, anchor) else {
        assert!(width <= 0);
        return;
    };
    let oracle = || {
        let civil = |tick| Civil { tick, precision };
        require_finite(Argument::From, civil(from))?;
        require_finite(Argument::Until, civil(until))?;
        require(from <= until, Error::Backwards { from: civil(from), until: civil(until) })?;
        // Those that start before `until` and not those that end before `from`, or at it.
        let (after, before) = (i128::from(from) - anchor, anchor - i128::from(until));
        let (first, last) = (after.div_euclid(width), -before.div_euclid(width) - 1);
        let len = if from == until { 0 } else { last - first + 1 };
        let starts = Ticks { first: anchor + first * width, step: width, len };
        let ends = starts.later(width);
        let out_of_range =
            |argument, tick| Error::WindowOutOfRange { argument, value: Civil { tick, precision } };
        if len == 0 {
            require(finite(precision, from.into()).is_some(), out_of_range(Argument::From, from))?;
        } else {
            require(starts.are_finite(precision), out_of_range(Argument::From, from))?;
            require(ends.are_finite(precision), out_of_range(Argument::Until, until))?;
        }
        Ok((starts, ends))
    };
    let Some((series, (starts, ends))) = agree(Series::new(&made, precision, from, until), oracle()) else {
        return;
    };
    assert_eq!((i128::from(series.len()), series.is_empty()), (starts.len, from == until));
    starts.check(series.bounds().0, from as u64);
    ends.check(series.bounds().1, from as u64);
}

fn check_cover(precision: Precision, at: i64, lookback: Interval, size: Interval, slide: Interval) {
    let oracle = || {
        let whole = length(Argument::Lookback, lookback, precision)?;
        let size_ticks = length(Argument::Size, size, precision)?;
        let slide_ticks = length(Argument::Slide, slide, precision)?;
        let not_multiple =
            |argument, value, divisor, unit| Error::NotMultiple { argument, value, divisor, unit };
        require(whole % size_ticks == 0, not_multiple(Argument::Lookback, lookback, Argument::Size, size))?;
        require(size_ticks % slide_ticks == 0, not_multiple(Argument::Size, size, Argument::Slide, slide))?;
        let (argument, value) = (Argument::At, Civil { tick: at, precision });
        require_finite(argument, value)?;
        let end = i128::from(at).div_euclid(slide_ticks) * slide_ticks;
        let starts = Ticks { first: end - whole, step: size_ticks, len: whole / size_ticks };
        let ends = starts.later(size_ticks);
        assert_eq!(ends.get(ends.len - 1), end);
        let in_range = starts.are_finite(precision) && ends.are_finite(precision);
        require(in_range, Error::WindowOutOfRange { argument, value })?;
        Ok((starts, ends, end))
    };
    let made = Cover::new(precision, at, lookback, size, slide, 0);
    let Some((cover, (starts, ends, end))) = agree(made, oracle()) else { return };
    let windows = cover.windows();
    assert_eq!((i128::from(windows.len()), windows.is_empty()), (starts.len, false));
    starts.check(windows.bounds().0, at as u64);
    ends.check(windows.bounds().1, at as u64);
    assert_eq!(i128::from(cover.aligned_end()), end);
    let exact = (i128::from(at) - end) * tick_nanos(precision);
    let stale = nanos(cover.staleness()).unwrap();
    assert!((exact..exact + 1_000).contains(&stale), "{stale} for {exact}");
}

fuzz_target!(|input: Input| match input {
    Input::Hops { unit, one, run, slides, sizes, anchor, column } => {
        let precision = unit.precision();
        // One set of arguments is that of a first row, which a column may lack.
        let rows = 0..column.ts.len().max(1);
        let pick = |row| if one { 0 } else { row / (usize::from(run % 40) + 1) % 3 };
        let anchors = anchor.column(rows.clone().map(pick));
        let anchors = anchors.anchors();
        let sizes: Vec<_> =
            rows.clone().map(|row| sizes[pick(row)].of(slides[pick(row)].interval())).collect();
        let slides: Vec<_> = rows.map(|row| slides[pick(row)].interval()).collect();
        if one {
            let Ok(anchor) = anchor_ticks(anchors, 0, precision) else { return };
            let made = Hop::new(Shape::Hop, precision, slides[0], sizes[0], anchor);
            let Some((made, lengths)) = agree(made, hop(precision, slides[0], sizes[0])) else { return };
            let oracle = |row: usize| windows(precision, lengths, anchor, column.ts[row]);
            check_hops(&Hops::One(&made), precision, &column, oracle);
        } else {
            let hops = Hops::Rows { shape: Shape::Hop, steps: &slides, sizes: &sizes, anchors };
            check_hops(&hops, precision, &column, |row| {
                let anchor = anchor_ticks(anchors, row, precision)?;
                windows(precision, hop(precision, slides[row], sizes[row])?, anchor, column.ts[row])
            });
        }
    }
    Input::Panes { unit, lookback, cadence, at, budget } => {
        let unit = unit.interval();
        let at = at.map(|(of, tick)| (of.precision(), tick.of(of.precision())));
        let cadence = cadence.map(|cadence| cadence.of(unit));
        check_panes(lookback.of(unit), cadence, at, budget.map_or(i64::MAX, i64::from));
    }
    Input::Cadence { unit, digits, times } => {
        // Rounded so that most are whole microseconds apart.
        let round = 10_i64.pow(u32::from(digits % 10));
        let times: Vec<_> = times.ts.iter().map(|tick| tick / round * round).collect();
        check_cadence(unit.precision(), &times);
    }
    Input::Series { unit, grid, from, until } => {
        let from = from.of(unit.precision());
        let until = match until {
            Until::At(tick) => tick.of(unit.precision()),
            Until::After(ticks) => from.saturating_add(ticks.into()),
        };
        check_series(unit.precision(), &grid, from, until);
    }
    Input::Cover { unit, at, slide, size, lookback } => {
        let slide = slide.interval();
        let size = size.of(slide);
        check_cover(unit.precision(), at.of(unit.precision()), lookback.of(size), size, slide);
    }
});
