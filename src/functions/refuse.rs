//! `time_bucket_refuse(message)` and `time_bucket_check(message)`: how a macro refuses in words.
//!
//! A macro knows the names of its columns inside `COLUMNS(lambda name: …)` alone, which takes no volatile function
//! such as DuckDB's `error`. This one is none, so that it serves there as everywhere else. The message is the error's
//! whole text; NULL refuses nothing.
//!
//! `time_bucket_check` is for what is known while the query is bound: it refuses a constant message then, before the
//! engine binds what surrounds it, and on an empty table too. So it can't stand in a branch that may not be taken.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Parameter, Registry, Scalar};
use kernel::is_valid;

const MESSAGE: Parameter = Parameter { index: 0, argument: Argument::Message };

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, at_bind) in [(c"time_bucket_refuse", false), (c"time_bucket_check", true)] {
        let types = signature([Type::Text], Type::Boolean);
        registry.scalars(name, types.map(|types| (types, Refuse { at_bind })))?;
    }
    Ok(())
}

struct Refuse {
    /// Whether a message that is constant is an error at bind.
    at_bind: bool,
}

impl Scalar for Refuse {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        match arguments.value(MESSAGE)? {
            Constant::Value(message) if self.at_bind => Err(Error::Refused { line: message.text() }),
            _ => Ok(()),
        }
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
