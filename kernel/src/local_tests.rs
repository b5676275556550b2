//! Local buckets against an oracle that shares no code with the kernel: all boundaries of a stretch of time, counted out
//! from the rule in `i128`.

use crate::local_rows::bucket_local_rows_at;
use crate::simd::Level;
use crate::tests::{one_in, representable};
use crate::{
    Anchors, Clocks, Edge, Grid, Interval, List, LocalBuckets, LocalGrid, LocalHops, LocalRows, LocalSeries,
    OutOfRange, Precision, RowGrids, Zone, bucket_local_rows, count_local_windows, is_valid,
    write_local_windows,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

/// A clock for the oracle: where each stretch begins (the first one: far in the past), and its offset, in seconds.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Vec<(i128, i128)>);

const PAST: i128 = -(1 << 60);

impl Clock {
    fn new(first: i32, changes: &[(i64, i32)]) -> Self {
        let changes = changes.iter().map(|&(from, offset)| (from.into(), offset.into()));
        Self(std::iter::once((PAST, first.into())).chain(changes).collect())
    }

    /// Every tick in `[low, high)` at which a bucket starts.
    fn boundaries(&self, tick: i128, width: i128, origin: i128, low: i128, high: i128) -> Vec<i128> {
        let mut found = Vec::new();
        let mut top: Option<i128> = None;
        let up = |reading: i128| {
            let rest = (reading - origin) % width;
            let rest = if rest < 0 { rest + width } else { rest };
            if rest == 0 { reading } else { reading - rest + width }
        };
        for (index, &(from, offset)) in self.0.iter().enumerate() {
            let (from, offset) = (from * tick, offset * tick);
            let until = self.0.get(index + 1).map_or(high.max(from + 1), |next| next.0 * tick);
            let (first, last) = (from + offset, until + offset);
            let shown = top.unwrap_or(first);
            let next = up(shown);
            if next < first && next < last {
                found.push(from);
            }
            // Points before `low` are of no interest, and there may be very many.
            let mut point = up(next.max(first).max(low + offset));
            while point < last && point - offset < high {
                found.push(point - offset);
                point += width;
            }
            if let Some(&(_, before)) = index.checked_sub(1).and_then(|index| self.0.get(index)) {
                let back = before * tick - offset;
                let mut point = up(first.max(low + offset));
                while back >= width && point < last.min(first + back) && point - offset < high {
                    found.push(point - offset);
                    point += width;
                }
            }
            top = Some(shown.max(last));
        }
        found.retain(|instant| (low..high).contains(instant));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The bucket of `ts`, for widths of minutes or longer.
    fn bucket(&self, tick: i128, width: i128, origin: i128, ts: i128) -> (i128, i128) {
        let reach = 2 * width + 4 * 86_400 * tick;
        let found = self.boundaries(tick, width, origin, ts - reach, ts + reach);
        let after = found.partition_point(|&boundary| boundary <= ts);
        (found[after - 1], found[after])
    }
}

/// A year of New York, 2026, as a clock that is set no other time.
fn new_york() -> (i32, Vec<(i64, i32)>) {
    (-18_000, vec![(1_772_953_200, -14_400), (1_793_512_800, -18_000)])
}

pub(crate) const WIDTHS: [i128; 17] = [
    1, 900, 1_800, 2_400, 3_600, 5_400, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800,
    2_592_000, 34_560_000, 100,
];

/// The oracle says what the issue's own table says.
#[test]
fn the_oracle_is_right() {
    let (first, changes) = new_york();
    let clock = Clock::new(first, &changes);
    let day = |hour: i128| 1_793_505_600 + hour * 3_600; // 2026-11-01 00:00-04
    assert_eq!(clock.boundaries(1, 3_600, 0, day(0), day(25)).len(), 25);
    let four: Vec<i128> = clock.boundaries(1, 14_400, 0, day(0), day(25));
    assert_eq!(four, [0, 5, 9, 13, 17, 21].map(day));
    assert_eq!(clock.bucket(1, 5_400, 0, day(2)), (day(1) + 1_800, day(4)));
    assert_eq!(clock.bucket(1, 86_400, 0, day(7)), (day(0), day(25)));
    // Lord Howe Island, 2026-04-05: an hour of 90 minutes.
    let lord_howe = Clock::new(39_600, &[(1_775_314_800, 37_800)]);
    assert_eq!(lord_howe.bucket(1, 3_600, 0, 1_775_314_800), (1_775_311_200, 1_775_316_600));
}

/// Compares the rows of a stretch of time of up to `most` buckets with the oracle: one at a time and in slices, both edges,
/// every instruction set.
fn check(
    (first, changes): (i32, &[(i64, i32)]),
    (width, origin): (i128, i128),
    precision: Precision,
    (from, until, rows): (i128, i128, usize),
) {
    let zone = Arc::new(Zone::new(first, changes, false).expect("a clock"));
    let tick = i128::from(precision.ticks_per_second());
    let boundaries = Clock::new(first, changes).boundaries(tick, width, origin, from * tick, until * tick);
    let (Some(&low), Some(&high)) = (boundaries.first(), boundaries.last()) else { return };
    let local = LocalBuckets::new(zone, Grid::new(width, origin).expect("a positive width"), precision);
    // Spread evenly by an odd step, then all boundaries with their neighbours, some of them a second time on the way back.
    let spread = (0..rows as i128).map(|row| low + (row * 7_919_111_111) % (high - low).max(1));
    let near = boundaries.iter().flat_map(|boundary| [-1, 0, 1].map(|near| boundary + near));
    let ts: Vec<i128> = spread.chain(near).filter(|ts| (low..high).contains(ts)).collect();
    let rows: Vec<i64> = ts.iter().map(|&ts| i64::try_from(ts).expect("a timestamp")).collect();
    let expected: Vec<(i128, i128)> = ts
        .iter()
        .map(|ts| {
            let after = boundaries.partition_point(|boundary| boundary <= ts);
            (boundaries[after - 1], boundaries[after])
        })
        .collect();
    let context = |row: usize| format!("{first} {changes:?} {width} {origin} {precision:?} {}", ts[row]);
    for (row, expected) in expected.iter().enumerate() {
        assert_eq!(local.grid().bucket(rows[row]), *expected, "{}", context(row));
        assert_eq!(local.bucket(rows[row]), *expected, "{}", context(row));
    }
    rows_agree(&local, (width, origin), &rows, &expected);
    walks_agree(&local, &boundaries);
    windows_agree(&local, (width, origin), &boundaries);
    let mut sorted = rows.clone();
    sorted.sort_unstable();
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for edge in [Edge::Start, Edge::End] {
            let mut out = vec![0; rows.len()];
            assert_eq!(local.slice_at(level, edge, &rows, None, &mut out), Ok(()));
            for (row, (start, end)) in expected.iter().enumerate() {
                let answer = if edge == Edge::Start { start } else { end };
                assert_eq!(i128::from(out[row]), *answer, "{edge:?} {level:?} {}", context(row));
            }
            // In order, in blocks of every size that lies within one run or a few.
            for len in [1, 3, 60] {
                for chunk in sorted.chunks(len).step_by(1 + sorted.len() / 40) {
                    assert_eq!(local.slice_at(level, edge, chunk, None, &mut out), Ok(()));
                    for (ts, out) in chunk.iter().zip(&out) {
                        let (start, end) = local.bucket(*ts);
                        assert_eq!(i128::from(*out), if edge == Edge::Start { start } else { end });
                    }
                }
            }
        }
    }
}

/// Steps from one boundary to another, and the boundaries between two times.
fn walks_agree(local: &LocalBuckets, boundaries: &[i128]) {
    let tick = |boundary: i128| i64::try_from(boundary).expect("a timestamp");
    let last = boundaries.len() - 1;
    for (from, to) in [(last, 0), (last, last), (last / 2, 0), (last, last / 3), (last / 2 + 1, last / 2)] {
        if let (Some(&start), Some(&before), Some(count)) =
            (boundaries.get(from), boundaries.get(to), from.checked_sub(to))
        {
            assert_eq!(local.start_before(tick(start), count as u64), before, "{count} before {start}");
            for (since, until) in
                [(before, start), (before + 1, start), (before, start + 1), (before + 1, start + 1)]
            {
                let within = boundaries.iter().filter(|boundary| (since..until).contains(boundary));
                let (first, len) = local.starts_between(tick(since), tick(until)).expect("within the range");
                assert_eq!(len, within.clone().count() as u64, "{since} {until}");
                assert!(within.min().is_none_or(|start| i128::from(first) == *start), "{since} {until}");
            }
        }
    }
}

/// Windows of one bucket and of three in a row, by constants and by columns, and the series of the same buckets: as one counts them
/// off on the list of all boundaries.
fn windows_agree(local: &LocalBuckets, (width, origin): (i128, i128), boundaries: &[i128]) {
    let precision = local.precision();
    let pairs: Vec<(i64, i64)> = boundaries.windows(2).map(|pair| (pair[0] as i64, pair[1] as i64)).collect();
    if pairs.len() < 7 {
        return;
    }
    // Seven buckets on end, some of them with a change of the clock among them, and the first and last tick of each.
    for from in [0, (pairs.len() - 7) / 2, pairs.len() - 7] {
        let some = &pairs[from..from + 7];
        let (starts, ends): (Vec<i64>, Vec<i64>) = some.iter().copied().unzip();
        for (since, until) in [(starts[1], ends[5]), (ends[1] - 1, starts[5] + 1)] {
            let series = LocalSeries::new(local, since, until).expect("within the range");
            let (mut first, mut last) = (vec![0; 5], vec![0; 5]);
            series.write_starts(0, &mut first);
            series.write_ends(0, &mut last);
            assert_eq!(
                (series.len(), &first[..], &last[..]),
                (5, &starts[1..6], &ends[1..6]),
                "{since} {until}"
            );
            series.write_starts(3, &mut first[..2]);
            assert_eq!(first[..2], starts[4..6]);
        }
        let ts: Vec<i64> = some[2..5].iter().flat_map(|&(start, end)| [start, end - 1]).collect();
        let interval = |ticks: i128| Interval::from_nanos(ticks * precision.nanos_per_tick());
        let columns =
            interval(width).zip(interval(width * 3)).zip(interval(origin)).map(|((slide, size), offset)| {
                (vec![slide; ts.len()], vec![size; ts.len()], vec![offset; ts.len()])
            });
        let mut clocks = Clocks::default();
        let zones = vec![clocks.place(&local.zone()) as u16; ts.len()];
        let by_columns = columns.as_ref().map(|(slides, sizes, offsets)| LocalHops::Rows {
            slides,
            sizes,
            anchors: Anchors::Offset(offsets),
            zones: &zones,
            clocks: &clocks,
        });
        for (hops, count) in [(LocalHops::One(local, 3), 3), (LocalHops::One(local, 1), 1)]
            .into_iter()
            .chain(by_columns.map(|hops| (hops, 3)))
        {
            let mut lists = vec![List::default(); ts.len()];
            let windows =
                count_local_windows(&hops, precision, &ts, None, &mut lists).expect("within the range");
            let (mut first, mut last) = (vec![0; windows as usize], vec![0; windows as usize]);
            write_local_windows(&hops, precision, &ts, &lists, &mut first, &mut last)
                .expect("within the range");
            for (row, list) in lists.iter().enumerate() {
                let (newest, oldest) = (2 + row / 2, 2 + row / 2 + 1 - count);
                assert_eq!(first[list.range()], starts[oldest..=newest], "{}", ts[row]);
                assert_eq!(last[list.range()], ends[newest..newest + count], "{}", ts[row]);
            }
        }
    }
}

/// The same through columns, beside rows of another zone and of other widths.
fn rows_agree(local: &LocalBuckets, (width, origin): (i128, i128), ts: &[i64], expected: &[(i128, i128)]) {
    let precision = local.precision();
    let interval = |ticks: i128| Interval::from_nanos(ticks * precision.nanos_per_tick());
    let (Some(width), Some(offset)) = (interval(width), interval(origin)) else { return };
    let other = Interval { months: 0, days: 1, micros: 0 };
    let zones: Vec<u16> = (0..ts.len()).map(|row| u16::from(row % 5 == 0)).collect();
    let widths: Vec<Interval> = (0..ts.len()).map(|row| if row % 7 == 0 { other } else { width }).collect();
    let mut clocks = Clocks::default();
    let utc = Arc::new(Zone::new(0, &[], false).expect("a clock"));
    assert_eq!((clocks.place(&local.zone()), clocks.place(&utc)), (0, 1));
    let offsets = vec![offset; ts.len()];
    let anchors = Anchors::Offset(&offsets);
    // Of one width in all rows, each edge with the stretches that the other has filled in.
    for widths in [&widths, &vec![width; ts.len()]] {
        let rows = LocalRows { grids: RowGrids { widths, anchors }, zones: &zones };
        for edge in [Edge::Start, Edge::End, Edge::Start] {
            let mut out = vec![0; ts.len()];
            assert_eq!(bucket_local_rows(&rows, &mut clocks, precision, edge, ts, None, &mut out), Ok(()));
            for row in (0..ts.len()).filter(|&row| row % 5 != 0 && widths[row] == width) {
                let (start, end) = expected[row];
                let answer = if edge == Edge::Start { start } else { end };
                assert_eq!(i128::from(out[row]), answer, "{}", ts[row]);
            }
        }
    }
}

/// Columns of all times, before and after the stretches of the clocks are filled in, with every instruction set: what the clocks
/// say is what each zone says.
#[test]
fn clocks_of_all_times() {
    let seldom = [(-7_000_000_000, 1_234), (-100_000_000, -5_000), (-97_000_000, -1_400), (8_400_000_000, 0)];
    let monthly: Vec<(i64, i32)> =
        (0..3_000).map(|month| (month * 2_629_746, if month % 2 == 0 { 3_600 } else { 0 })).collect();
    let zones =
        [(0, &[][..], false), (-18_000, &half_years(402), true), (42, &seldom, false), (0, &monthly, false)];
    let zones = zones.map(|(first, changes, repeats)| Arc::new(Zone::new(first, changes, repeats).unwrap()));
    for precision in Precision::ALL {
        let (tick, mut clocks) = (precision.ticks_per_second(), Clocks::default());
        assert_eq!(zones.each_ref().map(|zone| clocks.place(zone)), [0, 1, 2, 3]);
        // The first and the last slot, the ends of the range, and a few years.
        let spans = [
            (-8_600_000_000, -8_400_000_000),
            (8_600_000_000, 8_800_000_000),
            (-9_000_000_000, 9_000_000_000),
        ];
        let mut seconds: Vec<i64> = spans
            .iter()
            .chain(&[(1_700_000_000, 1_800_000_000)])
            .flat_map(|&(from, until)| (0..300).map(move |row| from + row * 7_919_111_111 % (until - from)))
            .collect();
        seconds.extend(
            half_years(60)[20..].iter().flat_map(|(change, _)| [change - 1, *change, change + 3_599]),
        );
        let mut ts: Vec<i64> = seconds.iter().map(|second| second * tick + tick / 3).collect();
        ts.extend([
            i64::MAX,
            -i64::MAX,
            *precision.range().start() + 4_000_000 * tick,
            *precision.range().end() - 4_000_000 * tick,
        ]);
        let of_row: Vec<u16> = (0..ts.len()).map(|row| (row % 4) as u16).collect();
        let valid: Vec<u64> = (0..ts.len().div_ceil(64)).map(|word| !(word as u64)).collect();
        for (width, validity) in
            [(900, None), (1, Some(&valid[..])), (86_400, None), (2_592_000, Some(&valid[..]))]
        {
            let widths = vec![Interval { months: 0, days: 0, micros: width * 1_000_000 }; ts.len()];
            let rows =
                LocalRows { grids: RowGrids { widths: &widths, anchors: Anchors::Epoch }, zones: &of_row };
            let grid = Grid::new(i128::from(width * tick), 0).unwrap();
            for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                for edge in [Edge::Start, Edge::End] {
                    let mut out = vec![0; ts.len()];
                    let done = bucket_local_rows_at(
                        level,
                        &rows,
                        &mut clocks,
                        precision,
                        edge,
                        &ts,
                        validity,
                        &mut out,
                    );
                    assert_eq!(done, Ok(()), "{precision:?} {width}");
                    for row in (0..ts.len()).filter(|&row| is_valid(validity, row)) {
                        let expected = match Precision::is_infinite(ts[row]) {
                            true => ts[row].into(),
                            false => LocalGrid::new(&zones[row % 4], &grid, precision).edge(edge, ts[row]),
                        };
                        assert_eq!(
                            i128::from(out[row]),
                            expected,
                            "{level:?} {precision:?} {width} {edge:?} {}",
                            ts[row]
                        );
                    }
                }
            }
        }
    }
}

