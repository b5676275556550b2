//! Everything that a call, or LOAD, can be refused for, one variant a cause; what the arithmetic refuses is said in
//! [`kernel::Error`].
//!
//! A message says what is wrong with which value, then what to write instead. The function's name comes in front of
//! it where the error is handed to the engine.

pub(crate) use kernel::Argument;
use std::fmt::Display;
use thiserror::Error;

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Error {
    /// A value that the arithmetic refuses.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A constant NULL where a grid needs a value.
    #[error("{argument} must not be NULL; give a value such as {}", argument.example())]
    Null {
        /// What is NULL.
        argument: Argument,
    },
    /// The lists of one chunk of rows are larger than is allowed, or than memory.
    #[error(
        "{windows} windows for {rows} rows are more than are made at once, or than memory holds; use a larger step, or fewer rows at a time"
    )]
    Memory {
        /// In all lists.
        windows: u64,
        /// The rows of the chunk.
        rows: usize,
    },
    /// A sum, or a number, of more digits than DECIMAL has.
    #[error("a sum or a value has more than 38 digits; cast the values to DOUBLE")]
    Digits,
    /// What says which grid there is, being known at execution only.
    #[error("width, zone and origin must be constants here; write them out, or use getvariable")]
    NotConstant,
    /// Something else in place of a pane.
    #[error("pane must be what time_bucket_moments gives; give a column of a table of pane_rows")]
    NotPane,
    /// Something else in place of a number.
    #[error("a value of this type is no number; cast it to one, as in epoch(x) for an INTERVAL x")]
    NotNumber,
    /// A NULL among scheduled times.
    #[error("times must not hold NULL; remove it, as in list_filter(times, lambda t: t IS NOT NULL)")]
    NullTime,
    /// Something else in place of a timestamp.
    #[error("{argument} must be a timestamp, not '{value}'; give a value such as {}", argument.example())]
    NotTimestamp {
        /// What is none.
        argument: Argument,
        /// The value given.
        value: String,
    },
    /// A timestamp of another type than the others of the call.
    #[error(
        "{argument} '{value}' is of another type than {other}; cast one of them, so that nothing is rounded"
    )]
    OtherType {
        /// What is of another type.
        argument: Argument,
        /// The value given.
        value: String,
        /// What it has to agree with.
        other: Argument,
    },
    /// Something else in place of an interval.
    #[error("{argument} must be an interval, not '{value}'; give a length such as {}", argument.example())]
    NotInterval {
        /// What is none.
        argument: Argument,
        /// The value given.
        value: String,
    },
    /// An argument that is no interval and differs from row to row.
    #[error(
        "{argument} must be an interval, not a column of another type; cast it, as in {argument}::INTERVAL"
    )]
    IntervalColumn {
        /// What is none.
        argument: Argument,
    },
    /// A text in place of a timestamp.
    #[error(
        "ts must be a timestamp, not {value}; write TIMESTAMP '…', or cast a column, as in ts::TIMESTAMP"
    )]
    Text {
        /// The text in quotes, or what it is.
        value: String,
    },
    /// A number in place of a timestamp.
    #[error(
        "ts must be a timestamp, not {value}; convert it, as in to_timestamp(ts) for seconds since 1970 or make_timestamp(ts) for microseconds"
    )]
    Number {
        /// The number in quotes, or what it is.
        value: String,
    },
    /// Something else in place of an origin or offset.
    #[error(
        "origin or offset must be a timestamp, a DATE or an INTERVAL, not {value}; leave it out for a grid through 1970-01-01"
    )]
    NotAnchor {
        /// The value in quotes, or what it is.
        value: String,
    },
    /// A text in place of an origin or offset.
    #[error(
        "origin or offset must not be a text, as {value} is; write DATE {value} for an origin or INTERVAL {value} for an offset"
    )]
    TextAnchor {
        /// The text in quotes.
        value: String,
    },
    /// A time zone beside a local time.
    #[error(
        "a time zone, as {value} is, needs an instant, and ts is a local time; leave the zone out, or give ts one, as in ts AT TIME ZONE 'UTC'"
    )]
    ZoneOfLocal {
        /// The zone's name in quotes, or what it is.
        value: String,
    },
    /// A name that no zone has.
    #[error("there is no time zone '{value}'; {}", instead_of_zone(value, nearest))]
    UnknownZone {
        /// The name given.
        value: String,
        /// Names that are nearly the same.
        nearest: Vec<&'static str>,
    },
    /// A date or timestamp, as a text, in place of a time zone.
    #[error(
        "zone must be the name of a time zone, not '{value}'; for an origin write DATE '{value}' or TIMESTAMP '{value}', after the zone if there is one"
    )]
    DateForZone {
        /// The text given.
        value: String,
    },
    /// A time zone beside a range of local times.
    #[error(
        "a time zone, as '{value}' is, needs instants, and from and until are local times; write TIMESTAMPTZ '…'"
    )]
    ZoneOfLocalRange {
        /// The zone's name.
        value: String,
    },
    /// An origin that is an instant where the grid is one of readings of the wall clock.
    #[error(
        "origin is an instant (TIMESTAMPTZ), but beside a zone it is a reading of the wall clock; write it as TIMESTAMP '2024-01-01 06:00:00', or convert it, as in origin AT TIME ZONE zone"
    )]
    InstantOriginOfZone,
    /// An origin that is an instant where the timestamps are local, or the reverse.
    #[error(
        "origin is {}, but {of} is {}; convert one of them, as in origin AT TIME ZONE 'UTC'",
        kind(!is_instant),
        kind(*is_instant)
    )]
    OtherKind {
        /// What the origin has to agree with.
        of: Argument,
        /// Whether that is an instant.
        is_instant: bool,
    },
    /// A DATE as the origin of instants.
    #[error(
        "origin is a DATE, which has no time zone, but {of} is {}; write TIMESTAMPTZ '2024-01-01 00:00:00+00'",
        kind(true)
    )]
    DateOfInstant {
        /// What the origin has to agree with.
        of: Argument,
    },
    /// More arguments than a call may have.
    #[error("too many arguments; the last one is an origin or an offset")]
    TooMany,
    /// A DATE in place of a timestamp.
    #[error(
        "DATE is not accepted, since its buckets would lose the time of day; cast it, as in ts::TIMESTAMP"
    )]
    Date,
    /// An argument that the engine does not show to extensions while it binds.
    #[error(
        "{argument} must not be a subquery; join it as a column, as in FROM t, (SELECT …) AS s({name}), or use getvariable('{name}')",
        name = argument.name()
    )]
    Subquery {
        /// The argument that is one.
        argument: Argument,
    },
    /// What a macro refuses, in the macro's own words: the whole line.
    #[error("{line}")]
    Refused {
        /// The line.
        line: String,
    },
}

