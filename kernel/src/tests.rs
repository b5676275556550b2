//! The kernel against an oracle that shares no code with it: `i128` division rounded towards negative infinity, with
//! ranges typed in anew. Every loop is run with every instruction set of this processor.

use crate::error::{Argument, Error};
use crate::rows::bucket_rows_at;
use crate::simd::Level;
use crate::slice::bucket_slice_at;
use crate::{Anchors, Civil, Edge, Grid, Interval, OutOfRange, Precision, RowGrids, bucket_rows};
use proptest::collection::vec;
use proptest::prelude::*;

const EDGES: [Edge; 2] = [Edge::Start, Edge::End];

/// One case in so many under miri, which is a thousand times slower; all of them otherwise.
pub(crate) const fn one_in(cases: usize) -> usize {
    if cfg!(miri) { cases } else { 1 }
}

/// The oracle: the edge as an exact number.
fn exact(width: i128, anchor: i128, edge: Edge, ts: i64) -> i128 {
    let distance = i128::from(ts) - anchor;
    let buckets = (distance - (((distance % width) + width) % width)) / width;
    anchor + (buckets + i128::from(edge == Edge::End)) * width
}

/// The oracle: whether a timestamp can be this, typed from the specification.
pub(crate) fn representable(precision: Precision, tick: i128) -> bool {
    let sentinels = [9_223_372_036_854_775_807, -9_223_372_036_854_775_807];
    let (lowest, highest) = match precision {
        Precision::Second => (-9_223_372_022_400, 9_223_372_036_854),
        Precision::Millisecond => (-9_223_372_022_400_000, 9_223_372_036_854_775),
        Precision::Microsecond => (-9_223_372_022_400_000_000, 9_223_372_036_854_775_806),
        Precision::Nanosecond => (-9_223_372_036_854_775_808, 9_223_372_036_854_775_806),
    };
    (lowest..=highest).contains(&tick) && !sentinels.contains(&tick)
}

fn infinite(ts: i64) -> bool {
    ts == i64::MAX || ts == -i64::MAX
}

/// What a whole slice should give: each valid row's answer, or the first row that has none.
fn oracle(
    (width, anchor): (i128, i128),
    precision: Precision,
    edge: Edge,
    ts: &[i64],
    valid: &[bool],
) -> Result<Vec<Option<i64>>, OutOfRange> {
    let rows = ts.iter().zip(valid).enumerate().map(|(row, (&ts, &valid))| {
        if !valid {
            return Ok(None);
        }
        if infinite(ts) {
            return Ok(Some(ts));
        }
        let answer = exact(width, anchor, edge, ts);
        if representable(precision, answer) { Ok(Some(answer as i64)) } else { Err(OutOfRange { row }) }
    });
    rows.collect()
}

fn mask(valid: &[bool]) -> Vec<u64> {
    let word =
        |rows: &[bool]| rows.iter().enumerate().fold(0, |word, (bit, &valid)| word | u64::from(valid) << bit);
    valid.chunks(64).map(word).collect()
}

