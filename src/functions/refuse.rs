//! `time_bucket_refuse(message)`: how a macro refuses in words.
//!
//! A macro knows the names of its columns inside `COLUMNS(lambda name: …)` alone, which takes no volatile function
//! such as DuckDB's `error`. This one is none, so that it serves there as everywhere else. The message is the error's
//! whole text; NULL refuses nothing.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Scalar};
use kernel::is_valid;

const MESSAGE: Parameter = Parameter { index: 0, argument: Argument::Message };

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    registry
        .scalars(c"time_bucket_refuse", signature([Type::Text], Type::Boolean).map(|types| (types, Refuse)))
}

struct Refuse;

impl Scalar for Refuse {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (texts, validity) = (input.texts(MESSAGE), input.validity(MESSAGE));
        match (0..input.len()).find(|&row| is_valid(validity, row)) {
            Some(row) => Err(Error::Refused { line: texts(row).to_owned() }),
            None => {
                output.all_null();
                Ok(())
            }
        }
    }
}
