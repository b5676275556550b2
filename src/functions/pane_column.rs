//! Panes as columns: `STRUCT(n, sum, residue, min, max, m2)`, read and written.

use super::number::Number;
use super::types::Type;
use crate::error::{Error, Result};
use crate::ffi::{Column, Field, Fields, LogicalType};
use kernel::{Moments, Pane, is_valid};
use std::ffi::CStr;

/// The name and type of each field of a pane.
pub(super) fn pane_fields<V: Number>() -> [(&'static CStr, Type); 6] {
    [
        (c"n", Type::Integer),
        (c"sum", V::TYPE),
        (c"residue", Type::Double),
        (c"min", V::TYPE),
        (c"max", V::TYPE),
        (c"m2", Type::Double),
    ]
}

/// A struct, or `None` where the running engine lacks a type.
pub(super) fn structure<const N: usize>(fields: [(&CStr, Type); N]) -> Option<LogicalType> {
    let types: Vec<_> = fields.iter().map(|(_, field)| field.logical()).collect::<Option<_>>()?;
    let mut types = types.iter();
    Some(LogicalType::structure(fields.map(|(name, _)| (name, types.next().expect("a type for each")))))
}

/// Where the panes of a key or group are written.
pub(super) struct PaneFields<'a, V> {
    n: Field<'a, i64>,
    sum: Field<'a, V>,
    residue: Field<'a, f64>,
    min: Field<'a, V>,
    max: Field<'a, V>,
    m2: Field<'a, f64>,
}

impl<'a, V: Number> PaneFields<'a, V> {
    /// The first six fields.
    pub(super) fn of(fields: &mut Fields<'a>) -> Self {
        Self {
            n: fields.take(0),
            sum: fields.take(1),
            residue: fields.take(2),
            min: fields.take(3),
            max: fields.take(4),
            m2: fields.take(5),
        }
    }

    /// Writes a pane that counts in units.
    pub(super) fn write(&mut self, row: usize, pane: &Pane<V>, unit: f64) -> Result<()> {
        let (sum, residue) = V::split(pane.sum)?;
        let of_values = |value: V| (pane.n > 0).then(|| value.checked()).transpose();
        self.n.set(row, Some(pane.n));
        self.sum.set(row, (pane.n > 0).then_some(sum));
        self.residue.set(row, (pane.n > 0).then_some(residue));
        self.min.set(row, of_values(pane.min)?);
        self.max.set(row, of_values(pane.max)?);
        self.m2.set(row, (pane.n > 0).then_some(pane.m2 * unit * unit));
        Ok(())
    }
}

/// A column of panes.
pub(super) struct PaneColumn<'a, V: Number> {
    n: &'a [i64],
    sum: V::Column<'a>,
    residue: &'a [f64],
    min: V::Column<'a>,
    max: V::Column<'a>,
    m2: &'a [f64],
    /// Of the fields, and of the panes themselves.
    validity: ([Option<&'a [u64]>; 6], Option<&'a [u64]>),
    all_valid: bool,
    /// Digits after the point.
    pub(super) scale: u8,
    /// How many units make one.
    units: f64,
}

impl<'a, V: Number> PaneColumn<'a, V> {
    /// A column that holds panes of such numbers.
    pub(super) fn of(column: Column<'a>) -> Result<Self> {
        let columns = column.fields().ok_or(Error::NotPane)?;
        let [n, sum, residue, min, max, m2] = columns;
        let numbers = |column: Column<'a>| column.numbers().and_then(V::column).ok_or(Error::NotPane);
        let (sum, scale) = numbers(sum)?;
        let validity = (columns.map(Column::validity), column.validity());
        Ok(Self {
            n: n.integers().ok_or(Error::NotPane)?,
            sum,
            residue: residue.doubles().ok_or(Error::NotPane)?,
            min: numbers(min)?.0,
            max: numbers(max)?.0,
            m2: m2.doubles().ok_or(Error::NotPane)?,
            validity,
            all_valid: validity.1.is_none() && validity.0.iter().all(Option::is_none),
            scale,
            units: 10f64.powi(scale.into()),
        })
    }

    /// The pane of a row, in units; one without values where something of it is NULL.
    #[inline]
    pub(super) fn at(&self, row: usize) -> Pane<V> {
        let is_whole = self.all_valid || {
            let (fields, own) = self.validity;
            is_valid(own, row) && fields.iter().all(|&field| is_valid(field, row))
        };
        if !is_whole || self.n[row] <= 0 {
            return Moments::default().finish();
        }
        Pane {
            n: self.n[row],
            sum: V::sum(V::at(self.sum, row), self.residue[row]),
            min: V::at(self.min, row),
            max: V::at(self.max, row),
            m2: self.m2[row] * self.units * self.units,
        }
    }
}
