//! The timestamp types of SQL.

use crate::ffi::{LogicalType, TIMESTAMP_TZ_NS, TypeId};
use crate::kernel::Precision;
use libduckdb_sys as sys;

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
    /// `DATE`
    Date,
    /// One of the timestamp types.
    Timestamp(Timestamp),
}

impl Type {
    /// The engine's type, or `None` where the running engine lacks it.
    pub(super) fn logical(self) -> Option<LogicalType> {
        LogicalType::of_id(match self {
            Self::Interval => sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL,
            Self::Date => sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE,
            Self::Timestamp(timestamp) => timestamp.id(),
        })
    }
}
