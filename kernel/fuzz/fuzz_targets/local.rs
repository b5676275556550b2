//! Local buckets of any clock, however it is set: they partition time, start where the rule says, and are the same one at a
//! time, in slices and in columns.
#![no_main]

mod input;

use arbitrary::Arbitrary;
use input::{AnyGrid, Column, Unit, edge};
use kernel::{
    Anchors, Clocks, Grid, Interval, LocalBuckets, LocalRows, Precision, RowGrids, Zone, bucket_local_rows,
    is_valid,
};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

#[derive(Debug, Arbitrary)]
struct Input {
    unit: Unit,
    end: bool,
    grid: AnyGrid,
    first: i32,
    /// How long after the last change each comes, and the offset from there on.
    changes: Vec<(u32, i32)>,
    column: Column,
}

const TWO_DAYS: i32 = 172_800;

fuzz_target!(|input: Input| {
    let Input { unit, end, grid, first, changes, column: Column { ts, validity } } = input;
    let (precision, validity) = (unit.precision(), validity.as_deref());
    let (width, anchor) = (grid.width(), grid.anchor());
    let Some(grid) = Grid::new(width, anchor) else { return };
    let mut at = -(1 << 31);
    let changes: Vec<(i64, i32)> = changes
        .iter()
        .map(|(step, offset)| {
            at += i64::from(*step) + 1;
            (at, offset % TWO_DAYS)
        })
        .collect();
    let zone = Arc::new(Zone::new(first % TWO_DAYS, &changes, false).expect("a clock"));
    let buckets = LocalBuckets::new(Arc::clone(&zone), grid, precision);
    let second = i128::from(precision.ticks_per_second());
    for &ts in ts.iter().filter(|ts| precision.is_finite(**ts)) {
        let (start, until) = buckets.grid().bucket(ts);
        assert!(start <= i128::from(ts) && i128::from(ts) < until, "{ts}: {start} {until}");
        assert_eq!(buckets.bucket(ts), (start, until), "{ts}");
        for inside in [start, until - 1].into_iter().filter_map(|tick| precision.finite(tick)) {
            assert_eq!(buckets.bucket(inside), (start, until), "{ts} {inside}");
        }
        // A bucket starts at a grid point of the clock, or where the clock is set.
        if let Some(tick) = precision.finite(start) {
            let instant = tick.div_euclid(second as i64);
            let reading = start + i128::from(zone.offset(instant)) * second;
            let is_change = start % second == 0 && zone.offset(instant) != zone.offset(instant - 1);
            assert!(
                (reading - anchor.rem_euclid(width)).rem_euclid(width) == 0 || is_change,
                "{ts}: {start}"
            );
        }
    }
    let mut out = vec![0x5a5a; ts.len() + 3];
    let done = buckets.slice(edge(end), &ts, validity, &mut out);
    let answer = |ts: i64| match () {
        () if Precision::is_infinite(ts) => Some(ts),
        () => precision.finite(buckets.grid().edge(edge(end), ts)),
    };
    let first = (0..ts.len()).find(|&row| is_valid(validity, row) && answer(ts[row]).is_none());
    assert_eq!(done.err().map(|error| error.row), first, "the row of the error");
    if first.is_none() {
        for row in (0..ts.len()).filter(|&row| is_valid(validity, row)) {
            assert_eq!(Some(out[row]), answer(ts[row]), "row {row}: {}", ts[row]);
        }
    }
    assert_eq!(out[ts.len()..], [0x5a5a; 3]);
    // The same zone in each row, among others: before its clock was met, and after.
    let interval = |ticks: i128| Interval::from_nanos(ticks.checked_mul(precision.nanos_per_tick())?);
    let Some((width, offset)) = interval(width).zip(interval(anchor)) else { return };
    let mut clocks = Clocks::default();
    clocks.place(&Arc::new(Zone::new(0, &[], false).expect("a clock")));
    let zones = vec![clocks.place(&zone) as u16; ts.len()];
    let (widths, offsets) = (vec![width; ts.len()], vec![offset; ts.len()]);
    let rows =
        LocalRows { grids: RowGrids { widths: &widths, anchors: Anchors::Offset(&offsets) }, zones: &zones };
    for _ in 0..2 {
        let done = bucket_local_rows(&rows, &mut clocks, precision, edge(end), &ts, validity, &mut out);
        assert_eq!(done.is_err(), first.is_some(), "{done:?}");
        for row in (0..first.unwrap_or(ts.len())).filter(|&row| is_valid(validity, row)) {
            assert_eq!(Some(out[row]), answer(ts[row]), "row {row} of a column: {}", ts[row]);
        }
    }
    assert_eq!(out[ts.len()..], [0x5a5a; 3]);
});
