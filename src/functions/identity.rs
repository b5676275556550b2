//! `time_bucket_identity(INTERVAL, T)`, which only copies its column: what any function through this C API costs at
//! least. Registered in benchmark builds alone (feature `identity`), with all other code unchanged.

use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Scalar, TICKS};

/// Where the copied argument stands; the width before it is not read.
const TS: Parameter = Parameter { index: 1, argument: Argument::Ts };

/// Registers an overload for each type of timestamp.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let overloads = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        Some((signature([Type::Interval, ts], ts)?, Identity))
    });
    registry.scalars(c"time_bucket_identity", overloads)
}

struct Identity;

impl Scalar for Identity {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.null_where_any_is(input);
        let (out, _) = output.write(TICKS);
        out.copy_from_slice(input.read(TICKS, TS));
        Ok(())
    }
}
