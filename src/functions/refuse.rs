//! How macros refuse in words: `time_bucket_refuse` and those that say one thing for several macros.
//!
//! A macro knows the names of its columns inside `COLUMNS(lambda name: …)` alone, which takes no volatile function
//! such as DuckDB's `error`. These are none, so that they serve there as everywhere else. The message is the error's
//! whole line.
//!
//! - `time_bucket_refuse(message)` refuses a message that is not NULL, at a row.
//! - `time_bucket_numeric(macro, type)` and `time_bucket_paned(macro, type)` refuse a type that has no moments, or is no pane.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, BOOLEANS, Chunk, Constant, Output, Parameter, Registry, Scalar};
use kernel::is_valid;

const MESSAGE: Parameter = Parameter { index: 0, argument: Argument::Message };
const MACRO: Parameter = MESSAGE;
const SUBJECT: Parameter = Parameter { index: 1, argument: Argument::Message };

/// Registers the functions.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let types = signature([Type::Text], Type::Boolean);
    registry.scalars(c"time_bucket_refuse", types.map(|types| (types, Refuse)))?;
    for (name, refused) in
        [(c"time_bucket_numeric", not_numeric as Refusal), (c"time_bucket_paned", not_paned)]
    {
        let types = signature([Type::Text, Type::Text], Type::Boolean);
        registry.scalars(name, types.map(|types| (types, OfType(refused))))?;
    }
    Ok(())
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

/// What is wrong with a type, as the engine writes it.
type Refusal = fn(&str) -> Option<String>;

fn not_numeric(of: &str) -> Option<String> {
    const NUMBERS: [&str; 12] = [
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "BOOLEAN",
        "FLOAT",
        "DOUBLE",
    ];
    let is_number = NUMBERS.contains(&of) || of.starts_with("DECIMAL(");
    (!is_number).then(|| {
        format!("a value of type {of} is no number; cast it to one, as in epoch(x) for an INTERVAL x")
    })
}

fn not_paned(of: &str) -> Option<String> {
    (!of.starts_with("STRUCT(n BIGINT, ")).then(|| {
        "the store has a column that is neither a pane nor among keys; name all of its keys".to_owned()
    })
}

struct OfType(Refusal);

impl Scalar for OfType {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        let (of, subject) = (arguments.value(MACRO)?, arguments.value(SUBJECT)?);
        let (Constant::Value(of), Constant::Value(subject)) = (of, subject) else { return Ok(()) };
        match self.0(&subject.text()) {
            Some(wrong) => Err(Error::Refused { line: format!("{}: {wrong}", of.text()) }),
            None => Ok(()),
        }
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.write(BOOLEANS).0.fill(1);
        Ok(())
    }
}
