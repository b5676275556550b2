//! The overloads that the functions over timestamps have, and what their last argument says about the grid.
//!
//! There is one overload for each type of timestamp, whose result is of that type; what else it is given is read while
//! the query is bound. The others exist because of how the engine chooses. It adds up what the casts of an overload
//! cost and takes the cheapest one, if that is one alone: 0 for the type itself, 5 for ANY, 20 for a string literal, 104
//! and more for other casts and for the bare word NULL.
//! - An overload of DuckDB's own can't be removed, only replaced by one of the same types.
//! - A string literal fits every type of timestamp, so an overload has to win where the other arguments tell the type.
//! - For an instant, DuckDB casts an origin that is a local time by the session's time zone, which an extension can't
//!   do. So that origin has a type, and an offset an overload.
//! - What is no timestamp is taken in order to be refused, in words that help.

use super::local::known_zone;
use super::types::Timestamp::{self, InstantMicros, InstantNanos, Micros, Millis, Nanos, Seconds};
use super::types::Type::{self, Any, BesideText, Date, Integer, Interval, JustDate, JustNumber, Text};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, Chunk, Constant, DAYS, Given, Output, Parameter, Registry, Scalar, Signature, TICKS, TypeId,
};
use kernel::{Anchor, Anchors, Precision};
use libduckdb_sys as sys;
use std::ffi::CStr;

/// The types of an overload whose first arguments are lengths, such as a width.
struct Overload {
    /// Each length.
    length: Type,
    /// The timestamp.
    ts: Type,
    /// What follows it.
    last: Last,
    /// What its result is made of, where it has one.
    result: Timestamp,
    /// Why it is refused, if it is.
    reason: Reason,
    /// Whether DuckDB has it for its `time_bucket`, and nobody else needs it.
    is_duckdbs: bool,
}

/// What follows the timestamp.
#[derive(Clone, Copy)]
enum Last {
    /// Nothing.
    None,
    /// One argument.
    One(Type),
    /// Any number of arguments, none included. In DuckDB 2.0 these may be given by name.
    Rest(Type),
}

/// Why something is no timestamp to bucket.
#[derive(Clone, Copy)]
enum Reason {
    /// It is one.
    None,
    /// It has no time.
    Date,
    /// It has no unit.
    Number,
    /// It has yet to be read.
    Text,
}

const fn overload(length: Type, ts: Timestamp, last: Last) -> Overload {
    Overload { length, ts: Type::Timestamp(ts), last, result: ts, reason: Reason::None, is_duckdbs: false }
}

const fn duckdbs(ts: Timestamp, last: Last) -> Overload {
    Overload { is_duckdbs: true, ..overload(Interval, ts, last) }
}

const fn refused(reason: Reason, length: Type, ts: Type, last: Last) -> Overload {
    Overload { length, ts, last, result: Micros, reason, is_duckdbs: false }
}

const fn refused_duckdbs(last: Last) -> Overload {
    Overload { is_duckdbs: true, ..refused(Reason::Date, Interval, Date, last) }
}

const fn one(timestamp: Timestamp) -> Last {
    Last::One(Type::Timestamp(timestamp))
}

const OVERLOADS: &[Overload] = &[
    // Local times.
    overload(Any, Seconds, Last::Rest(Any)),
    overload(Any, Millis, Last::Rest(Any)),
    overload(Any, Micros, Last::Rest(Any)),
    overload(Any, Nanos, Last::Rest(Any)),
    duckdbs(Micros, Last::None),
    duckdbs(Micros, Last::One(Interval)),
    duckdbs(Micros, one(Micros)),
    // A string literal beside an origin is a TIMESTAMP, as it is without the extension.
    overload(Any, Micros, one(Seconds)),
    overload(Any, Micros, one(Millis)),
    overload(Any, Micros, one(Micros)),
    overload(Any, Micros, one(Nanos)),
    // Instants.
    overload(Any, InstantMicros, Last::Rest(Type::Timestamp(InstantMicros))),
    overload(Interval, InstantMicros, Last::One(Interval)),
    overload(Interval, InstantMicros, one(InstantMicros)),
    overload(Interval, InstantMicros, one(InstantNanos)),
    duckdbs(InstantMicros, Last::None),
    overload(Any, InstantNanos, Last::Rest(Type::Timestamp(InstantMicros))),
    overload(Interval, InstantNanos, one(InstantMicros)),
    overload(Interval, InstantNanos, one(InstantNanos)),
    overload(Interval, InstantNanos, Last::One(Interval)),
    duckdbs(InstantNanos, Last::None),
];

