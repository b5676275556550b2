//! What the overloads of several functions have in common.

use super::types::Timestamp::{self, InstantMicros, InstantNanos, Micros, Millis, Nanos, Seconds};
use super::types::Type;
use crate::error::{Argument, Error, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Scalar, Signature};
use kernel::{Anchors, Precision};
use std::ffi::CStr;

const LOCAL: &[Timestamp] = &[Seconds, Millis, Micros, Nanos];
const INSTANT: &[Timestamp] = &[InstantMicros, InstantNanos];

/// The types of origin that a type of timestamp takes. Every pair is an overload of its own, so that the engine never
/// has to cast a timestamp to match its origin.
pub(super) fn origins(timestamp: Timestamp) -> &'static [Timestamp] {
    if timestamp.is_instant() { INSTANT } else { LOCAL }
}

/// Every type of timestamp with every anchor that it takes.
pub(super) fn anchored() -> impl Iterator<Item = (Timestamp, Anchor)> {
    Timestamp::ALL.into_iter().flat_map(|timestamp| {
        let origins = origins(timestamp).iter().map(|&origin| Anchor::Origin(origin));
        // A DATE is midnight where there is no time zone; where there is one, the engine casts it.
        let date = (!timestamp.is_instant()).then_some(Anchor::Date);
        let anchors = [Anchor::Epoch, Anchor::Offset].into_iter().chain(date).chain(origins);
        anchors.map(move |anchor| (timestamp, anchor))
    })
}

/// Every anchor, with which a DATE is refused; without these overloads the engine would cast it to match its origin.
pub(super) fn with_date() -> impl Iterator<Item = Anchor> {
    let origins = Timestamp::ALL.into_iter().map(Anchor::Origin);
    [Anchor::Epoch, Anchor::Offset, Anchor::Date].into_iter().chain(origins)
}

/// The types of an overload, or `None` where the running engine lacks one.
pub(super) fn signature<const N: usize>(parameters: [Option<Type>; N], result: Type) -> Option<Signature> {
    let parameters = parameters.into_iter().flatten();
    Some(Signature {
        parameters: parameters.map(Type::logical).collect::<Option<_>>()?,
        result: result.logical()?,
    })
}

/// What a last argument says about the grid.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    /// Nothing: the grid goes through the epoch.
    Epoch,
    /// Its distance from the epoch.
    Offset,
    /// A point on it.
    Origin(Timestamp),
    /// A point on it, at midnight.
    Date,
}

impl Anchor {
    /// The type of the argument, if there is one.
    pub(super) const fn parameter(self) -> Option<Type> {
        match self {
            Self::Epoch => None,
            Self::Offset => Some(Type::Interval),
            Self::Origin(origin) => Some(Type::Timestamp(origin)),
            Self::Date => Some(Type::Date),
        }
    }

    /// The type of the origin: the bare word NULL beside it means a timestamp of that type.
    pub(super) const fn origin(self) -> Option<Timestamp> {
        match self {
            Self::Origin(origin) => Some(origin),
            _ => None,
        }
    }

    /// The ticks of the constant anchor.
    pub(super) fn ticks(
        self,
        arguments: &Arguments,
        index: usize,
        precision: Precision,
    ) -> Result<Option<i128>> {
        match self {
            Self::Epoch => Ok(Some(0)),
            Self::Offset => {
                let offset = arguments.interval(index, Argument::Offset)?;
                Ok(known(offset, Argument::Offset)?
                    .map(|offset| precision.offset_ticks(offset))
                    .transpose()?)
            }
            Self::Origin(origin) => {
                let ticks = known(arguments.ticks(index, Argument::Origin, origin.id())?, Argument::Origin)?;
                Ok(ticks.map(|ticks| precision.origin_ticks(ticks, origin.precision())).transpose()?)
            }
            Self::Date => {
                let days = known(arguments.date(index, Argument::Origin)?, Argument::Origin)?;
                Ok(days.map(|days| precision.date_ticks(days)).transpose()?)
            }
        }
    }

    /// The anchor of each row.
    pub(super) fn of_rows<'a>(self, input: &Chunk<'a>, index: usize) -> Anchors<'a> {
        match self {
            Self::Epoch => Anchors::Epoch,
            Self::Offset => Anchors::Offset(input.intervals(index)),
            Self::Origin(origin) => Anchors::Origin(input.ticks(index), origin.precision()),
            Self::Date => Anchors::Date(input.dates(index)),
        }
    }
}

/// The constant's value, `None` while it is unknown; an error when it is NULL.
pub(super) fn known<T>(constant: Constant<T>, argument: Argument) -> Result<Option<T>> {
    match constant {
        Constant::Value(value) => Ok(Some(value)),
        Constant::Null => Err(Error::Null { argument }),
        Constant::Unknown => Ok(None),
    }
}

/// An overload that takes a DATE in order to refuse it.
///
/// It is also what the engine picks for the bare word NULL, which gives NULL once the other arguments have been checked
/// as those of a timestamp. Newer engines give that NULL the type DATE before they bind, so a constant NULL of that
/// type is let through too.
pub(super) struct DateRefused<S> {
    /// The overload that a timestamp would have got.
    pub(super) like: S,
    /// Where the DATE stands.
    pub(super) ts: usize,
}

impl<S: Scalar> Scalar for DateRefused<S> {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        self.like.name()
    }

    fn bind(&self, arguments: &Arguments) -> Result<()> {
        if arguments.is_null(self.ts) { self.like.bind(arguments).map(drop) } else { Err(Error::Date) }
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}
