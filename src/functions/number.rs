//! The two kinds of numbers that moments are taken of, as columns of the engine: doubles, and whole numbers of units.
//!
//! FLOAT and DOUBLE have sums of twice their precision, stored as a DOUBLE and a residue. Integers, BOOLEAN and DECIMAL
//! are whole numbers of the unit of their last digit, whose sums are exact. An aggregate function of the C API has one
//! result type, and the engine takes every DECIMAL(38, …) for the same when it chooses an overload; so results are whole
//! numbers too, `1.25` of a `DECIMAL(9, 2)` is `125`, and the macros multiply by `time_bucket_unit(x)`, `0.01`. Where results are
//! few they are texts, `1.25`, which the engine casts in one step: planning the steps takes longer than taking them.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, Chunk, DOUBLES, Doubles, Element, Field, Fields, Numbers, Output, Parameter, Registry, Scalar,
    Texts, Wholes,
};
use kernel::{Twofold, Value, Whole};

/// Registers `time_bucket_unit`.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    registry.scalars(c"time_bucket_unit", signature([Type::Any], Type::Double).map(|types| (types, Unit)))
}

/// What a unit of the last digit of a type is worth.
struct Unit;

impl Scalar for Unit {
    type Plan = f64;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<f64> {
        arguments.digits(Parameter { index: 0, argument: Argument::Value }).map(unit)
    }

    fn execute(&self, plan: Option<&f64>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.write(DOUBLES).0.fill(*plan.ok_or(Error::NotConstant)?);
        Ok(())
    }
}

/// A kind of numbers.
pub(super) trait Number: Value + Element {
    /// The type of a column of sums, minima and maxima in results.
    const TYPE: Type;
    /// The type of a sum in parameters, which tells the overloads apart.
    const PARAMETER: Type;
    /// A column of them.
    type Column<'a>: Copy;

    /// A column, and its digits after the point; `None` for numbers of the other kind.
    fn column<'a>(numbers: Numbers<'a>) -> Option<(Self::Column<'a>, u8)>;
    /// The number in a row.
    fn at(column: Self::Column<'_>, row: usize) -> Self;
    /// A sum as it is stored: the number and the residue.
    fn split(sum: Self::Sum) -> Result<(Self, f64)>;
    /// A sum that was stored.
    fn sum(number: Self, residue: f64) -> Self::Sum;
    /// The number, if a column holds it.
    fn checked(self) -> Result<Self>;
    /// The type of a column of them that the engine casts to any other type of numbers.
    const SHOWN: Type;
    /// Where to write such a column.
    type Shown<'a>;

    /// Takes it.
    fn take_shown<'a>(fields: &mut Fields<'a>, index: usize) -> Self::Shown<'a>;
    /// Writes the number of a row, which has digits after the point.
    fn show(self, shown: &mut Self::Shown<'_>, row: usize, scale: u8);
    /// Writes that a row has none.
    fn show_none(shown: &mut Self::Shown<'_>, row: usize);
}

impl Number for f64 {
    const TYPE: Type = Type::Double;
    const PARAMETER: Type = Type::Double;
    type Column<'a> = Doubles<'a>;

    fn column<'a>(numbers: Numbers<'a>) -> Option<(Doubles<'a>, u8)> {
        match numbers {
            Numbers::Doubles(column) => Some((column, 0)),
            Numbers::Wholes(..) => None,
        }
    }

    #[inline(always)]
    fn at(column: Doubles<'_>, row: usize) -> Self {
        column.at(row)
    }

    fn split(sum: Twofold) -> Result<(Self, f64)> {
        Ok(sum.split())
    }

    fn sum(number: Self, residue: f64) -> Twofold {
        Twofold { high: number, low: residue }
    }

    fn checked(self) -> Result<Self> {
        Ok(self)
    }

    const SHOWN: Type = Type::Double;
    type Shown<'a> = Field<'a, Self>;

    fn take_shown<'a>(fields: &mut Fields<'a>, index: usize) -> Field<'a, Self> {
        fields.take(index)
    }

    fn show(self, shown: &mut Field<'_, Self>, row: usize, _: u8) {
        shown.set(row, Some(self));
    }

    fn show_none(shown: &mut Field<'_, Self>, row: usize) {
        shown.set(row, None);
    }
}

impl Number for Whole {
    const TYPE: Type = Type::Decimal;
    const PARAMETER: Type = Type::Any;
    type Column<'a> = Wholes<'a>;

    fn column<'a>(numbers: Numbers<'a>) -> Option<(Wholes<'a>, u8)> {
        match numbers {
            Numbers::Wholes(column, scale) => Some((column, scale)),
            Numbers::Doubles(_) => None,
        }
    }

    #[inline(always)]
    fn at(column: Wholes<'_>, row: usize) -> Self {
        column.at(row)
    }

    fn split(sum: Self) -> Result<(Self, f64)> {
        Ok((sum.checked()?, 0.0))
    }

    fn sum(number: Self, _: f64) -> Self {
        number
    }

    fn checked(self) -> Result<Self> {
        self.digits().map(Self::new).ok_or(Error::Digits)
    }

    const SHOWN: Type = Type::Text;
    type Shown<'a> = Texts<'a>;

    fn take_shown<'a>(fields: &mut Fields<'a>, index: usize) -> Texts<'a> {
        fields.take_texts(index)
    }

    fn show(self, shown: &mut Texts<'_>, row: usize, scale: u8) {
        shown.set(row, Some(&decimal(self.get(), scale)));
    }

    fn show_none(shown: &mut Texts<'_>, row: usize) {
        shown.set(row, None);
    }
}

/// The numbers of an argument, and the digits after the point.
pub(super) fn numbers<'a, V: Number>(input: &Chunk<'a>, parameter: Parameter) -> Result<(V::Column<'a>, u8)> {
    input.column(parameter).numbers().and_then(V::column).ok_or(Error::NotNumber)
}

/// What a unit with this many digits after the point is worth.
pub(super) fn unit(scale: u8) -> f64 {
    10f64.powi(-i32::from(scale))
}

/// A whole number of units of the last of so many digits after the point, as the engine reads a DECIMAL.
pub(super) fn decimal(units: i128, digits: u8) -> String {
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