/// Columns of rows far from every stretch, whose buckets are so wide that bounds beside them would wrap.
#[test]
fn wide_buckets_of_all_times() {
    let zone = Arc::new(Zone::new(-18_000, &half_years(402), true).unwrap());
    let precision = Precision::Microsecond;
    let mut clocks = Clocks::default();
    let place = clocks.place(&zone) as u16;
    let lowest = i128::from(*precision.range().start());
    let ts: Vec<i64> = (0..4_096).map(|row| (lowest + row * 4_503_000_000_000_000) as i64).collect();
    for width in [1_488_958_971_997_183_744, (1 << 61) - 1, 1 << 61, (1 << 61) + 1, 86_400_000_000_000_000] {
        for offset in [0, 1, -6_930_289_884_194_522_112, 9_000_000_000_000_000_000] {
            let grid = Grid::new(width, offset).unwrap();
            let interval = |ticks: i128| Interval::from_nanos(ticks * precision.nanos_per_tick()).unwrap();
            let (widths, offsets) = (vec![interval(width); ts.len()], vec![interval(offset); ts.len()]);
            let mixed: Vec<_> = (0..ts.len()).map(|row| interval(width + row as i128 % 3)).collect();
            for widths in [widths, mixed] {
                for edge in [Edge::Start, Edge::End] {
                    let expected = |row: usize| {
                        let ticks = width + if widths[row] == interval(width) { 0 } else { row as i128 % 3 };
                        let grid = if ticks == width { grid } else { Grid::new(ticks, offset).unwrap() };
                        precision.finite(LocalGrid::new(&zone, &grid, precision).edge(edge, ts[row]))
                    };
                    let expected: Vec<_> = (0..ts.len()).map(expected).collect();
                    let valid: Vec<u64> = expected
                        .chunks(64)
                        .map(|some| {
                            some.iter().rev().fold(0, |word, edge| word << 1 | u64::from(edge.is_some()))
                        })
                        .collect();
                    let anchors = Anchors::Offset(&offsets);
                    let rows = LocalRows {
                        grids: RowGrids { widths: &widths, anchors },
                        zones: &vec![place; ts.len()],
                    };
                    let mut out = vec![0; ts.len()];
                    let valid = Some(&valid[..]);
                    let done = bucket_local_rows(&rows, &mut clocks, precision, edge, &ts, valid, &mut out);
                    assert_eq!(done, Ok(()));
                    for (row, expected) in expected.into_iter().enumerate() {
                        let is_right = expected.is_none_or(|expected| expected == out[row]);
                        assert!(is_right, "{width} {offset} {edge:?} {}", ts[row]);
                    }
                }
            }
        }
    }
}