/// Compares the slice kernel with the oracle: both edges, every instruction set, with and without a mask.
fn check(grid: (i128, i128), precision: Precision, ts: &[i64], valid: &[bool]) {
    let kernel = Grid::new(grid.0, grid.1).expect("a positive width");
    let all = vec![true; ts.len()];
    let words = mask(valid);
    for (valid, words) in [(valid, Some(&words[..])), (&all[..], None)] {
        for edge in EDGES {
            let expected = oracle(grid, precision, edge, ts, valid);
            for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                let mut out = vec![0x5EED; ts.len()];
                let result = bucket_slice_at(level, &kernel, precision, edge, ts, words, &mut out);
                let context = || format!("{grid:?} {precision:?} {edge:?} {level:?} {ts:?} {valid:?}");
                match &expected {
                    Err(error) => assert_eq!(result, Err(*error), "{}", context()),
                    Ok(answers) => {
                        assert_eq!(result, Ok(()), "{}", context());
                        for (row, (answer, out)) in answers.iter().zip(&out).enumerate() {
                            assert!(
                                answer.is_none_or(|answer| answer == *out),
                                "row {row}: {out} {}",
                                context()
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Every instruction set that this processor has is one that the tests ran.
#[test]
fn levels_are_ordered_and_available() {
    assert!(Level::Baseline.is_available());
    assert!(Level::best().is_available());
    #[cfg(target_arch = "x86_64")]
    assert_eq!(Level::best() == Level::Baseline, !is_x86_feature_detected!("avx2"));
}

#[test]
fn exhaustive_small_grids() {
    let ts: Vec<i64> = (-70..70).collect();
    let valid: Vec<bool> = ts.iter().map(|ts| ts % 3 != 0).collect();
    for width in (1..=48).step_by(one_in(9)) {
        for anchor in (-width..=width).step_by(one_in(13)) {
            check((width, anchor), Precision::Microsecond, &ts, &valid);
        }
    }
}

/// Timestamps at which something changes: range ends, sentinels, the epoch, powers of two, and their neighbours.
fn edges(width: i128) -> Vec<i64> {
    let mut centres = vec![0, i64::MIN, i64::MAX, -i64::MAX, i64::MAX - 1];
    for precision in Precision::ALL {
        centres.extend([*precision.range().start(), *precision.range().end()]);
    }
    centres.extend((20..63).flat_map(|power| [1_i64 << power, -(1_i64 << power)]));
    if let Ok(width) = i64::try_from(width) {
        let last = i64::MAX / width * width;
        centres.extend([width, width.wrapping_neg(), width.wrapping_mul(7), last, -last]);
    }
    let near = |&centre: &i64| [-2, -1, 0, 1, 2].map(|near| centre.wrapping_add(near));
    centres.iter().flat_map(near).step_by(one_in(53)).collect()
}

fn interesting_widths() -> Vec<i128> {
    let day = 86_400_000_000;
    let mut widths =
        vec![1, 2, 3, 5, 7, 60, 1_000, 1_000_000, 60_000_000, 900_000_000, 3_600_000_000, day, 7 * day];
    widths
        .extend((31..66).flat_map(|power| [(1_i128 << power) - 1, 1 << power, (1 << power) + 1, 3 << power]));
    widths.extend([
        i128::from(i64::MAX),
        i128::from(u64::MAX),
        2_147_483_647 * day * 1_000 + i128::from(i64::MAX) * 1_000,
    ]);
    widths.into_iter().step_by(one_in(31)).collect()
}

fn every_edge_alone(precision: Precision) {
    for width in interesting_widths() {
        let anchors = [0, 1, -1, width / 2, i128::from(i64::MIN), i128::from(i64::MAX)];
        for anchor in anchors.into_iter().step_by(one_in(4)) {
            for ts in edges(width) {
                check((width, anchor), precision, &[ts], &[true]);
            }
        }
    }
}

// A test for each, so that they run side by side.

#[test]
fn every_edge_alone_of_seconds() {
    every_edge_alone(Precision::Second);
}

#[test]
fn every_edge_alone_of_milliseconds() {
    every_edge_alone(Precision::Millisecond);
}

#[test]
fn every_edge_alone_of_microseconds() {
    every_edge_alone(Precision::Microsecond);
}

#[test]
fn every_edge_alone_of_nanoseconds() {
    every_edge_alone(Precision::Nanosecond);
}

#[test]
fn edges_together() {
    for width in interesting_widths() {
        for precision in Precision::ALL {
            // Those that all have answers, so that the loops run and not only the check before them.
            let has_answers = |ts: &i64| {
                infinite(*ts)
                    || EDGES.iter().all(|&edge| representable(precision, exact(width, 5, edge, *ts)))
            };
            let ts: Vec<i64> = edges(width).into_iter().filter(has_answers).collect();
            let valid: Vec<bool> = (0..ts.len()).map(|row| row % 5 != 2).collect();
            check((width, 5), precision, &ts, &valid);
            for pair in ts.windows(2) {
                check((width, 5), precision, pair, &[true, true]);
            }
        }
    }
}

#[test]
fn a_late_row_out_of_range_is_named() {
    let mut ts = vec![0; 5_000];
    ts[4_321] = i64::MIN;
    let grid = Grid::new(7, 0).unwrap();
    let mut out = vec![0; ts.len()];
    let run = |validity: Option<&[u64]>, out: &mut [i64]| {
        super::bucket_slice(&grid, Precision::Microsecond, Edge::Start, &ts, validity, out)
    };
    assert_eq!(run(None, &mut out), Err(OutOfRange { row: 4_321 }));
    let mut words = vec![u64::MAX; 79];
    words[4_321 / 64] &= !(1 << (4_321 % 64));
    assert_eq!(run(Some(&words), &mut out), Ok(()));
}

#[test]
fn empty_and_all_null_slices() {
    check((7, 0), Precision::Second, &[], &[]);
    check((7, 0), Precision::Second, &[i64::MIN; 130], &[false; 130]);
    check((7, 0), Precision::Second, &[i64::MAX; 130], &[true; 130]);
}

fn precision() -> impl Strategy<Value = Precision> {
    prop::sample::select(Precision::ALL.to_vec())
}

/// Widths of every magnitude, round ones among them.
fn width() -> impl Strategy<Value = i128> {
    prop_oneof![
        1..100_i128,
        1..i128::from(u64::MAX) * 3,
        (0_u32..66, 1..2_000_i128).prop_map(|(power, odd)| odd << power),
        (0_u32..19, 1..2_000_i128).prop_map(|(power, odd)| odd * 10_i128.pow(power)),
    ]
}

/// A column: values around a centre within a spread of any magnitude, some of them special.
fn column() -> impl Strategy<Value = Vec<i64>> {
    let centre =
        prop_oneof![Just(0), any::<i64>(), Just(1_700_000_000_000_000), Just(i64::MIN), Just(i64::MAX)];
    (centre, 0_u32..64, 0..600_usize).prop_flat_map(|(centre, spread, len)| {
        let near = any::<i64>().prop_map(move |random| centre.wrapping_add(random >> spread));
        let special = prop::sample::select(vec![i64::MIN, -i64::MAX, i64::MAX, i64::MAX - 1, 0, -1]);
        vec(prop_oneof![200 => near, 1 => special], len..=len)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000 / one_in(333) as u32))]

    #[test]
    fn slices_agree_with_the_oracle(
        width in width(), anchor in any::<i64>(), precision in precision(), ts in column(), seed in any::<u64>()
    ) {
        let valid: Vec<bool> = (0..ts.len()).map(|row| (seed.rotate_left(row as u32) ^ row as u64) & 3 != 0).collect();
        check((width, i128::from(anchor)), precision, &ts, &valid);
        // Most columns have a row without an answer; what is left when those are NULL runs through the loops.
        let has_answer = |ts: i64| EDGES.iter().all(|&edge| {
            infinite(ts) || representable(precision, exact(width, i128::from(anchor), edge, ts))
        });
        let valid: Vec<bool> = ts.iter().map(|&ts| has_answer(ts)).collect();
        check((width, i128::from(anchor)), precision, &ts, &valid);
        let answered: Vec<i64> = ts.into_iter().filter(|&ts| has_answer(ts)).collect();
        check((width, i128::from(anchor)), precision, &answered, &vec![true; answered.len()]);
    }

    #[test]
    fn invariants(width in width(), anchor in any::<i64>(), ts in any::<i64>(), other in any::<i64>()) {
        let anchor = i128::from(anchor);
        let grid = Grid::new(width, anchor).unwrap();
        let (start, end) = (grid.start(ts), grid.end(ts));
        prop_assert!(start <= i128::from(ts) && i128::from(ts) < end);
        prop_assert_eq!(end - start, width);
        prop_assert_eq!((start - anchor) % width, 0);
        if let Ok(start) = i64::try_from(start) {
            prop_assert_eq!(grid.start(start), i128::from(start));
        }
        prop_assert!(ts > other || grid.start(ts) <= grid.start(other));
    }

    /// Column arguments give what the same arguments give as constants.
    #[test]
    fn rows_agree_with_slices(
        ts in column(), precision in precision(), kinds in vec((0..9_usize, 0..3_usize), 600),
        run in prop_oneof![Just(0), 1..40_usize], choices in 1..10_usize, level in prop::sample::select(Level::ALL.to_vec()),
        seed in any::<u64>()
    ) {
        // A whole second each, of all sizes and powers of two, up to what no timestamp reaches.
        let widths = [1, 7, 3_600, 86_400, 64, 604_800, 1 << 20, 9_000_000_000_000, 86_401]
            .map(|seconds| Interval { months: 0, days: (seconds / 9_000_000_000_000) as i32, micros: seconds * 1_000_000 });
        let offsets = [0, -5, 90_000].map(|seconds| Interval { months: 0, days: 1, micros: seconds * 1_000_000 });
        // In runs of one length, or in random order; some or all of the widths.
        let kind = |row: usize| {
            let (width, anchor) = kinds[row.checked_div(run).unwrap_or(row * 7) % kinds.len()];
            (width % choices, anchor)
        };
        let width_column: Vec<Interval> = (0..ts.len()).map(|row| widths[kind(row).0]).collect();
        let offset_column: Vec<Interval> = (0..ts.len()).map(|row| offsets[kind(row).1]).collect();
        let origin_column: Vec<i64> = (0..ts.len()).map(|row| 86_400 + [0, -5, 90_000][kind(row).1]).collect();
        for edge in EDGES {
            let answer = |row: usize| {
                let nanos = |interval: Interval| interval.fixed_nanos().unwrap() / precision.nanos_per_tick();
                let (width, anchor) = (nanos(width_column[row]), nanos(offset_column[row]));
                if infinite(ts[row]) { i128::from(ts[row]) } else { exact(width, anchor, edge, ts[row]) }
            };
            let has_answer = |row: usize| infinite(ts[row]) || representable(precision, answer(row));
            let valid: Vec<bool> =
                (0..ts.len()).map(|row| has_answer(row) && (seed.rotate_left(row as u32) & 7) != 0).collect();
            let words = mask(&valid);
            for anchors in [Anchors::Offset(&offset_column), Anchors::Origin(&origin_column, Precision::Second)] {
                let grids = RowGrids { widths: &width_column, anchors };
                let mut out = vec![0; ts.len()];
                prop_assert_eq!(bucket_rows_at(level, &grids, precision, edge, &ts, Some(&words), &mut out), Ok(()));
                for row in (0..ts.len()).filter(|&row| valid[row]) {
                    prop_assert_eq!(i128::from(out[row]), answer(row), "row {}", row);
                }
                // Without a mask the first row that has no answer is named.
                let first = (0..ts.len()).find(|&row| !has_answer(row));
                let expected = match first {
                    Some(row) => Err(Error::OutOfRange { edge, value: Civil { tick: ts[row], precision } }),
                    None => Ok(()),
                };
                prop_assert_eq!(bucket_rows_at(level, &grids, precision, edge, &ts, None, &mut out), expected);
            }
        }
    }
}

/// Rows that share their arguments go through the slice kernel together, however many groups there are and in whatever
/// order they come.
#[test]
fn groups_of_rows() {
    let precision = Precision::Second;
    let columns = [
        (2_048, 1, 1),
        (2_048, 2, 1),
        (2_048, 3, 7),
        (5_000, 5, 300),
        (2_100, 40, 1),
        (640, 4, 160),
        (6_000, 4, 1),
        (2_048, 17, 1),
    ];
    for (len, groups, run) in columns.into_iter().step_by(one_in(4)) {
        let kind = |row: usize| (row / run % groups) as i64;
        let widths: Vec<Interval> =
            (0..len).map(|row| interval(0, 0, (kind(row) + 2) * 60_000_000)).collect();
        let dates: Vec<i32> = (0..len).map(|row| kind(row) as i32 - 1).collect();
        let ts: Vec<i64> = (0..len as i64).map(|row| row * 7_919 - 3_000_000).collect();
        let valid: Vec<bool> = (0..len).map(|row| row % 11 != 3).collect();
        for (mask, valid) in [(None, vec![true; len]), (Some(mask(&valid)), valid)] {
            for (anchors, edge) in [(Anchors::Epoch, Edge::Start), (Anchors::Date(&dates), Edge::End)] {
                let grids = RowGrids { widths: &widths, anchors };
                let mut out = vec![0; len];
                assert_eq!(bucket_rows(&grids, precision, edge, &ts, mask.as_deref(), &mut out), Ok(()));
                for row in (0..len).filter(|&row| valid[row]) {
                    let anchor =
                        if matches!(anchors, Anchors::Epoch) { 0 } else { i128::from(dates[row]) * 86_400 };
                    let expected = exact(i128::from(kind(row) + 2) * 60, anchor, edge, ts[row]);
                    assert_eq!(i128::from(out[row]), expected, "{len} {groups} {run} row {row}");
                }
            }
        }
    }
}

const fn interval(months: i32, days: i32, micros: i64) -> Interval {
    Interval { months, days, micros }
}

#[test]
fn refused_widths() {
    let argument = Argument::Width;
    let calendar = |value| Err(Error::Calendar { argument, value });
    let not_positive = |value| Err(Error::NotPositive { argument, value });
    let not_whole = |value, precision| Err(Error::IntervalNotWhole { argument, value, precision });
    let (second, micro) = (Precision::Second, Precision::Microsecond);
    for (precision, width, expected) in [
        (micro, interval(1, 0, 0), calendar(interval(1, 0, 0))),
        (micro, interval(1, -30, 0), calendar(interval(1, -30, 0))),
        (micro, interval(-12, 400, 0), calendar(interval(-12, 400, 0))),
        (micro, interval(0, 0, 0), not_positive(interval(0, 0, 0))),
        (micro, interval(0, 1, -86_400_000_000), not_positive(interval(0, 1, -86_400_000_000))),
        (micro, interval(0, -1, 0), not_positive(interval(0, -1, 0))),
        (second, interval(0, 0, -1), not_positive(interval(0, 0, -1))),
        (second, interval(0, 0, 1_500_000), not_whole(interval(0, 0, 1_500_000), second)),
        (Precision::Millisecond, interval(0, 0, 1), not_whole(interval(0, 0, 1), Precision::Millisecond)),
        (micro, interval(0, 1, -3_600_000_000), Ok(82_800_000_000)),
        (Precision::Nanosecond, interval(0, i32::MAX, i64::MAX), Ok(194_765_959_137_654_775_807_000)),
    ] {
        assert_eq!(precision.length_ticks(Argument::Width, width), expected);
    }
}

#[test]
fn refused_origins() {
    let second = Precision::Second;
    assert_eq!(second.origin_ticks(5_000, Precision::Millisecond), Ok(5));
    assert_eq!(
        Precision::Nanosecond.origin_ticks(-9_223_372_022_400, second),
        Ok(-9_223_372_022_400_000_000_000)
    );
    for infinity in [i64::MAX, -i64::MAX] {
        let value = Civil { tick: infinity, precision: second };
        assert_eq!(
            second.origin_ticks(infinity, second),
            Err(Error::Infinite { argument: Argument::Origin, value })
        );
    }
    let value = Civil { tick: 5_001, precision: Precision::Millisecond };
    let refused = Error::OriginNotWhole { value, precision: second };
    assert_eq!(second.origin_ticks(5_001, Precision::Millisecond), Err(refused));
}

#[test]
fn messages_print_as_the_engine_does() {
    for (value, text) in [
        (interval(0, 0, 0), "INTERVAL '00:00:00'"),
        (interval(14, -3, 1_500_000), "INTERVAL '1 year 2 months -3 days 00:00:01.5'"),
        (interval(-1, 1, -3_661_000_001), "INTERVAL '-1 month 1 day -01:01:01.000001'"),
        (interval(0, 0, i64::MIN), "INTERVAL '-2562047788:00:54.775808'"),
    ] {
        assert_eq!(value.to_string(), text);
    }
    for (precision, tick, text) in [
        (Precision::Microsecond, -9_223_372_022_400_000_000, "290309-12-22 (BC) 00:00:00"),
        (Precision::Microsecond, i64::MAX - 1, "294247-01-10 04:00:54.775806"),
        (Precision::Microsecond, i64::MAX, "infinity"),
        (Precision::Nanosecond, -i64::MAX, "-infinity"),
        (Precision::Nanosecond, i64::MIN, "1677-09-21 00:12:43.145224192"),
        (Precision::Nanosecond, -1, "1969-12-31 23:59:59.999999999"),
        (Precision::Second, 951_782_400, "2000-02-29 00:00:00"),
        (Precision::Second, -62_167_219_200, "0001-01-01 (BC) 00:00:00"),
        (Precision::Millisecond, -62_135_596_799_900, "0001-01-01 00:00:00.1"),
    ] {
        assert_eq!(Civil { tick, precision }.to_string(), text);
    }
    // A tick that no engine would print still has a text.
    assert!(!Civil { tick: i64::MIN, precision: Precision::Second }.to_string().is_empty());
}
