//! What the overloads of several functions have in common.

use super::types::Timestamp::{self, InstantMicros, InstantNanos, Micros, Millis, Nanos, Seconds};
use super::types::Type;
use crate::error::{Argument, Error, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Scalar, Signature};
use crate::kernel::{Anchors, Precision};
use std::ffi::CStr;

const LOCAL: &[Timestamp] = &[Seconds, Millis, Micros, Nanos];
const INSTANT: &[Timestamp] = &[InstantMicros, InstantNanos];

/// What may follow a DATE, so that it is refused; without these overloads the engine would cast it.
const WITH_DATE: [Type; 8] = [
    Type::Interval,
    Type::Date,
    Type::Timestamp(Seconds),
    Type::Timestamp(Millis),
    Type::Timestamp(Micros),
    Type::Timestamp(Nanos),
    Type::Timestamp(InstantMicros),
    Type::Timestamp(InstantNanos),
];

/// The types of origin that a type of timestamp takes. Every pair is an overload of its own, so that the engine never
/// has to cast a timestamp to match its origin.
pub(super) fn origins(timestamp: Timestamp) -> &'static [Timestamp] {
    if timestamp.is_instant() { INSTANT } else { LOCAL }
}

/// Every type of timestamp with every anchor that it takes.
pub(super) fn anchored() -> impl Iterator<Item = (Timestamp, Anchor)> {
    Timestamp::ALL.into_iter().flat_map(|timestamp| {
        let origins = origins(timestamp).iter().map(|&origin| Anchor::Origin(origin));
        let anchors = [Anchor::Epoch, Anchor::Offset].into_iter().chain(origins);
        anchors.map(move |anchor| (timestamp, anchor))
    })
}

/// Everything that may follow a DATE, nothing included.
pub(super) fn with_date() -> impl Iterator<Item = Option<Type>> {
    std::iter::once(None).chain(WITH_DATE.map(Some))
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
}

impl Anchor {
    /// The type of the argument, if there is one.
    pub(super) const fn parameter(self) -> Option<Type> {
        match self {
            Self::Epoch => None,
            Self::Offset => Some(Type::Interval),
            Self::Origin(origin) => Some(Type::Timestamp(origin)),
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
                known(offset, Argument::Offset)?.map(|offset| precision.offset_ticks(offset)).transpose()
            }
            Self::Origin(origin) => {
                let ticks = if origin.is_instant() {
                    arguments.instant_ticks(index, Argument::Origin, origin.id())?
                } else {
                    arguments.local_ticks(index, Argument::Origin, origin.precision())?
                };
                let ticks = known(ticks, Argument::Origin)?;
                ticks.map(|ticks| precision.origin_ticks(ticks, origin.precision())).transpose()
            }
        }
    }

    /// The anchor of each row.
    pub(super) fn of_rows<'a>(self, input: &Chunk<'a>, index: usize) -> Anchors<'a> {
        match self {
            Self::Epoch => Anchors::Epoch,
            Self::Offset => Anchors::Offset(input.intervals(index)),
            Self::Origin(origin) => Anchors::Origin(input.ticks(index), origin.precision()),
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

/// An overload that takes a DATE in order to refuse it. It is also what the engine picks for the bare word NULL, which
/// gives NULL.
pub(super) struct DateRefused {
    pub(super) name: &'static CStr,
    /// Where the DATE stands.
    pub(super) ts: usize,
}

impl Scalar for DateRefused {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        self.name
    }

    fn bind(&self, arguments: &Arguments) -> Result<()> {
        if arguments.is_null(self.ts) { Ok(()) } else { Err(Error::Date) }
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}