/// What is no timestamp.
const REFUSED: &[Overload] = &[
    refused(Reason::Date, Any, JustDate, Last::Rest(Any)),
    refused_duckdbs(Last::None),
    refused_duckdbs(Last::One(Interval)),
    refused_duckdbs(Last::One(Date)),
    refused(Reason::Number, Any, JustNumber, Last::Rest(Any)),
    // The bare word NULL as the timestamp fits this one best.
    refused(Reason::Number, Interval, Integer, Last::None),
    refused(Reason::Text, Any, Text, Last::None),
    refused(Reason::Text, Any, Text, Last::One(BesideText)),
];

impl Overload {
    /// The types of the overloads that this is in the running engine; none where it lacks a type.
    fn signatures(&self, lengths: usize, result: Type) -> impl Iterator<Item = Signature> {
        let (one, rest) = match self.last {
            Last::None => (None, None),
            Last::One(one) => (Some(one), None),
            Last::Rest(rest) => (None, Some(rest)),
        };
        // DuckDB 1.5 prefers every other overload to one with further arguments where it does not know the type of a
        // parameter yet, and would cast the timestamp. It has no names either, so two overloads do.
        let names_arguments = Type::Timestamp(InstantNanos).logical().is_some();
        let lasts = match rest {
            Some(rest) if !names_arguments => vec![(None, None), (Some(rest), None)],
            _ => vec![(one, rest)],
        };
        lasts.into_iter().filter_map(move |(one, rest)| {
            let parameters = std::iter::repeat_n(self.length, lengths).chain([self.ts]).chain(one);
            let signature = signature(parameters, result)?;
            let Some(rest) = rest else { return Some(signature) };
            Some(Signature { rest: Some(rest.logical()?), ..signature })
        })
    }
}

/// The types of an overload, or `None` where the running engine lacks one.
pub(super) fn signature(parameters: impl IntoIterator<Item = Type>, result: Type) -> Option<Signature> {
    // Compiled once, not for each kind of list.
    fn of(parameters: &mut dyn Iterator<Item = Type>, result: Type) -> Option<Signature> {
        let parameters = parameters.map(Type::logical).collect::<Option<_>>()?;
        Some(Signature { parameters, rest: None, result: result.logical()? })
    }
    of(&mut parameters.into_iter(), result)
}

/// DuckDB's own function, whose overloads are replaced.
pub(super) const DUCKDBS: &CStr = c"time_bucket";

/// Registers a function of some lengths, a timestamp and what anchors the grid, with all overloads that the running
/// engine has the types for. `result` is the type of its result for a type of timestamp, and `scalar` computes it.
pub(super) fn register<S: Scalar>(
    registry: &Registry,
    name: &'static CStr,
    lengths: &'static [Parameter],
    result: impl Fn(Timestamp) -> Type,
    scalar: impl Fn(Timestamp) -> S,
) -> Result<(), LoadError> {
    let signatures = |overloads: &'static [Overload]| {
        let needed = overloads.iter().filter(|overload| !overload.is_duckdbs || name == DUCKDBS);
        needed.flat_map(|overload| {
            // An overload of DuckDB's is replaced by one with the same result only, which is of the type of ts.
            let result = if overload.is_duckdbs { overload.ts } else { result(overload.result) };
            overload.signatures(lengths.len(), result).map(move |signature| (signature, overload))
        })
    };
    let accepted = signatures(OVERLOADS).map(|(signature, overload)| (signature, scalar(overload.result)));
    registry.scalars(name, accepted)?;
    let refused = signatures(REFUSED)
        .map(|(signature, overload)| (signature, Refused { lengths, reason: overload.reason }));
    registry.scalars(name, refused)?;
    // The same before a zone and an origin, which are more arguments than DuckDB 1.5 lets follow.
    let kinds = [(JustDate, Reason::Date), (JustNumber, Reason::Number), (Text, Reason::Text)];
    let zoned = kinds.into_iter().filter_map(|(ts, reason)| {
        let parameters = std::iter::repeat_n(Any, lengths.len()).chain([ts, Text, Any]);
        Some((signature(parameters, result(Micros))?, Refused { lengths, reason }))
    });
    registry.scalars(name, zoned)
}

