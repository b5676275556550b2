//! Windows, panes, series and covers against oracles that count in `i128`, one grid point at a time, with ranges
//! typed in anew.

use crate::error::{Argument, Error};
use crate::tests::{one_in, representable};
use crate::{
    Anchors, Civil, Cover, Grid, Hop, Hops, Interval, List, Panes, Precision, Series, Shape, Steps,
    cadence_of, count_windows, pane_width, write_windows,
};
use proptest::prelude::*;

const fn micros(micros: i64) -> Interval {
    Interval { months: 0, days: 0, micros }
}

const fn days(days: i32) -> Interval {
    Interval { months: 0, days, micros: 0 }
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;

/// Ticks of so many microseconds.
fn ticks(precision: Precision, micros: i64) -> i128 {
    i128::from(micros) * 1_000 / precision.nanos_per_tick()
}

/// The oracle: the windows that hold `ts`, found by walking down the grid from the point above it.
fn windows_of(slide: i128, size: i128, anchor: i128, ts: i64) -> Vec<(i128, i128)> {
    let ts = i128::from(ts);
    let mut start = anchor + (ts - anchor).div_euclid(slide) * slide + slide;
    let mut windows = Vec::new();
    while start + size > ts {
        if start <= ts {
            windows.push((start, start + size));
        }
        start -= slide;
    }
    windows.reverse();
    windows
}

/// Both passes over the rows.
fn hop(hops: &Hops<'_>, precision: Precision, ts: &[i64], valid: u64) -> Result<Vec<Vec<(i64, i64)>>, Error> {
    let mut lists = vec![List { offset: 7, length: 7 }; ts.len()];
    let total = count_windows(hops, precision, ts, Some(&[valid]), &mut lists)? as usize;
    let (mut starts, mut ends) = (vec![0; total], vec![0; total]);
    write_windows(hops, precision, ts, &lists, &mut starts, &mut ends)?;
    let mut next = 0;
    let rows = lists.iter().map(|list| {
        assert_eq!(list.offset, next, "lists follow each other");
        next += list.length;
        let elements = list.offset as usize..next as usize;
        starts[elements.clone()].iter().copied().zip(ends[elements].iter().copied()).collect()
    });
    let rows = rows.collect();
    assert_eq!(next as usize, total);
    Ok(rows)
}

fn precisions() -> impl Strategy<Value = Precision> {
    prop::sample::select(&Precision::ALL)
}

/// Timestamps near zero, near both ends of the range, and anywhere.
fn timestamps(precision: Precision) -> impl Strategy<Value = i64> {
    let (lowest, highest) = precision.range().into_inner();
    prop_oneof![
        4 => -2_000_000_000..2_000_000_000_i64,
        1 => lowest..=highest,
        1 => (0..200_000_000_i64).prop_map(move |above| lowest + above),
        1 => (0..200_000_000_i64).prop_map(move |below| highest - below),
        1 => prop::sample::select(&Precision::INFINITIES),
    ]
}

/// Whole seconds, so that they are legal for every precision, mostly of few windows a row.
fn lengths() -> impl Strategy<Value = (i64, i64)> {
    ((1..100_i64), (1..500_i64)).prop_map(|(slide, size)| (slide * SECOND, size * SECOND))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256 / one_in(64) as u32))]

    #[test]
    fn hop_gives_every_window_that_holds_the_row(
        (precision, ts) in precisions().prop_flat_map(|precision| {
            (Just(precision), prop::collection::vec(timestamps(precision), 1..64))
        }),
        (slide, size) in lengths(),
        anchor in -1_000_000..1_000_000_i64,
        valid in any::<u64>(),
    ) {
        let made = Hop::new(Shape::Hop, precision, micros(slide), micros(size), anchor.into()).unwrap();
        let answer = hop(&Hops::One(&made), precision, &ts, valid);
        let mut expected = Vec::new();
        for (row, &ts) in ts.iter().enumerate() {
            let windows = match valid >> row & 1 {
                0 => Vec::new(),
                _ if ts == i64::MAX || ts == -i64::MAX => vec![(ts.into(), ts.into())],
                _ => windows_of(ticks(precision, slide), ticks(precision, size), anchor.into(), ts),
            };
            let bounds = windows.iter().flat_map(|&(start, end)| [start, end]);
            let infinite = ts == i64::MAX || ts == -i64::MAX;
            if !infinite && bounds.clone().any(|bound| !representable(precision, bound)) {
                let value = Civil { tick: ts, precision };
                prop_assert_eq!(answer, Err(Error::WindowOutOfRange { argument: Argument::Ts, value }));
                return Ok(());
            }
            expected.push(windows.iter().map(|&(start, end)| (start as i64, end as i64)).collect::<Vec<_>>());
        }
        prop_assert_eq!(answer, Ok(expected));
    }

    #[test]
    fn hop_by_row_is_the_same_as_one_hop_a_row(
        rows in prop::collection::vec((-2_000_000_000..2_000_000_000_i64, lengths(), -99..99_i64, 1..4_usize), 1..20),
    ) {
        let precision = Precision::Microsecond;
        let rows: Vec<_> = rows.iter().flat_map(|row| std::iter::repeat_n(*row, row.3)).collect();
        let ts: Vec<_> = rows.iter().map(|row| row.0).collect();
        let slides: Vec<_> = rows.iter().map(|row| micros(row.1.0)).collect();
        let sizes: Vec<_> = rows.iter().map(|row| micros(row.1.1)).collect();
        let offsets: Vec<_> = rows.iter().map(|row| micros(row.2)).collect();
        let anchors = Anchors::Offset(&offsets);
        let answer = hop(&Hops::Rows { shape: Shape::Hop, steps: &slides, sizes: &sizes, anchors }, precision, &ts, u64::MAX);
        let expected = rows.iter().map(|&(ts, (slide, size), offset, _)| {
            let hop_of_row = Hop::new(Shape::Hop, precision, micros(slide), micros(size), offset.into())?;
            Ok(hop(&Hops::One(&hop_of_row), precision, &[ts], 1)?.remove(0))
        });
        prop_assert_eq!(answer, expected.collect());
    }

    #[test]
    fn growing_windows_end_at_every_step_after_the_row(
        rows in prop::collection::vec((timestamps(Precision::Microsecond), any::<bool>()), 1..64),
        (step, steps) in (1..5_000_i64, 1..40_i64),
        anchor in -1_000_000..1_000_000_i64,
    ) {
        let (precision, size) = (Precision::Microsecond, step * steps);
        let made = Hop::new(Shape::Grow, precision, micros(step), micros(size), anchor.into()).unwrap();
        for (ts, _) in rows {
            let answer = hop(&Hops::One(&made), precision, &[ts], 1);
            let start = i128::from(ts) - (i128::from(ts) - i128::from(anchor)).rem_euclid(size.into());
            let ends = (1..=steps).map(|index| start + i128::from(index * step)).filter(|&end| end > ts.into());
            let windows: Vec<_> = match ts {
                _ if ts == i64::MAX || ts == -i64::MAX => vec![(ts.into(), ts.into())],
                _ => ends.map(|end| (start, end)).collect(),
            };
            let finite = |bound| representable(precision, bound);
            if windows.iter().all(|&(start, end)| (finite(start) && finite(end)) || start == end) {
                let windows = windows.iter().map(|&(start, end)| (start as i64, end as i64)).collect();
                prop_assert_eq!(answer, Ok(vec![windows]));
            } else {
                prop_assert!(answer.is_err());
            }
        }
    }

    #[test]
    fn a_pane_is_the_widest_of_which_both_are_multiples(lookback in 1..3_000_i64, cadence in 0..3_000_i64) {
        let widest = match cadence {
            0 => lookback,
            _ => (1..=lookback).rev().find(|width| lookback % width == 0 && cadence % width == 0).unwrap(),
        };
        prop_assert_eq!(pane_width(micros(lookback), Some(micros(cadence))), Ok(micros(widest)));
        let panes = Panes::new(micros(lookback), Some(micros(cadence)), Some((5, Precision::Microsecond)), 7, 3_000);
        let panes = panes.unwrap();
        prop_assert_eq!(i128::from(panes.len()), i128::from(lookback / widest));
        let (starts, ends) = panes.bounds().unwrap();
        let mut all = [vec![0; panes.len() as usize], vec![0; panes.len() as usize]];
        starts.write(0, &mut all[0]);
        ends.write(0, &mut all[1]);
        for index in 0..panes.len() {
            let aligned = (0..widest).map(|back| 5 - back).find(|end| (end - 7) % widest == 0).unwrap();
            let end = aligned - index as i64 * widest;
            prop_assert_eq!(all[1][index as usize], end);
            prop_assert_eq!(all[0][index as usize], end - widest);
            prop_assert_eq!(panes.staleness(), micros(5 - aligned));
            prop_assert_eq!(panes.offset(index), micros(index as i64 * widest));
        }
    }

    #[test]
    fn a_series_has_every_bucket_that_meets_the_range(
        width in 1..50_i64, anchor in -50..50_i64, from in -500..500_i64, length in 0..500_i64,
    ) {
        let (width, anchor, until) = (i128::from(width), i128::from(anchor), from + length);
        let grid = Grid::new(width, anchor).unwrap();
        let series = Series::new(&grid, Precision::Second, from, until).unwrap();
        let mut written = [vec![0; series.len() as usize], vec![0; series.len() as usize]];
        series.bounds().0.write(0, &mut written[0]);
        series.bounds().1.write(0, &mut written[1]);
        let expected: Vec<i64> = (-1_200..1_200_i64)
            .filter(|&start| (i128::from(start) - anchor) % width == 0)
            .filter(|&start| length > 0 && start < until && i128::from(start) + width > i128::from(from))
            .collect();
        prop_assert_eq!(&written[0], &expected);
        prop_assert!(written[1].iter().zip(&expected).all(|(&end, &start)| i128::from(end - start) == width));
    }

    #[test]
    fn a_cover_lies_side_by_side_and_is_as_long_as_the_lookback(
        at in -100_000..100_000_i64, slide in 1..20_i64, size in 1..10_i64, lookback in 1..10_i64, anchor in -50..50_i64,
    ) {
        let (size, lookback) = (size * slide, lookback * size * slide);
        let interval = |seconds| micros(seconds * SECOND);
        let cover = Cover::new(Precision::Second, at, interval(lookback), interval(size), interval(slide), anchor.into()).unwrap();
        let aligned = (0..slide).map(|back| at - back).find(|end| (end - anchor).rem_euclid(slide) == 0).unwrap();
        prop_assert_eq!(cover.aligned_end(), aligned);
        prop_assert_eq!(cover.staleness(), interval(at - aligned));
        let (starts, ends) = cover.windows().bounds();
        let mut written = [starts, ends].map(|steps| vec![0; steps.len() as usize]);
        starts.write(0, &mut written[0]);
        ends.write(0, &mut written[1]);
        let seconds: Vec<i64> =
            written[0].iter().zip(&written[1]).flat_map(|(&start, &end)| start..end).collect();
        prop_assert_eq!(seconds, (aligned - lookback..aligned).collect::<Vec<_>>());
        prop_assert!(written[0].iter().all(|start| (start - anchor).rem_euclid(slide) == 0));
    }
}

