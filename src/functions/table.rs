//! What the table functions have in common: parameters, columns, and how an argument's type is checked.

use super::overloads::{anchor, anchor_of};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, Result};
use crate::ffi::{Given, LogicalType, Parameter, Parameters, TableArguments};
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

/// An interval, or one that a string literal says.
pub(super) fn interval(arguments: &TableArguments, parameter: Parameter) -> Result<Interval> {
    arguments.required(parameter)?.interval(parameter.argument)
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

/// The name of what moves the grid. The engine keeps one overload of a table function, so that it has no position.
pub(super) const ORIGIN: &CStr = c"origin";

/// The ticks of the origin, a point or an offset, for timestamps of this type, which the argument `of` tells; zero where
/// it is not given.
pub(super) fn origin_ticks(arguments: &TableArguments, timestamp: Timestamp, of: Argument) -> Result<i128> {
    let Some(given) = arguments.named(ORIGIN) else { return Ok(0) };
    let argument = Argument::Origin;
    if given.is_null() {
        return Err(Error::Null { argument });
    }
    let not_timestamp = || Error::NotTimestamp { argument, value: given.text() };
    match anchor_of(given.type_id(), timestamp, of)? {
        None => Err(not_timestamp()),
        Some(_) => Ok(anchor(&given).ok_or_else(not_timestamp)?.ticks(timestamp.precision())?),
    }
}
