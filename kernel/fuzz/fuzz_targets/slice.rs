//! `bucket_slice` with any grid against plain `i128` arithmetic: the answer of each valid row, and the first error.
#![no_main]

mod input;

use arbitrary::Arbitrary;
use input::{AnyGrid, Column, Unit, edge, oracle};
use kernel::{Grid, bucket_slice, is_valid};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    unit: Unit,
    end: bool,
    grid: AnyGrid,
    column: Column,
}

fuzz_target!(|input: Input| {
    let Input { unit, end, grid, column: Column { ts, validity } } = input;
    let (precision, validity) = (unit.precision(), validity.as_deref());
    let (width, anchor) = (grid.width(), grid.anchor());
    let Some(grid) = Grid::new(width, anchor) else {
        assert!(width <= 0);
        return;
    };
    // Rows past the end of the column must not be written.
    let mut out = vec![0x5a5a; ts.len() + 3];
    let done = bucket_slice(&grid, precision, edge(end), &ts, validity, &mut out);
    let expected: Vec<_> = ts.iter().map(|&ts| oracle(precision, width, anchor, end, ts)).collect();
    let first = (0..ts.len()).find(|&row| is_valid(validity, row) && expected[row].is_none());
    assert_eq!(done.err().map(|error| error.row), first, "the row of the error");
    if first.is_none() {
        for row in (0..ts.len()).filter(|&row| is_valid(validity, row)) {
            assert_eq!(Some(out[row]), expected[row], "row {row}: {}", ts[row]);
        }
    }
    assert_eq!(out[ts.len()..], [0x5a5a; 3]);
});