#[test]
fn a_row_may_have_as_many_windows_as_the_limit_and_no_more() {
    let hop = |size| Hop::new(Shape::Hop, Precision::Microsecond, micros(SECOND), micros(size), 0);
    assert_eq!(hop(100_000 * SECOND).unwrap().count(0), 100_000);
    let (argument, step, size) = (Argument::Slide, micros(SECOND), micros(100_000 * SECOND + 1));
    let (windows, limit) = (100_001, 100_000);
    assert_eq!(
        hop(100_000 * SECOND + 1),
        Err(Error::TooManyWindows { argument, step, size, windows, limit })
    );
}

#[test]
fn lengths_beyond_every_timestamp_are_exact_too() {
    let longest = Interval { months: 0, days: i32::MAX, micros: i64::MAX };
    let made = Hop::new(Shape::Hop, Precision::Nanosecond, longest, micros(SECOND), 0).unwrap();
    assert_eq!(hop(&Hops::One(&made), Precision::Nanosecond, &[5, 2_000_000_000, i64::MIN], 7), {
        Ok(vec![vec![(0, 1_000_000_000)], vec![], vec![]])
    });
    let made = Hop::new(Shape::Hop, Precision::Nanosecond, longest, longest, 0).unwrap();
    assert!(hop(&Hops::One(&made), Precision::Nanosecond, &[5], 1).is_err());
}