/// The days of New York's changes of 2026 in each year, which is a rule that repeats itself after 400 years, if not that of New York.
fn half_years(count: i64) -> Vec<(i64, i32)> {
    let (_, year) = new_york();
    (0..count)
        .flat_map(|index| {
            let days = index * 365 + (index / 4) - index / 100 + index / 400;
            [(year[0].0 + days * 86_400, year[0].1), (year[1].0 + days * 86_400, year[1].1)]
        })
        .collect()
}

#[test]
fn days_on_which_the_clock_is_set() {
    let clocks = [
        new_york(),
        (39_600, vec![(1_775_314_800, 37_800)]), // Lord Howe, back by half an hour
        (-36_000, vec![(1_325_239_200, 50_400)]), // Apia, past a whole day
        (43_200, vec![(-2_000_000_000, -43_200)]), // a day again
        (-2_670, vec![(63_593_070, 0)]),         // Monrovia, odd seconds
        (7_200, vec![(1_000_000, 0), (1_003_600, 7_200), (1_010_000, -7_200)]),
    ];
    for (first, changes) in clocks.iter().step_by(one_in(3)) {
        for &(change, _) in changes {
            for width in WIDTHS.into_iter().step_by(one_in(6)) {
                for origin in [0, -1, 1_800, width / 2].into_iter().step_by(one_in(4)) {
                    let reach = (40 * width + 1_000).min(200_000.max(3 * width));
                    let stretch = (i128::from(change) - reach, i128::from(change) + reach, 100 / one_in(10));
                    for precision in [Precision::Second, Precision::Microsecond] {
                        let tick = i128::from(precision.ticks_per_second());
                        check((*first, changes), (width * tick, origin * tick), precision, stretch);
                    }
                }
            }
        }
    }
}

