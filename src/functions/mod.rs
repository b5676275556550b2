//! The SQL functions: which overloads exist, what they check at bind and which kernel they run. No arithmetic.

mod bound;
mod bucket;
mod gaps;
mod grids;
mod hop;
#[cfg(feature = "identity")]
mod identity;
mod line;
mod local;
mod macros;
mod moments;
mod number;
mod overloads;
mod pane;
mod pane_column;
mod refuse;
mod rolling;
mod series;
mod sessions;
mod source;
mod table;
mod types;
mod windows;
mod zones;

use crate::error::LoadError;
use crate::ffi::Registry;

/// Registers every function in the engine.
pub(crate) fn register(registry: &Registry) -> Result<(), LoadError> {
    #[cfg(feature = "identity")]
    identity::register(registry)?;
    bucket::register(registry)?;
    local::register(registry)?;
    hop::register(registry)?;
    pane::register(registry)?;
    series::register(registry)?;
    number::register(registry)?;
    moments::register(registry)?;
    rolling::register(registry)?;
    windows::register(registry)?;
    zones::register(registry)?;
    refuse::register(registry)?;
    source::register(registry)?;
    bound::register(registry)?;
    gaps::register(registry)?;
    line::register(registry)?;
    sessions::register(registry)?;
    macros::register(registry)
}
