//! The kernels allocate nothing: neither a row nor a chunk costs a call of the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use time_bucket_kernel::{
    Anchors, Clocks, Edge, Grid, Hop, Hops, Interval, List, LocalBuckets, LocalHops, LocalRows, Precision,
    RowGrids, Shape, Zone, bucket_local_rows, bucket_rows, bucket_slice, count_local_windows, count_windows,
    write_local_windows, write_windows,
};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is the system allocator's, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

fn minutes(minutes: i64) -> Interval {
    Interval { months: 0, days: 0, micros: minutes * 60_000_000 }
}

#[test]
fn the_count_counts() {
    assert_eq!(allocations(|| drop(vec![0_u8; 100])), 1);
}

#[test]
fn no_kernel_allocates() {
    const ROWS: usize = 2_048;
    let precision = Precision::Second;
    let ts: Vec<i64> = (0..ROWS as i64).map(|row| row * row * 37 - 1_000_000).collect();
    let masks = [None, Some(vec![0x5555_5555_5555_5555_u64; ROWS / 64])];
    let (mut out, mut starts, mut ends) = (vec![0; ROWS], vec![0; ROWS * 8], vec![0; ROWS * 8]);
    let mut lists = vec![List::default(); ROWS];
    let grid = Grid::new(900, 0).unwrap();
    let hop = Hop::new(Shape::Hop, precision, minutes(5), minutes(20), 0).unwrap();
    let alike = vec![minutes(15); ROWS];
    let different: Vec<Interval> = (0..ROWS as i64).map(|row| minutes(1 + row % 3)).collect();
    for mask in &masks {
        let mask = mask.as_deref();
        for edge in [Edge::Start, Edge::End] {
            let count = allocations(|| bucket_slice(&grid, precision, edge, &ts, mask, &mut out).unwrap());
            assert_eq!(count, 0, "bucket_slice");
            for widths in [&alike, &different] {
                let grids = RowGrids { widths, anchors: Anchors::Epoch };
                let count =
                    allocations(|| bucket_rows(&grids, precision, edge, &ts, mask, &mut out).unwrap());
                assert_eq!(count, 0, "bucket_rows");
            }
        }
        let count = allocations(|| {
            let hops = Hops::One(&hop);
            count_windows(&hops, precision, &ts, mask, &mut lists).unwrap();
            write_windows(&hops, precision, &ts, &lists, &mut starts, &mut ends).unwrap();
        });
        assert_eq!(count, 0, "hop");
    }
}

/// A clock that was met before costs no allocation either, whether its buckets touch a change or not.
#[test]
fn no_local_kernel_allocates() {
    const ROWS: usize = 2_048;
    let precision = Precision::Second;
    // Two years of quarter hours and more, with a change of the clock every 50 days.
    let changes: Vec<(i64, i32)> =
        (0..20).map(|change| (change * 50 * 86_400, [3_600, 0, -1_800][change as usize % 3])).collect();
    let zone = Arc::new(Zone::new(-7_200, &changes, false).unwrap());
    let ts: Vec<i64> = (0..ROWS as i64).map(|row| row * 7_919_111_111 % 90_000_000 - 2_000_000).collect();
    let (mut out, mut starts, mut ends) = (vec![0; ROWS], vec![0; ROWS * 8], vec![0; ROWS * 8]);
    let mut lists = vec![List::default(); ROWS];
    let hours = LocalBuckets::new(Arc::clone(&zone), Grid::new(3_600, 0).unwrap(), precision);
    let days = LocalBuckets::new(Arc::clone(&zone), Grid::new(86_400, 0).unwrap(), precision);
    let mut clocks = Clocks::default();
    let utc = Arc::new(Zone::new(0, &[], false).unwrap());
    let places = [&zone, &utc].map(|zone| clocks.place(zone) as u16);
    let zones: Vec<u16> = (0..ROWS).map(|row| places[row % 2]).collect();
    let alike = vec![minutes(60); ROWS];
    let different: Vec<Interval> = (0..ROWS as i64).map(|row| minutes(60 + row % 3 * 30)).collect();
    let sizes: Vec<Interval> = (0..ROWS as i64).map(|row| minutes(180 + row % 3 * 90)).collect();
    for edge in [Edge::Start, Edge::End] {
        for ts in [&ts[..], &ts[..1], &[-2_000_000; ROWS]] {
            let count = allocations(|| hours.slice(edge, ts, None, &mut out).unwrap());
            assert_eq!(count, 0, "slice of {}", ts.len());
        }
        for widths in [&alike, &different] {
            let grids = RowGrids { widths, anchors: Anchors::Epoch };
            let rows = LocalRows { grids, zones: &zones };
            let mut run =
                || bucket_local_rows(&rows, &mut clocks, precision, edge, &ts, None, &mut out).unwrap();
            run();
            assert_eq!(allocations(run), 0, "bucket_local_rows");
        }
    }
    let (clocks, anchors) = (&clocks, Anchors::Epoch);
    let by_columns = LocalHops::Rows { slides: &different, sizes: &sizes, anchors, zones: &zones, clocks };
    for hops in [LocalHops::One(&hours, 3), LocalHops::Grow(&hours, &days), by_columns] {
        let mut room = 0;
        let count = allocations(|| {
            room = count_local_windows(&hops, precision, &ts, None, &mut lists).unwrap() as usize;
        });
        starts.resize(room.max(starts.len()), 0);
        ends.resize(room.max(ends.len()), 0);
        let written = allocations(|| {
            write_local_windows(&hops, precision, &ts, &lists, &mut starts, &mut ends).unwrap();
        });
        assert_eq!((count, written), (0, 0), "{hops:?}");
    }
}