/// Clocks that no country has: set back and forth within hours, by up to a day.
fn clock() -> impl Strategy<Value = (i32, Vec<(i64, i32)>)> {
    let offset = || prop_oneof![(-26..27).prop_map(|hours| hours * 1_800), -93_599..93_600];
    let step = prop_oneof![1..20_000_i64, Just(3_600), 1..10_000_000_i64];
    (offset(), vec((step, offset()), 0..12)).prop_map(|(first, steps)| {
        let mut from = 0;
        let mut last = first;
        let changes = steps.into_iter().filter_map(|(step, offset)| {
            from += step;
            let is_change = offset != last;
            last = offset;
            is_change.then_some((from, offset))
        });
        (first, changes.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 / one_in(200) as u32))]

    #[test]
    fn buckets_of_any_clock(
        (first, changes) in clock(), width in prop_oneof![prop::sample::select(WIDTHS.to_vec()), 1..200_000_i128],
        origin in -10_000_000..10_000_000_i128, at in 0..100_usize, below in 0..1_000_000_000_i128,
        precision in prop::sample::select(Precision::ALL.to_vec())
    ) {
        let change = changes.get(at % changes.len().max(1)).map_or(0, |change| change.0);
        let tick = i128::from(precision.ticks_per_second());
        let reach = (200 * width).min(200_000.max(3 * width));
        let stretch = (i128::from(change) - reach, i128::from(change) + reach, 200);
        // Odd widths and origins too, below a second.
        let (width, origin) = (width * tick - below % tick, origin * tick + below * 7 % tick);
        check((first, &changes), (width.max(1), origin), precision, stretch);
    }
}