#[test]
fn a_sentinel_is_never_a_bound() {
    let below = -i64::MAX - 1;
    // From the smallest nanosecond on in steps of two: the sentinel, one above it, is jumped over.
    assert!(Steps::new(Precision::Nanosecond, below.into(), 2, 3).is_some());
    assert!(Steps::new(Precision::Nanosecond, below.into(), 1, 3).is_none());
    assert!(Steps::new(Precision::Nanosecond, (below + 2).into(), -1, 3).is_none());
    assert!(Steps::new(Precision::Microsecond, below.into(), 2, 3).is_none());
}

#[test]
fn pane_widths_print_as_they_were_given() {
    let width = |lookback, cadence| pane_width(lookback, Some(cadence)).unwrap();
    assert_eq!(width(days(2), days(1)), days(1));
    assert_eq!(width(days(3), days(2)), days(1));
    assert_eq!(width(micros(48 * 60 * MINUTE), micros(24 * 60 * MINUTE)), micros(24 * 60 * MINUTE));
    assert_eq!(width(days(1), micros(12 * 60 * MINUTE)), micros(12 * 60 * MINUTE));
    assert_eq!(pane_width(Interval { months: 0, days: 1, micros: 5 }, None).unwrap().days, 1);
    let longest = Interval { months: 0, days: i32::MAX, micros: i64::MAX };
    assert_eq!(width(longest, longest), longest);
}

