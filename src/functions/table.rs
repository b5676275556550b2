//! What the table functions have in common: parameters, columns, and how an argument's type is checked.

use super::overloads::origins;
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, Result};
use crate::ffi::{Given, LogicalType, Parameters, TableArguments};
use kernel::Interval;
use std::ffi::CStr;

/// `count` parameters of any type, and named ones; `None` if the running engine lacks a type.
pub(super) fn parameters(count: usize, named: &[(&'static CStr, Type)]) -> Option<Parameters> {
    let named = named.iter().map(|(name, named)| Some((*name, named.logical()?)));
    Some(Parameters {
        positional: (0..count).map(|_| Type::Any.logical()).collect::<Option<_>>()?,
        named: named.collect::<Option<_>>()?,
    })
}

/// The columns of a table. The running engine has their types, or it could not have given the arguments.
pub(super) fn columns(
    columns: impl IntoIterator<Item = (&'static CStr, Type)>,
) -> Vec<(&'static CStr, LogicalType)> {
    columns.into_iter().filter_map(|(name, column)| Some((name, column.logical()?))).collect()
}

/// The interval at `index`.
pub(super) fn interval(arguments: &TableArguments, index: usize, argument: Argument) -> Result<Interval> {
    interval_of(&arguments.required(index, argument)?, argument)
}

/// The interval that is given, or that a string literal says.
pub(super) fn interval_of(given: &Given, argument: Argument) -> Result<Interval> {
    given.interval().ok_or_else(|| Error::NotInterval { argument, value: given.text() })
}

/// The type of a timestamp.
pub(super) fn timestamp_of(given: &Given, argument: Argument) -> Result<Timestamp> {
    if Type::Date.logical().is_some_and(|date| date.id() == given.type_id()) {
        return Err(Error::Date);
    }
    let not_timestamp = || Error::NotTimestamp { argument, value: given.text() };
    Timestamp::of_id(given.type_id()).ok_or_else(not_timestamp)
}

/// The ticks of a timestamp, which must be of one of `types`, as the argument `other` wants, and which of them it is.
pub(super) fn ticks_of(
    given: &Given,
    argument: Argument,
    types: &[Timestamp],
    other: Argument,
) -> Result<(i64, Timestamp)> {
    let timestamp = timestamp_of(given, argument)?;
    if !types.contains(&timestamp) {
        return Err(Error::OtherType { argument, value: given.text(), other });
    }
    Ok((given.ticks().ok_or_else(|| Error::NotTimestamp { argument, value: given.text() })?, timestamp))
}

/// The ticks of an origin for timestamps of this type.
pub(super) fn origin_ticks(given: &Given, timestamp: Timestamp, other: Argument) -> Result<i128> {
    let argument = Argument::Origin;
    if given.is_null() {
        return Err(Error::Null { argument });
    }
    // A DATE is midnight where there is no time zone.
    if let Some(days) = given.date().filter(|_| !timestamp.is_instant()) {
        return Ok(timestamp.precision().date_ticks(days)?);
    }
    let (ticks, origin) = ticks_of(given, argument, origins(timestamp), other)?;
    Ok(timestamp.precision().origin_ticks(ticks, origin.precision())?)
}