/// Windows that grow by a step within a size: all that begin with the size's bucket and end with a later step.
#[test]
fn windows_that_grow() {
    let (first, changes) = new_york();
    let (zone, clock) =
        (Arc::new(Zone::new(first, &changes, false).expect("a clock")), Clock::new(first, &changes));
    let buckets =
        |width| LocalBuckets::new(Arc::clone(&zone), Grid::new(width, 0).unwrap(), Precision::Second);
    for (step, size) in [(3_600, 86_400), (900, 3_600), (14_400, 86_400), (86_400, 604_800)] {
        let (steps, sizes) = (buckets(step), buckets(size));
        let hops = LocalHops::Grow(&steps, &sizes);
        for (change, _) in &changes {
            let ts: Vec<i64> =
                (change - 90_000..change + 90_000).step_by(1_700).chain(change - 1..change + 2).collect();
            let mut lists = vec![List::default(); ts.len()];
            let windows =
                count_local_windows(&hops, Precision::Second, &ts, None, &mut lists).unwrap() as usize;
            let (mut starts, mut ends) = (vec![0; windows], vec![0; windows]);
            write_local_windows(&hops, Precision::Second, &ts, &lists, &mut starts, &mut ends).unwrap();
            for (ts, list) in ts.iter().zip(&lists) {
                let (start, end) = clock.bucket(1, size, 0, (*ts).into());
                let reached = clock.boundaries(1, step, 0, i128::from(*ts) + 1, end + 1);
                let elements = list.offset as usize..(list.offset + list.length) as usize;
                assert!(starts[elements.clone()].iter().all(|&first| i128::from(first) == start));
                let ends: Vec<i128> = ends[elements].iter().map(|&end| end.into()).collect();
                assert_eq!(ends, reached, "{step} {size} {ts}");
            }
        }
    }
}