/// Registers the overloads of a function that take a zone after the timestamp: instants by its wall clock, or local times, whose
/// zone may be 'none' alone. Without those of local times DuckDB 1.5 would make instants of them by the session's time zone.
pub(super) fn register_zoned<S: Scalar>(
    registry: &Registry,
    name: &'static CStr,
    lengths: usize,
    is_instant: bool,
    result: impl Fn(Timestamp) -> Type,
    scalar: impl Fn(Timestamp) -> S,
) -> Result<(), LoadError> {
    // Compiled once, not for each kind of function.
    fn signatures(
        lengths: usize,
        is_instant: bool,
        result: &dyn Fn(Timestamp) -> Type,
    ) -> Vec<(Timestamp, Signature)> {
        // DuckDB's own has an INTERVAL, and no anchor; where one follows, any length, which is refused in words if it is none.
        let forms = [(Interval, None), (Any, Some(Any))];
        let forms = if is_instant { &forms[..] } else { &forms[1..] };
        let mut signatures = Vec::new();
        for timestamp in Timestamp::ALL.into_iter().filter(|timestamp| timestamp.is_instant() == is_instant) {
            for &(length, anchor) in forms {
                let ts = [Type::Timestamp(timestamp), Text];
                let types = std::iter::repeat_n(length, lengths).chain(ts).chain(anchor);
                signatures.extend(signature(types, result(timestamp)).map(|types| (timestamp, types)));
            }
        }
        signatures
    }
    let overloads = signatures(lengths, is_instant, &result).into_iter();
    registry.scalars(name, overloads.map(|(timestamp, types)| (types, scalar(timestamp))))
}

/// An overload that takes what is no timestamp in order to refuse it.
///
/// It is also what the engine picks for the bare word NULL, which gives NULL once the lengths have been checked. Newer
/// engines give that NULL the parameter's type before they bind, so a constant NULL of that type is let through too.
struct Refused {
    lengths: &'static [Parameter],
    reason: Reason,
}

impl Scalar for Refused {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        let ts = Parameter { index: self.lengths.len(), argument: Argument::Ts };
        let value = arguments.value(ts)?;
        if matches!(value, Constant::Null) {
            for &length in self.lengths {
                let value = arguments.known_interval(length)?;
                value.map(|value| Precision::Nanosecond.length_ticks(length.argument, value)).transpose()?;
            }
            for index in ts.index + 1..arguments.len() {
                arguments.value(Parameter { index, argument: Argument::Anchor })?;
            }
            return Ok(());
        }
        Err(match self.reason {
            Reason::Date | Reason::None => Error::Date,
            Reason::Text => Error::Text { value: shown(&value, "a text") },
            Reason::Number => Error::Number { value: shown(&value, "a number") },
        })
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}

/// A value as messages show it, or what it is while it is unknown.
fn shown(value: &Constant<Given>, kind: &str) -> String {
    match value {
        Constant::Value(given) => given.printed().map_or_else(|| kind.to_owned(), |text| format!("'{text}'")),
        _ => kind.to_owned(),
    }
}

/// What an argument of this type says about the grid of timestamps that the argument `of` tells the type of.
///
/// # Errors
///
/// [`Error::OtherKind`] for an origin that is an instant where the timestamps are local, or the reverse;
/// [`Error::DateOfInstant`]; `Ok(None)` for a type that says nothing about a grid.
pub(super) fn anchor_of(
    id: TypeId,
    timestamp: Timestamp,
    of: Argument,
) -> Result<Option<Anchor<(), (), ()>>> {
    let is_instant = timestamp.is_instant();
    match (id, Timestamp::of_id(id)) {
        (_, Some(origin)) if origin.is_instant() != is_instant => Err(Error::OtherKind { of, is_instant }),
        (_, Some(origin)) => Ok(Some(Anchor::Origin((), origin.precision()))),
        (sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE, _) if is_instant => Err(Error::DateOfInstant { of }),
        (sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE, _) => Ok(Some(Anchor::Date(()))),
        (sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL, _) => Ok(Some(Anchor::Offset(()))),
        _ => Ok(None),
    }
}

/// The anchor that a value is, by its own type; `None` for one of another type.
pub(super) fn anchor(given: &Given) -> Option<Anchor<kernel::Interval, i64, i32>> {
    if let Some(origin) = Timestamp::of_id(given.type_id()) {
        return Some(Anchor::Origin(given.ticks()?, origin.precision()));
    }
    match given.date() {
        Some(days) => Some(Anchor::Date(days)),
        None => given.own_interval().map(Anchor::Offset),
    }
}