#[test]
fn pane_offsets_of_the_longest_lookback_are_exact() {
    let panes = Panes::new(days(i32::MAX), Some(micros(60 * MINUTE)), None, 0, i64::MAX).unwrap();
    assert_eq!(panes.len(), 24 * i32::MAX as u64);
    assert_eq!(panes.offset(panes.len() - 1).fixed_nanos(), {
        Some(i128::from(panes.len() - 1) * 3_600_000_000_000)
    });
    // Days beyond what their field holds.
    let hours = |hours: i64| micros(hours * 60 * MINUTE);
    let lookback = Interval { days: i32::MAX, ..hours(1_260_392_472) };
    let panes = Panes::new(lookback, Some(hours(240_000_000)), None, 0, 220).unwrap();
    assert_eq!(panes.offset(215), Interval { days: i32::MAX, ..hours(2_516_353 * 24) });
}

#[test]
fn scheduled_times_have_the_cadence_of_their_differences() {
    let cadence = |times: &[i64]| cadence_of(times, Precision::Second);
    assert_eq!(cadence(&[0, 120, 300]), Ok(micros(MINUTE)));
    assert_eq!(cadence(&[300, 0, 120]), Ok(micros(MINUTE)));
    assert_eq!(cadence(&[7]), Ok(micros(0)));
    assert_eq!(cadence(&[]), Ok(micros(0)));
    assert!(matches!(cadence(&[0, i64::MAX]), Err(Error::Infinite { .. })));
    assert_eq!(cadence_of(&[0, 1_500], Precision::Nanosecond), Err(Error::TimesNotWhole { nanos: 1_500 }));
    let ends = [Precision::Nanosecond.range().into_inner().1, i64::MIN];
    assert!(cadence_of(&ends, Precision::Nanosecond).is_err());
}

#[test]
fn what_is_stale_by_nanoseconds_is_never_understated() {
    let cover = |at| Cover::new(Precision::Nanosecond, at, micros(2), micros(1), micros(1), 0).unwrap();
    assert_eq!(cover(5_001).staleness(), micros(1));
    assert_eq!(cover(5_000).staleness(), micros(0));
    assert_eq!(cover(5_001).aligned_end(), 5_000);
}