/// A rule that goes on for ever: what the table holds, what is looked up in it centuries later, and what the oracle counts
/// from changes written out that far.
#[test]
fn a_rule_goes_on() {
    const CYCLE: i64 = 146_097 * 86_400;
    let (first, year) = new_york();
    let zone = Arc::new(Zone::new(first, &half_years(402), true).expect("a clock"));
    assert!(Zone::new(first, &half_years(300), true).is_none());
    let far = Clock::new(first, &half_years(2_500));
    for width in [3_600, 5_400, 86_400, 2_592_000] {
        let local = LocalBuckets::new(Arc::clone(&zone), Grid::new(width, 7).unwrap(), Precision::Second);
        for index in [1, 170, 180, 399, 400, 401, 402, 403, 801, 802, 1_203, 2_000] {
            for (change, _) in &half_years(index + 1)[2 * index as usize..] {
                for ts in (change - 90_000..change + 90_000)
                    .step_by(3_000 * one_in(20))
                    .chain(change - 1..change + 2)
                {
                    let expected = far.bucket(1, width, 7, ts.into());
                    assert_eq!(local.bucket(ts), expected, "{width} {index} {ts}");
                    let mut out = [0];
                    assert_eq!(local.slice(Edge::End, &[ts], None, &mut out), Ok(()));
                    assert_eq!(i128::from(out[0]), expected.1);
                }
            }
        }
        // Whole cycles later everything is the same, but for the grid, which goes on.
        let shift = i128::from(CYCLE) * 20_000;
        let later =
            LocalBuckets::new(Arc::clone(&zone), Grid::new(width, 7 + shift).unwrap(), Precision::Second);
        let ts = year[1].0 + 500 * 365 * 86_400;
        let (start, end) = local.bucket(ts);
        assert_eq!(later.bucket(ts + shift as i64), (start + shift, end + shift));
    }
}

