//! The SQL functions: which overloads exist, what they check at bind and which kernel they run. No arithmetic.

mod bucket;
#[cfg(feature = "identity")]
mod identity;
mod types;

use crate::error::Result;
use crate::ffi::Registry;

/// Registers every function in the engine.
pub(crate) fn register(registry: &Registry) -> Result<()> {
    #[cfg(feature = "identity")]
    identity::register(registry)?;
    bucket::register(registry)
}
