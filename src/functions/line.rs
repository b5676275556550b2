//! `time_bucket_line(from, to, t0, t1, t)`: where the line from one value at `t0` to another at `t1` is at `t`.
//!
//! Numbers that are whole, DECIMAL and times are exact, and rounded to their last digit, halves away from zero. A type
//! that has no overload of its own is read as a whole number of its last digit, and given as text, which the caller
//! casts: the C API has no way to give a DECIMAL of the width that it was asked for.

use super::number::decimal;
use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, Chunk, DAYS, DOUBLES, FLOATS, INTEGERS, INTS, Numbers, Output, Parameter, Registry, Scalar,
    Stored, TICKS,
};
use kernel::{Fraction, is_valid};
use libduckdb_sys as sys;

/// Registers an overload for each type that has one, and that of all others.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let timestamps =
        Timestamp::ALL.into_iter().map(|timestamp| (Type::Timestamp(timestamp), Line::Long(TICKS)));
    let own = [
        (Type::Double, Line::Double),
        (Type::Float, Line::Float),
        (Type::Integer, Line::Long(INTEGERS)),
        (Type::Int, Line::Int(INTS)),
        (Type::Date, Line::Int(DAYS)),
        (Type::Time, Line::Long(TICKS)),
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
    Long(Stored<i64>),
    Int(Stored<i32>),
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
        let [t0, t1, t] = TIMES.map(|time| input.read(TICKS, time));
        let at = |row: usize| {
            let [has_from, has_to, has_t0, has_t1, has_t] = has.map(|validity| is_valid(validity, row));
            match has_from && has_t0 && has_t {
                true if t[row] == t0[row] => Some(At::Start),
                true if has_to && has_t1 => Fraction::new(t0[row], t1[row], t[row]).map(At::Between),
                _ => None,
            }
        };
        match *self {
            Self::Double => fill(input, output, at, DOUBLES, |at, from, to| at.float(from, to)),
            Self::Float => {
                fill(input, output, at, FLOATS, |at, from, to| at.float(from.into(), to.into()) as f32);
            }
            Self::Long(stored) => {
                fill(input, output, at, stored, |at, from, to| at.whole(from.into(), to.into()) as i64);
            }
            Self::Int(stored) => {
                fill(input, output, at, stored, |at, from, to| at.whole(from.into(), to.into()) as i32);
            }
            Self::Text => {
                let [from, to] = [FROM, TO].map(|parameter| input.column(parameter).numbers());
                let (Some(Numbers::Wholes(from, digits)), Some(Numbers::Wholes(to, _))) = (from, to) else {
                    output.all_null();
                    return Ok(());
                };
                for row in 0..input.len() {
                    match at(row) {
                        Some(at) => {
                            output.set_text(
                                row,
                                &decimal(at.whole(from.at(row).get(), to.at(row).get()), digits),
                            );
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
fn fill<T: Copy>(
    input: &Chunk<'_>,
    output: &mut Output<'_>,
    at: impl Fn(usize) -> Option<At>,
    stored: Stored<T>,
    value: impl Fn(At, T, T) -> T,
) {
    let (from, to) = (input.read(stored, FROM), input.read(stored, TO));
    let mut has_null = false;
    for (row, out) in output.write(stored).0.iter_mut().enumerate() {
        match at(row) {
            Some(at) => *out = value(at, from[row], to[row]),
            None => has_null = true,
        }
    }
    if has_null {
        (0..input.len()).filter(|&row| at(row).is_none()).for_each(|row| output.set_null(row));
    }
}
