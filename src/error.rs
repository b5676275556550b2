//! Everything that a call can be refused for, one variant a cause.
//!
//! A message says what is wrong with which value, then what to write instead. The function's name comes in front of
//! it where the error is handed to the engine.

use crate::kernel::{Civil, Edge, Interval, Precision};
use std::fmt;
use thiserror::Error;

/// The argument that an error is about, as messages call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A bucket's width.
    Width,
    /// The grid's distance from the epoch.
    Offset,
    /// A point that the grid goes through.
    Origin,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Width => "width",
            Self::Offset => "offset",
            Self::Origin => "origin",
        })
    }
}

impl Argument {
    /// A value that would be accepted.
    const fn example(self) -> &'static str {
        match self {
            Self::Width => "INTERVAL '15 minutes'",
            Self::Offset => "INTERVAL '6 hours'",
            Self::Origin => "TIMESTAMP '2024-01-01'",
        }
    }
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A constant NULL where a grid needs a value.
    #[error("{argument} must not be NULL; give a value such as {}", argument.example())]
    Null {
        /// What is NULL.
        argument: Argument,
    },
    /// An interval with months: `1 month`, `1 year`, `1 month -30 days`.
    #[error(
        "{argument} {value} is calendar: months or years have no fixed length; use days, or date_trunc for calendar units"
    )]
    Calendar {
        /// What is calendar.
        argument: Argument,
        /// The interval given.
        value: Interval,
    },
    /// A length that is zero or negative.
    #[error("{argument} must be positive (greater than zero), not {value}; give a length such as {}", argument.example())]
    NotPositive {
        /// What is not positive.
        argument: Argument,
        /// The interval given.
        value: Interval,
    },
    /// An interval finer than the ticks of the timestamp's type.
    #[error(
        "{argument} must be a whole number of {} for this type, not {value}; round it, or cast the timestamp to a finer type",
        precision.unit()
    )]
    IntervalNotWhole {
        /// What is too fine.
        argument: Argument,
        /// The interval given.
        value: Interval,
        /// The precision of the bucketed timestamp.
        precision: Precision,
    },
    /// An origin finer than the ticks of the timestamp's type.
    #[error(
        "origin must be a whole number of {} for this type, not '{value}'; round it, or cast the timestamp to a finer type",
        precision.unit()
    )]
    OriginNotWhole {
        /// The origin given.
        value: Civil,
        /// The precision of the bucketed timestamp.
        precision: Precision,
    },
    /// An infinite origin, through which no grid goes.
    #[error("origin must be finite, not '{value}'; give a value such as {}", Argument::Origin.example())]
    OriginInfinite {
        /// The origin given.
        value: Civil,
    },
    /// A bucket edge that the timestamp's type can't hold.
    #[error(
        "the bucket's {} for '{value}' is out of range for timestamps in {}; use a smaller width, or TRY(…) for NULL",
        match edge { Edge::Start => "start", Edge::End => "end" },
        value.precision.unit()
    )]
    OutOfRange {
        /// The edge asked for.
        edge: Edge,
        /// The timestamp whose bucket it is.
        value: Civil,
    },
    /// A DATE in place of a timestamp.
    #[error(
        "DATE is not accepted, since its buckets would lose the time of day; cast it, as in ts::TIMESTAMP"
    )]
    Date,
    /// An argument that the engine does not show to extensions while it binds.
    #[error(
        "{argument} must not be a subquery; join it as a column, as in FROM t, (SELECT …) AS s({argument}), or use getvariable('{argument}')"
    )]
    Subquery {
        /// The argument that is one.
        argument: Argument,
    },
    /// A panic, which is a fault of this extension.
    #[error("unexpected panic: {message}; this is a bug in the extension, please report it with the query")]
    Panic {
        /// What was panicked with.
        message: String,
    },
    /// The engine refused to register a function while the extension was loaded.
    #[error("the engine refused to register {name}")]
    Registration {
        /// The function.
        name: String,
    },
    /// The engine gave no connection or no API to register functions with.
    #[error("the engine gave no {what} while the extension was loaded")]
    Load {
        /// What was missing.
        what: &'static str,
    },
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;
