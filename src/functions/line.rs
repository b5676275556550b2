//! `time_bucket_line(from, to, t0, t1, t)`: where the line from one value at `t0` to another at `t1` is at `t`.
//!
//! Numbers that are whole, DECIMAL and times are exact, and rounded to their last digit, halves away from zero. A type
//! that has no overload of its own is read as a whole number of its last digit, and given as text, which the caller
//! casts: the C API has no way to give a DECIMAL of the width that it was asked for.

use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Scalar};
use kernel::{Fraction, is_valid};
use libduckdb_sys as sys;

/// Registers an overload for each type that has one, and that of all others.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let timestamps = Timestamp::ALL.into_iter().map(|timestamp| (Type::Timestamp(timestamp), Line::Ticks));
    let own = [
        (Type::Double, Line::Double),
        (Type::Float, Line::Float),
        (Type::Integer, Line::Integer),
        (Type::Int, Line::Int),
        (Type::Date, Line::Date),
        (Type::Time, Line::Ticks),
    ];
    let lines = own.into_iter().chain(timestamps).map(|(value, line)| (value, value, line));
    let lines = lines.chain([(Type::Any, Type::Text, Line::Text)]);
    let overloads = lines.filter_map(|(value, result, line)| {
        Some((signature([value, value, Type::Any, Type::Any, Type::Any], result)?, line))
    });
    registry.scalars(c"time_bucket_line", overloads)
}

/// How values are read and written.
#[derive(Clone, Copy)]
enum Line {
    Double,
    Float,
    Integer,
    Int,
    Date,
    Ticks,
    Text,
}

const FROM: Parameter = Parameter { index: 0, argument: Argument::From };
const TO: Parameter = Parameter { index: 1, argument: Argument::Until };
const TIMES: [Parameter; 3] = [time(2), time(3), time(4)];

const fn time(index: usize) -> Parameter {
    Parameter { index, argument: Argument::Ts }
}

impl Scalar for Line {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        for time in TIMES {
            if Timestamp::of_id(arguments.type_id(time)?).is_none() {
                let value = "a value of another type".to_owned();
                return Err(Error::NotTimestamp { argument: time.argument, value });
            }
        }
        let is_whole = |id| {
            let integers = sys::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT..=sys::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT;
            let others = [sys::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT, sys::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL];
            integers.contains(&id) || others.contains(&id)
        };
        if matches!(self, Self::Text) && !is_whole(arguments.type_id(FROM)?) {
            let line = "gapfill: interpolate takes columns of numbers, DECIMAL and times; carry the others"
                .to_owned();
            return Err(Error::Refused { line });
        }
        Ok(())
    }

    /// At `t0` there is no need of the other end.
    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let has = [FROM, TO, TIMES[0], TIMES[1], TIMES[2]].map(|parameter| input.validity(parameter));
        let [t0, t1, t] = TIMES.map(|time| input.ticks(time));
        let at = |row: usize| {
            let [has_from, has_to, has_t0, has_t1, has_t] = has.map(|validity| is_valid(validity, row));
            match has_from && has_t0 && has_t {
                true if t[row] == t0[row] => Some(At::Start),
                true if has_to && has_t1 => Fraction::new(t0[row], t1[row], t[row]).map(At::Between),
                _ => None,
            }
        };
        match self {
            Self::Double => {
                let (from, to) = (input.doubles(FROM), input.doubles(TO));
                fill(
                    output,
                    at,
                    |output| output.doubles_and_validity().0,
                    |row, at| at.float(from[row], to[row]),
                );
            }
            Self::Float => {
                let (from, to) = (input.floats(FROM), input.floats(TO));
                let value = |row: usize, at: At| at.float(from[row].into(), to[row].into()) as f32;
                fill(output, at, |output| output.floats_and_validity().0, value);
            }
            Self::Integer => {
                let (from, to) = (input.integers(FROM), input.integers(TO));
                let value = |row: usize, at: At| at.whole(from[row].into(), to[row].into()) as i64;
                fill(output, at, |output| output.integers_and_validity().0, value);
            }
            Self::Int => {
                let (from, to) = (input.ints(FROM), input.ints(TO));
                let value = |row: usize, at: At| at.whole(from[row].into(), to[row].into()) as i32;
                fill(output, at, |output| output.ints_and_validity().0, value);
            }
            Self::Date => {
                let (from, to) = (input.dates(FROM), input.dates(TO));
                let value = |row: usize, at: At| at.whole(from[row].into(), to[row].into()) as i32;
                fill(output, at, |output| output.dates_and_validity().0, value);
            }
            Self::Ticks => {
                let (from, to) = (input.ticks(FROM), input.ticks(TO));
                let value = |row: usize, at: At| at.whole(from[row].into(), to[row].into()) as i64;
                fill(output, at, |output| output.ticks_and_validity().0, value);
            }
            Self::Text => {
                let Some(((from, digits), (to, _))) = input.units(FROM).zip(input.units(TO)) else {
                    output.all_null();
                    return Ok(());
                };
                for row in 0..input.len() {
                    match at(row) {
                        Some(at) => {
                            output.set_text(row, &decimal(at.whole(from.of(row), to.of(row)), digits));
                        }
                        None => output.set_null(row),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Where on the line a row is.
#[derive(Clone, Copy)]
enum At {
    Start,
    Between(Fraction),
}

impl At {
    fn float(self, from: f64, to: f64) -> f64 {
        match self {
            Self::Start => from,
            Self::Between(fraction) => fraction.between_f64(from, to),
        }
    }

    fn whole(self, from: i128, to: i128) -> i128 {
        match self {
            Self::Start => from,
            Self::Between(fraction) => fraction.between(from, to),
        }
    }
}

/// Writes the value of each row that is on a line, and makes the others NULL.
fn fill<'b, T>(
    output: &mut Output<'b>,
    at: impl Fn(usize) -> Option<At>,
    values: for<'c> fn(&'c mut Output<'b>) -> &'c mut [T],
    value: impl Fn(usize, At) -> T,
) {
    let mut has_null = false;
    for (row, out) in values(output).iter_mut().enumerate() {
        match at(row) {
            Some(at) => *out = value(row, at),
            None => has_null = true,
        }
    }
    if has_null {
        let len = values(output).len();
        (0..len).filter(|&row| at(row).is_none()).for_each(|row| output.set_null(row));
    }
}

/// A whole number of units of the last of so many digits after the point, as the engine reads a DECIMAL.
fn decimal(units: i128, digits: u8) -> String {
    let (digits, sign) = (usize::from(digits), if units < 0 { "-" } else { "" });
    let padded = format!("{:0>width$}", units.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = padded.split_at(padded.len() - digits);
    let point = if digits == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_have_their_digits() {
        let cases = [(0, 0, "0"), (-5, 0, "-5"), (5, 2, "0.05"), (-1234, 2, "-12.34"), (1, 3, "0.001")];
        for (units, digits, text) in cases {
            assert_eq!(decimal(units, digits), text);
        }
    }
}
