//! The kernels allocate nothing: neither a row nor a chunk costs a call of the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use time_bucket_kernel::{
    Anchors, Edge, Grid, Hop, Hops, Interval, List, Precision, RowGrids, Shape, bucket_rows, bucket_slice,
    count_windows, write_windows,
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