/// What to write instead of a name that no zone has.
fn instead_of_zone(value: &str, nearest: &[&str]) -> String {
    let names: Vec<String> = nearest.iter().map(|name| format!("'{name}'")).collect();
    match value.strip_prefix(['+', '-']) {
        Some(_) => format!("write an offset as 'GMT{value}'"),
        None if value.to_ascii_uppercase().starts_with("UTC") && value.len() > 3 => {
            format!("write an offset as 'GMT{}'", &value[3..])
        }
        None if names.is_empty() => "FROM time_bucket_zones() lists all names".to_owned(),
        None => format!("did you mean {}? FROM time_bucket_zones() lists all names", names.join(" or ")),
    }
}

/// The two kinds of timestamps.
const fn kind(is_instant: bool) -> &'static str {
    if is_instant { "an instant (TIMESTAMPTZ)" } else { "a local time (TIMESTAMP)" }
}

/// What a call's fallible steps return.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why LOAD fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum LoadError {
    /// A second engine of the process loads the file that serves the first.
    #[error(
        "this file already serves another DuckDB in this process; LOAD a copy of it, by the same name, from another folder"
    )]
    SecondEngine,
    /// The engine refused to register a function while the extension was loaded.
    #[error("the engine refused to register {name}")]
    Registration {
        /// The function.
        name: String,
    },
    /// The engine gave no connection or no API to register functions with.
    #[error("the engine gave no {what} while the extension was loaded")]
    Missing {
        /// What was missing.
        what: &'static str,
    },
}

/// What the engine is told of a failure.
pub(crate) trait Line: Display {
    /// The whole error: the function's name, then what is wrong.
    fn line(&self, function: &str) -> String {
        format!("{function}: {self}")
    }
}

impl Line for LoadError {}

impl Line for Error {
    fn line(&self, function: &str) -> String {
        match self {
            // The macro is named in it.
            Self::Refused { line } => line.clone(),
            _ => format!("{function}: {self}"),
        }
    }
}
