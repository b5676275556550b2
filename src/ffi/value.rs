//! Values that are known while a query is bound, and where they stand among the arguments.

use super::handles::Value;
use crate::error::{Argument, Error, Result};
use kernel::Interval;
use libduckdb_sys as sys;

/// Where an argument stands, and what messages call it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    /// Its position, from 0.
    pub(crate) index: usize,
    /// What it says.
    pub(crate) argument: Argument,
}

/// An argument that is given. Its readers want a value that is not NULL.
pub(crate) struct Given(Value);

impl Given {
    pub(super) const fn new(value: Value) -> Self {
        Self(value)
    }

    /// Whether this is NULL.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The id of its type.
    pub(crate) fn type_id(&self) -> sys::duckdb_type {
        self.0.type_id()
    }

    /// The interval that this is, or that this says if it is a text.
    pub(crate) fn interval(&self, argument: Argument) -> Result<Interval> {
        self.0.interval().ok_or_else(|| Error::NotInterval { argument, value: self.text() })
    }

    /// The interval that this is, if it is no text.
    pub(crate) fn own_interval(&self) -> Option<Interval> {
        // The engine casts a text in its place, so that its type has to be asked for before.
        let is_interval = self.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL;
        is_interval.then(|| self.0.interval()).flatten()
    }

    /// The interval that this says, if it is a text.
    pub(super) fn text_interval(&self) -> Option<Interval> {
        let is_text = self.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR;
        is_text.then(|| self.0.interval()).flatten()
    }

    /// The ticks of the timestamp that this is. A text is none.
    pub(crate) fn ticks(&self) -> Option<i64> {
        self.0.timestamp().map(|(ticks, _)| ticks)
    }

    /// The days of the DATE that this is.
    pub(crate) fn date(&self) -> Option<i32> {
        self.0.date()
    }

    /// The number that this is, a BIGINT.
    pub(crate) fn integer(&self) -> i64 {
        self.0.integer()
    }

    /// Whether this is a text.
    pub(crate) fn is_text(&self) -> bool {
        self.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR
    }

    /// The texts of a list of them; `None` for anything else, or where one is NULL.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.0.elements()?.iter().map(|name| (!name.is_null()).then(|| name.printed()).flatten()).collect()
    }

    /// As text, for messages; `None` for a type that is not printed.
    pub(crate) fn printed(&self) -> Option<String> {
        self.0.printed()
    }

    /// As text, for messages.
    pub(crate) fn text(&self) -> String {
        self.printed().unwrap_or_else(|| "a value of another type".to_owned())
    }
}
