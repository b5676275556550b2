//! `time_bucket_source(tbl, macro, argument, names, …)`: the table that a macro reads, once the names of columns that it was
//! given are what they have to be; and `time_bucket_columns(macro, all, names, …)`: true, once they are among those of the table.
//!
//! The first stands in `query_table(…)`, which is the first thing that the engine binds of a macro; so its words come before the
//! engine's about names and casts that the user did not write. The second stands in `COLUMNS(…)`, where `*` is the list of all.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, BOOLEANS, Chunk, Constant, Output, Parameter, Registry, Scalar, Signature};

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let types = signature([Type::Any, Type::Text], Type::Text)
        .zip(Type::Any.logical())
        .map(|(types, rest)| (Signature { rest: Some(rest), ..types }, Source));
    registry.scalars(c"time_bucket_source", types)?;
    let types = signature([Type::Text, Type::Any], Type::Boolean)
        .zip(Type::Any.logical())
        .map(|(types, rest)| (Signature { rest: Some(rest), ..types }, Columns));
    registry.scalars(c"time_bucket_columns", types)
}

const fn parameter(index: usize) -> Parameter {
    Parameter { index, argument: Argument::Message }
}

/// Whether a table has columns: true, or a refusal.
struct Columns;

impl Scalar for Columns {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        let names = |index| match arguments.value(parameter(index))? {
            Constant::Value(given) => Ok::<_, Error>(given.names().unwrap_or_default()),
            _ => Ok(Vec::new()),
        };
        let all = names(1)?;
        for index in 2..arguments.len() {
            let has = |name: &String| all.iter().any(|column| column.eq_ignore_ascii_case(name));
            if let (Constant::Value(of), Some(name)) =
                (arguments.value(parameter(0))?, names(index)?.into_iter().find(|name| !has(name)))
            {
                let (of, all) = (of.text(), all.join(", "));
                let line = format!("{of}: the table has no column {name}; its columns are {all}");
                return Err(Error::Refused { line });
            }
        }
        Ok(())
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.write(BOOLEANS).0.fill(1);
        Ok(())
    }
}

struct Source;

impl Source {
    const TABLE: Parameter = parameter(0);
}

impl Scalar for Source {
    /// The table's name.
    type Plan = Option<String>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<String>> {
        let text = |index| match arguments.value(parameter(index))? {
            Constant::Value(given) => Ok::<_, Error>(given.text()),
            _ => Ok(String::new()),
        };
        let of = text(1)?;
        let refuse = |what: String| Err(Error::Refused { line: format!("{of}: {what}") });
        let mut met: Vec<(String, String)> = Vec::new();
        for index in (2..arguments.len() - 1).step_by(2) {
            let argument = text(index)?;
            let names = match arguments.value(parameter(index + 1))? {
                Constant::Value(given) if argument == "ts" => match given.is_text() {
                    true => vec![given.text()],
                    false => return refuse("ts must be the name of a column, as a string".to_owned()),
                },
                Constant::Value(given) => match given.names() {
                    Some(names) if names.is_empty() && argument == "vals" => {
                        return refuse("vals names no column; give at least one".to_owned());
                    }
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
            Constant::Value(table) if table.is_text() => Ok(Some(table.text())),
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