/// Whether a zone is the word that stands for no wall clock at all. Every function takes it before an origin or offset, for a local
/// time too, so that a macro can hand on a zone that was not given.
pub(super) fn no_clock(arguments: &Arguments<'_>, zone: Parameter) -> Result<bool> {
    const NONE: &str = "none";
    let is_text = arguments.own_type_id(zone)? == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR;
    Ok(is_text && matches!(arguments.value(zone)?, Constant::Value(zone) if zone.text() == NONE))
}

/// The ticks of what anchors the grid, `None` while they are unknown. It is the last argument, and may be left out.
pub(super) fn anchor_ticks(
    arguments: &Arguments<'_>,
    parameter: Parameter,
    timestamp: Timestamp,
) -> Result<Option<i128>> {
    match arguments.len() - parameter.index {
        0 => return Ok(Some(0)),
        1 => {}
        2 if no_clock(arguments, parameter)? => {
            return anchor_ticks(arguments, after_zone(parameter), timestamp);
        }
        // A zone and an origin.
        _ if arguments.type_id(parameter)? == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => {
            return beside_local(arguments, parameter).map(|()| None);
        }
        _ => return Err(Error::TooMany),
    }
    let (id, value) = (arguments.type_id(parameter)?, arguments.value(parameter)?);
    let Some(kind) = anchor_of(id, timestamp, Argument::Ts)? else {
        return match id {
            // A parameter of a prepared statement, which has no type before it has a value.
            sys::DUCKDB_TYPE_DUCKDB_TYPE_INVALID => Ok(None),
            sys::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL => Err(Error::Null { argument: parameter.argument }),
            sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => beside_local(arguments, parameter).map(|()| None),
            _ => Err(Error::NotAnchor { value: shown(&value, "a value of another type") }),
        };
    };
    match value {
        Constant::Unknown => Ok(None),
        Constant::Null => Err(Error::Null {
            argument: match kind {
                // The bare word NULL may have become an INTERVAL before it is bound.
                Anchor::Offset(()) if timestamp.is_instant() => parameter.argument,
                Anchor::Offset(()) => Argument::Offset,
                _ => Argument::Origin,
            },
        }),
        Constant::Value(given) => {
            let ticks = anchor(&given).map(|anchor| anchor.ticks(timestamp.precision())).transpose()?;
            // What the engine has yet to cast is known to be finite, and no more.
            Ok(ticks.filter(|_| given.type_id() == id))
        }
    }
}

/// The anchor that follows a zone.
const fn after_zone(zone: Parameter) -> Parameter {
    Parameter { index: zone.index + 1, ..zone }
}

/// A text beside a local time: a time zone, or what should be written as an origin or an offset. Beside the bare word NULL,
/// which newer engines take for a local time, a zone is one of an instant.
fn beside_local(arguments: &Arguments<'_>, parameter: Parameter) -> Result<()> {
    let ts = Parameter { index: parameter.index - 1, argument: Argument::Ts };
    if matches!(arguments.value(ts)?, Constant::Null) && known_zone(arguments, parameter).is_ok() {
        return Ok(());
    }
    Err(refused_text(&arguments.value(parameter)?))
}

/// What is said of it.
fn refused_text(value: &Constant<Given>) -> Error {
    let has_digits = match value {
        Constant::Value(given) => given.text().starts_with(|first: char| first.is_ascii_digit()),
        _ => false,
    };
    let value = shown(value, "a text");
    if has_digits { Error::TextAnchor { value } } else { Error::ZoneOfLocal { value } }
}

/// What anchors the grid of each row.
pub(super) fn anchors<'a>(
    input: &Chunk<'a>,
    parameter: Parameter,
    timestamp: Timestamp,
) -> Result<Anchors<'a>> {
    if input.arguments() == parameter.index {
        return Ok(Anchor::Epoch);
    }
    // The zone 'none', or the call would have been refused at bind.
    let is_zone = input.type_id(parameter) == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR;
    let parameter =
        if is_zone && input.arguments() > parameter.index + 1 { after_zone(parameter) } else { parameter };
    Ok(match anchor_of(input.type_id(parameter), timestamp, Argument::Ts)? {
        Some(Anchor::Offset(())) => Anchor::Offset(input.intervals(parameter)?),
        Some(Anchor::Origin((), precision)) => Anchor::Origin(input.read(TICKS, parameter), precision),
        Some(Anchor::Date(())) => Anchor::Date(input.read(DAYS, parameter)),
        Some(Anchor::Epoch) | None => Anchor::Epoch,
    })
}
