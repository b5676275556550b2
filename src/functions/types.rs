//! The timestamp types of SQL.

use crate::ffi::{LogicalType, TIMESTAMP_TZ_NS, TypeId};
use kernel::Precision;
use libduckdb_sys as sys;
use std::ffi::CStr;

/// What the bounds of a window are called, in structs and in tables.
pub(super) const WINDOW_START: &CStr = c"window_start";
/// See [`WINDOW_START`].
pub(super) const WINDOW_END: &CStr = c"window_end";
/// What tables call how much later a query is asked than its newest window or pane ends.
pub(super) const STALENESS: &CStr = c"staleness";

/// A timestamp type of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timestamp {
    /// `TIMESTAMP_S`
    Seconds,
    /// `TIMESTAMP_MS`
    Millis,
    /// `TIMESTAMP`
    Micros,
    /// `TIMESTAMP_NS`
    Nanos,
    /// `TIMESTAMPTZ`
    InstantMicros,
    /// `TIMESTAMPTZ_NS`, from DuckDB 2.0 on
    InstantNanos,
}

impl Timestamp {
    /// Every type.
    pub(super) const ALL: [Self; 6] =
        [Self::Seconds, Self::Millis, Self::Micros, Self::Nanos, Self::InstantMicros, Self::InstantNanos];

    /// The type with this id of the C API.
    pub(super) fn of_id(id: TypeId) -> Option<Self> {
        Self::ALL.into_iter().find(|timestamp| timestamp.id() == id)
    }

    pub(super) const fn precision(self) -> Precision {
        match self {
            Self::Seconds => Precision::Second,
            Self::Millis => Precision::Millisecond,
            Self::Micros | Self::InstantMicros => Precision::Microsecond,
            Self::Nanos | Self::InstantNanos => Precision::Nanosecond,
        }
    }

    /// Whether the type has a time zone, that is, whether its values are instants.
    pub(super) const fn is_instant(self) -> bool {
        matches!(self, Self::InstantMicros | Self::InstantNanos)
    }

    pub(super) const fn id(self) -> TypeId {
        match self {
            Self::Seconds => sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S,
            Self::Millis => sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS,
            Self::Micros => sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP,
            Self::Nanos => sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS,
            Self::InstantMicros => sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ,
            Self::InstantNanos => TIMESTAMP_TZ_NS,
        }
    }
}

/// The type of a parameter or result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// `INTERVAL`
    Interval,
    /// `BIGINT`
    Integer,
    /// `DECIMAL(38,0)`
    Decimal,
    /// A type that the engine leaves to the function.
    Any,
    /// `BOOLEAN`
    Boolean,
    /// `VARCHAR`
    Text,
    /// `DOUBLE`
    Double,
    /// `DATE`
    Date,
    /// `TIME`
    Time,
    /// A DATE that is no NULL: as a union it fits the bare word NULL worse than any type of timestamp does.
    JustDate,
    /// A number that is no NULL.
    JustNumber,
    /// What does not tell the type of a timestamp that is a text.
    BesideText,
    /// One of the timestamp types.
    Timestamp(Timestamp),
    /// `INTEGER`
    Int,
    /// `FLOAT`
    Float,
    /// `BIGINT[]`
    Integers,
    /// A list of timestamps.
    Times(Timestamp),
    /// A list of windows: `STRUCT(window_start, window_end)[]`.
    Windows(Timestamp),
    /// A list of numbered windows: `STRUCT(row BIGINT, window_start, window_end)[]`.
    NumberedWindows(Timestamp),
    /// A list of stretches of time: `STRUCT(place BIGINT, piece_start, piece_end)[]`.
    Pieces(Timestamp),
}

impl Type {
    /// The engine's type, or `None` where the running engine lacks it.
    pub(super) fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Interval => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL),
            Self::Integer => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT),
            Self::Decimal => Some(LogicalType::decimal()),
            Self::Any => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_ANY),
            Self::Boolean => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN),
            Self::Text => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR),
            Self::Double => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE),
            Self::Time => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_TIME),
            Self::Date => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE),
            Self::JustDate => Some(LogicalType::union([(c"date", &Self::Date.logical()?)])),
            Self::BesideText => {
                let time = LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_TIME)?;
                let (offset, date) = (Self::Interval.logical()?, Self::Date.logical()?);
                let (zone, number) = (Self::Text.logical()?, Self::Double.logical()?);
                let members = [
                    (c"offset", &offset),
                    (c"zone", &zone),
                    (c"date", &date),
                    (c"time", &time),
                    (c"number", &number),
                ];
                Some(LogicalType::union(members))
            }
            Self::JustNumber => Some(LogicalType::union([(c"number", &Self::Double.logical()?)])),
            Self::Timestamp(timestamp) => LogicalType::of_id(timestamp.id()),
            Self::Int => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER),
            Self::Float => LogicalType::of_id(sys::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT),
            Self::Integers => Some(Self::Integer.logical()?.list()),
            Self::Times(timestamp) => Some(LogicalType::of_id(timestamp.id())?.list()),
            Self::Windows(timestamp) => {
                let bound = LogicalType::of_id(timestamp.id())?;
                Some(LogicalType::structure([(WINDOW_START, &bound), (WINDOW_END, &bound)]).list())
            }
            Self::NumberedWindows(timestamp) => Self::numbered(c"row", timestamp, [WINDOW_START, WINDOW_END]),
            Self::Pieces(timestamp) => Self::numbered(c"place", timestamp, [c"piece_start", c"piece_end"]),
        }
    }

    /// A list of structs of a number and two times.
    fn numbered(number: &CStr, timestamp: Timestamp, [from, to]: [&CStr; 2]) -> Option<LogicalType> {
        let (integer, time) = (Self::Integer.logical()?, LogicalType::of_id(timestamp.id())?);
        Some(LogicalType::structure([(number, &integer), (from, &time), (to, &time)]).list())
    }
}
