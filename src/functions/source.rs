//! `time_bucket_source(tbl, macro, argument, names, …)`: the table that a macro reads, once the lists of names that it was
//! given are what they have to be.
//!
//! It stands in `query_table(…)`, which is the first thing that the engine binds of a macro; so its words come before the
//! engine's about names and casts that the user did not write.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Parameter, Registry, Scalar, Signature};

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let types = signature([Type::Any, Type::Text], Type::Text)
        .zip(Type::Any.logical())
        .map(|(types, rest)| (Signature { rest: Some(rest), ..types }, Source));
    registry.scalars(c"time_bucket_source", types)
}

struct Source;

impl Source {
    const TABLE: Parameter = Parameter { index: 0, argument: Argument::Message };

    const fn parameter(index: usize) -> Parameter {
        Parameter { index, argument: Argument::Message }
    }
}

impl Scalar for Source {
    /// The table's name.
    type Plan = Option<String>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<String>> {
        let text = |index| match arguments.value(Self::parameter(index))? {
            Constant::Value(given) => Ok::<_, Error>(given.text()),
            _ => Ok(String::new()),
        };
        let of = text(1)?;
        let refuse = |what: String| Err(Error::Refused { line: format!("{of}: {what}") });
        let mut met: Vec<(String, String)> = Vec::new();
        for index in (2..arguments.len() - 1).step_by(2) {
            let argument = text(index)?;
            let names = match arguments.value(Self::parameter(index + 1))? {
                Constant::Value(given) => match given.names() {
                    Some(names) => names,
                    None => {
                        let given =
                            given.printed().map_or_else(|| "it is".to_owned(), |text| format!("'{text}' is"));
                        return refuse(format!(
                            "{argument} must be a list of names of columns, which {given} not; write {argument} as ['name']"
                        ));
                    }
                },
                _ => {
                    return refuse(format!(
                        "{argument} must be a list of names of columns; write [] for none"
                    ));
                }
            };
            for name in names {
                if let Some((_, other)) = met.iter().find(|(met, _)| met.eq_ignore_ascii_case(&name)) {
                    return refuse(format!(
                        "the column {name} is named twice, in {other} and in {argument}; name it once, or copy it under another name"
                    ));
                }
                met.push((name, argument.clone()));
            }
        }
        match arguments.value(Self::TABLE)? {
            Constant::Value(table) => Ok(Some(table.text())),
            _ => refuse("tbl must be the name of a table, a view or a CTE, as a string".to_owned()),
        }
    }

    fn execute(
        &self,
        plan: Option<&Option<String>>,
        input: &Chunk<'_>,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let table = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        (0..input.len()).for_each(|row| output.set_text(row, table));
        Ok(())
    }
}
