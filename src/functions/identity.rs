//! `time_bucket_identity(INTERVAL, T)`, which only copies its column: what any function through this C API costs at
//! least. Registered in benchmark builds alone (feature `identity`), with all other code unchanged.

use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Registry, Scalar};
use std::ffi::CStr;

/// Where the copied argument stands; the width before it is not read.
const TS: usize = 1;

/// Registers an overload for each type of timestamp.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let overloads = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        Some((signature([Some(Type::Interval), Some(ts)], ts)?, Identity))
    });
    registry.scalars(Identity.name(), overloads)
}

struct Identity;

impl Scalar for Identity {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        c"time_bucket_identity"
    }

    fn bind(&self, _: &Arguments) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.null_where_any_is(input);
        let (out, _) = output.ticks_and_validity();
        out.copy_from_slice(input.ticks(TS));
        Ok(())
    }
}
