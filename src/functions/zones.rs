//! `time_bucket_zones`: the names of the time zones, and the release of the data that says when their clocks are set.

use super::table::{columns, parameters};
use super::types::Type;
use crate::error::{LoadError, Result};
use crate::ffi::{Bound, Registry, Rows, Table, TableArguments};
use std::ffi::CStr;

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    match parameters(0, &[]) {
        Some(parameters) => registry.table(c"time_bucket_zones", &parameters, Zones),
        None => Ok(()),
    }
}

/// The names, a row each.
struct Zones;

impl Zones {
    const NAME: &CStr = c"name";
    const VERSION: &CStr = c"version";
}

impl Table for Zones {
    type Plan = Vec<&'static str>;

    fn bind(&self, _: &TableArguments) -> Result<Bound<Self::Plan>> {
        let plan: Vec<&str> = zones::names().collect();
        let columns = columns([(Self::NAME, Type::Text), (Self::VERSION, Type::Text)]);
        Ok(Bound { len: plan.len() as u64, plan, columns })
    }

    fn write(&self, names: &Self::Plan, rows: &mut Rows<'_>) -> Result<()> {
        rows.write_texts(Self::NAME, |row| names[row as usize]);
        rows.write_texts(Self::VERSION, |_| zones::version());
        Ok(())
    }
}
