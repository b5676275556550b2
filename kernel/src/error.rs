//! Everything that the arithmetic can refuse, one variant a cause.
//!
//! A message says what is wrong with which value, then what to write instead. The function's name comes in front of
//! it where the error is handed to the engine.

use crate::{Civil, Edge, Interval, Precision};
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
    /// One of these two.
    Anchor,
    /// The time zone whose wall clock the buckets go by.
    Zone,
    /// The timestamp itself.
    Ts,
    /// The distance between the starts of two neighbouring windows.
    Slide,
    /// How much a window grows by.
    Step,
    /// A window's length.
    Size,
    /// How far apart two rows of one session may be.
    Gap,
    /// How long a gap is filled for.
    MaxGap,
    /// The numbers of rows.
    Rows,
    /// The values of a column.
    Values,
    /// How far back a sliding query looks.
    Lookback,
    /// How often a sliding query is asked.
    Cadence,
    /// When a sliding query is scheduled.
    Times,
    /// The width of the panes that a lookback and a cadence share.
    PaneWidth,
    /// When a sliding query is asked.
    At,
    /// Where a series begins.
    From,
    /// Where a range begins.
    Since,
    /// Where a series or a range ends.
    Until,
    /// Where a range begins or ends.
    Bound,
    /// How many panes a query may have.
    Budget,
    /// What a macro says.
    Message,
    /// A number that moments are taken of.
    Value,
    /// The moments of some values.
    Pane,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Argument {
    /// What messages call it.
    const fn text(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Offset => "offset",
            Self::Origin => "origin",
            Self::Anchor => "origin or offset",
            Self::Zone => "zone",
            Self::Ts => "ts",
            Self::Slide => "slide",
            Self::Step => "step",
            Self::Size => "size",
            Self::Gap => "gap",
            Self::MaxGap => "max_gap",
            Self::Rows => "rows",
            Self::Values => "values",
            Self::Lookback => "lookback",
            Self::Cadence => "cadence",
            Self::Times => "times",
            Self::PaneWidth => "pane width",
            Self::At => "at",
            Self::From => "from",
            Self::Since => "since",
            Self::Until => "until",
            Self::Bound => "since, until, at or watermark",
            Self::Budget => "budget",
            Self::Message => "message",
            Self::Value => "value",
            Self::Pane => "pane",
        }
    }

    /// A name for it in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anchor => "origin",
            other => other.text(),
        }
    }

    /// What to use instead of months or years.
    const fn instead_of_months(self) -> &'static str {
        match self {
            Self::Width => "use days, or date_trunc for calendar units",
            Self::Offset => "use days, or give an origin",
            _ => "use days",
        }
    }

    /// A value that would be accepted.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Width | Self::Size | Self::Gap => "INTERVAL '15 minutes'",
            Self::Offset => "INTERVAL '6 hours'",
            Self::Slide | Self::Step | Self::PaneWidth => "INTERVAL '5 minutes'",
            Self::Lookback | Self::MaxGap => "INTERVAL '1 hour'",
            Self::Cadence => "INTERVAL '1 minute'",
            Self::Origin
            | Self::Anchor
            | Self::Ts
            | Self::Times
            | Self::At
            | Self::From
            | Self::Since
            | Self::Bound => "TIMESTAMP '2024-01-01'",
            Self::Until => "TIMESTAMP '2024-02-01'",
            Self::Budget => "1024",
            Self::Zone => "'America/New_York'",
            Self::Message => "'width must be positive'",
            Self::Value => "1.5",
            Self::Pane => "time_bucket_moments(x)",
            Self::Rows => "[2, 1]",
            Self::Values => "[1.5, 2.5]",
        }
    }
}

/// Why a value is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// An interval with months: `1 month`, `1 year`, `1 month -30 days`.
    #[error(
        "{argument} {value} is calendar: months or years have no fixed length; {}",
        argument.instead_of_months()
    )]
    Calendar {
        /// What is calendar.
        argument: Argument,
        /// The interval given.
        value: Interval,
    },
    /// A length that is zero or negative.
    #[error(
        "{argument} must be positive (greater than zero), not {value}; give a length such as {}{}",
        argument.example(),
        if *value == Interval::default() { " (an INTERVAL holds whole microseconds)" } else { "" }
    )]
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
    /// A timestamp that is infinite where a point in time is needed: no grid goes through infinity.
    #[error("{argument} must be finite, not '{value}'; give a value such as {}", argument.example())]
    Infinite {
        /// What is infinite.
        argument: Argument,
        /// The timestamp given.
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
    /// More windows of one size around a timestamp than a list may hold.
    #[error(
        "size {size} at {argument} {step} makes {windows} windows a row, more than {limit}; use a larger {argument} or a smaller size"
    )]
    TooManyWindows {
        /// What the distance between windows is called.
        argument: Argument,
        /// That distance.
        step: Interval,
        /// The windows' length.
        size: Interval,
        /// How many windows that makes.
        windows: i128,
        /// How many are accepted.
        limit: i128,
    },
    /// A window bound that the timestamp's type can't hold.
    #[error(
        "a window bound for {argument} '{value}' is out of range for timestamps in {}; use shorter intervals, or a timestamp nearer to 1970",
        value.precision.unit()
    )]
    WindowOutOfRange {
        /// What the bound is computed from.
        argument: Argument,
        /// Its value.
        value: Civil,
    },
    /// A length that is negative where zero means none.
    #[error("{argument} must not be negative, not {value}; give a length such as {}, or NULL for none", argument.example())]
    Negative {
        /// What is negative.
        argument: Argument,
        /// The interval given.
        value: Interval,
    },
    /// A length that is no whole multiple of another one.
    #[error(
        "{argument} {value} is not a multiple of {divisor} {unit}; use a {argument} that is one, or another {divisor}"
    )]
    NotMultiple {
        /// What should be a multiple.
        argument: Argument,
        /// Its length.
        value: Interval,
        /// Of what.
        divisor: Argument,
        /// The other length.
        unit: Interval,
    },
    /// Scheduled times whose common step is finer than an interval can say.
    #[error(
        "times must be whole microseconds apart, not {nanos} nanoseconds; round them, as in t::TIMESTAMP"
    )]
    TimesNotWhole {
        /// The step.
        nanos: u128,
    },
    /// A budget that admits nothing.
    #[error("budget must be positive (greater than zero), not {value}; give a number of panes such as 1024")]
    Budget {
        /// The budget given.
        value: i64,
    },
    /// More panes than the budget admits.
    #[error(
        "lookback {lookback} makes {panes} panes of {width}, more than the budget of {budget}; raise the budget, or use a cadence that shares a wider pane"
    )]
    OverBudget {
        /// The lookback given.
        lookback: Interval,
        /// The width of a pane.
        width: Interval,
        /// How many panes that makes.
        panes: i128,
        /// How many are accepted.
        budget: i64,
    },
    /// A series that ends before it begins.
    #[error("until '{until}' is before from '{from}'; swap them")]
    Backwards {
        /// Where the series begins.
        from: Civil,
        /// Where it ends.
        until: Civil,
    },
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;
