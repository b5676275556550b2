//! `bucket_rows` with a width and anchor a row against plain `i128` arithmetic.
#![no_main]

mod input;

use arbitrary::Arbitrary;
use input::{AnyInterval, Column, Unit, edge, oracle};
use libfuzzer_sys::fuzz_target;
use time_bucket::kernel::{Anchors, Interval, Precision, RowGrids, bucket_rows, is_valid};

#[derive(Debug, Arbitrary)]
enum Anchor {
    Epoch,
    Offset([AnyInterval; 3]),
    Origin([i64; 3], Unit, i8),
    Date([i32; 3]),
}

#[derive(Debug, Arbitrary)]
struct Input {
    unit: Unit,
    end: bool,
    widths: [AnyInterval; 4],
    run: u8,
    anchor: Anchor,
    column: Column,
}

fn whole(precision: Precision, nanos: i128) -> Option<i128> {
    let tick = precision.nanos_per_tick();
    (nanos % tick == 0).then_some(nanos / tick)
}

fn nanos(interval: Interval) -> Option<i128> {
    let micros = i128::from(interval.days) * 86_400_000_000 + i128::from(interval.micros);
    (interval.months == 0).then_some(micros * 1_000)
}

fuzz_target!(|input: Input| {
    let Input { unit, end, widths, run, anchor, column: Column { ts, validity } } = input;
    let (precision, validity) = (unit.precision(), validity.as_deref());
    let pick = |row: usize| row / (usize::from(run % 40) + 1);
    let widths: Vec<_> = (0..ts.len()).map(|row| widths[pick(row) % 4].interval()).collect();
    let (mut offsets, mut origins, mut dates) = (Vec::new(), Vec::new(), Vec::new());
    let anchors = match anchor {
        Anchor::Epoch => Anchors::Epoch,
        Anchor::Offset(some) => {
            offsets.extend((0..ts.len()).map(|row| some[pick(row) % 3].interval()));
            Anchors::Offset(&offsets)
        }
        Anchor::Date(some) => {
            dates.extend((0..ts.len()).map(|row| some[pick(row) % 3]));
            Anchors::Date(&dates)
        }
        Anchor::Origin(some, of, digits) => {
            // Rounded so that most are whole in a coarser type too.
            let round = 10_i64.pow(u32::from(digits.unsigned_abs() % 10));
            origins.extend(
                (0..ts.len()).map(|row| some[pick(row) % 3] / round * if digits < 0 { round } else { 1 }),
            );
            Anchors::Origin(&origins, of.precision())
        }
    };
    // None: refused, or out of range.
    let expected = |row: usize| {
        let width =
            nanos(widths[row]).and_then(|nanos| whole(precision, nanos)).filter(|&width| width > 0)?;
        let anchor = match anchors {
            Anchors::Epoch => 0,
            Anchors::Offset(offsets) => whole(precision, nanos(offsets[row])?)?,
            Anchors::Date(dates) => {
                if dates[row].unsigned_abs() == i32::MAX as u32 {
                    return None;
                }
                whole(precision, i128::from(dates[row]) * 86_400_000_000_000)?
            }
            Anchors::Origin(origins, of) => {
                if origins[row] == i64::MAX || origins[row] == -i64::MAX {
                    return None;
                }
                whole(precision, i128::from(origins[row]) * of.nanos_per_tick())?
            }
        };
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