/// Infinities, NULL lanes and both ends of the range, alone and among other rows.
#[test]
fn ends_of_the_range() {
    let (first, changes) = new_york();
    let zone = Arc::new(Zone::new(first, &changes, false).expect("a clock"));
    for precision in Precision::ALL {
        let tick = i128::from(precision.ticks_per_second());
        let (lowest, highest) = (*precision.range().start(), *precision.range().end());
        for width in [1, 900 * tick, 86_400 * tick, i128::from(i64::MAX), 1 << 64, (1 << 70) + 1] {
            let local = LocalBuckets::new(Arc::clone(&zone), Grid::new(width, 3).unwrap(), precision);
            let clock = Clock::new(first, &changes);
            for ts in [lowest, lowest + 2, -1, 0, 1_793_512_800 * tick as i64, highest - 1, highest] {
                if Precision::is_infinite(ts) || !representable(precision, ts.into()) {
                    continue;
                }
                // The first and the last offset, far from the changes, and the oracle's own answer near them.
                let expected = if ts.unsigned_abs() > 1 << 62 || width > 1 << 62 {
                    let offset = if ts < 0 { i128::from(first) * tick } else { -18_000 * tick };
                    let (point, reading) = (3, i128::from(ts) + offset);
                    let start = point + (reading - point).div_euclid(width) * width;
                    (start - offset, start + width - offset)
                } else if width >= 900 * tick {
                    clock.bucket(tick, width, 3, ts.into())
                } else {
                    (ts.into(), i128::from(ts) + 1)
                };
                assert_eq!(local.bucket(ts), expected, "{precision:?} {width} {ts}");
                for (edge, answer) in [(Edge::Start, expected.0), (Edge::End, expected.1)] {
                    let rows = [i64::MAX, 0, ts, i64::MIN, -i64::MAX];
                    let valid = 0b1_0101_u64;
                    let mut out = [7; 5];
                    let result = local.slice(edge, &rows, Some(&[valid]), &mut out);
                    if representable(precision, answer) {
                        assert_eq!((result, out[0], out[4]), (Ok(()), i64::MAX, -i64::MAX));
                        assert_eq!(i128::from(out[2]), answer);
                    } else {
                        assert_eq!(result, Err(OutOfRange { row: 2 }), "{precision:?} {width} {ts} {edge:?}");
                    }
                }
            }
        }
        let local = LocalBuckets::new(Arc::clone(&zone), Grid::new(900 * tick, 0).unwrap(), precision);
        let mut out = [0; 130];
        assert_eq!(local.slice(Edge::Start, &[i64::MIN; 130], Some(&[0; 3]), &mut out), Ok(()));
        assert_eq!(local.slice(Edge::Start, &[], None, &mut []), Ok(()));
    }
}
