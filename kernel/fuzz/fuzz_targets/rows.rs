//! `bucket_rows` with a width and anchor a row against plain `i128` arithmetic.
#![no_main]

mod input;

use arbitrary::Arbitrary;
use input::{Anchor, AnyInterval, Column, Unit, anchor_ticks, edge, length, oracle};
use kernel::Argument;
use kernel::{RowGrids, bucket_rows, is_valid};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    unit: Unit,
    end: bool,
    widths: [AnyInterval; 4],
    run: u8,
    anchor: Anchor,
    column: Column,
}

fuzz_target!(|input: Input| {
    let Input { unit, end, widths, run, anchor, column: Column { ts, validity } } = input;
    let (precision, validity) = (unit.precision(), validity.as_deref());
    let pick = |row: usize| row / (usize::from(run % 40) + 1);
    let widths: Vec<_> = (0..ts.len()).map(|row| widths[pick(row) % 4].interval()).collect();
    let anchors = anchor.column((0..ts.len()).map(pick));
    let anchors = anchors.anchors();
    // None: refused, or out of range.
    let expected = |row: usize| {
        let width = length(Argument::Width, widths[row], precision).ok()?;
        let anchor = anchor_ticks(anchors, row, precision).ok()?;
        oracle(precision, width, anchor, end, ts[row])
    };
    let mut out = vec![0; ts.len()];
    let done =
        bucket_rows(&RowGrids { widths: &widths, anchors }, precision, edge(end), &ts, validity, &mut out);
    let valid = |&row: &usize| is_valid(validity, row);
    match done {
        Ok(()) => {
            for row in (0..ts.len()).filter(valid) {
                assert_eq!(Some(out[row]), expected(row), "row {row}: {}", ts[row]);
            }
        }
        Err(error) => {
            assert!((0..ts.len()).filter(valid).any(|row| expected(row).is_none()), "{error}");
            assert!(!error.to_string().contains('\n'));
        }
    }
});
