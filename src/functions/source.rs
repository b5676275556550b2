//! The names that macros are given. Each of these stands where the engine wants a text or a list of names while it binds a macro:
//!
//! - `time_bucket_source(macro, argument, value, …)` in `query_table(…)`: the first value, a table's name, once the arguments are what
//!   they have to be. It is the first thing that the engine binds, so that these words come before the engine's about names and
//!   casts that the user did not write.
//! - `time_bucket_columns(macro, all, results, names, …)` in `COLUMNS(…)`, where `*` is the list of all: a pattern of all
//!   columns, once the names are among them and none is named as a result is.
//! - `time_bucket_named(own, names, …)` and `time_bucket_others(own, all, names, …)` in `COLUMNS(…)` too, once the columns were
//!   renamed `u_<name>`: a pattern of the columns of these names, and one of all others. `own` is a column of the macro's that
//!   stands in where there are none, since the engine refuses to choose none.

use super::overloads::signature;
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Parameter, Registry, Scalar, Signature};

/// Registers the functions.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    type Of = fn(&Arguments<'_>) -> Result<String>;
    let functions: [(_, &[Type], Of); 4] = [
        (c"time_bucket_source", &[Type::Text], source),
        (c"time_bucket_columns", &[Type::Text, Type::Any, Type::Any], columns),
        (c"time_bucket_named", &[Type::Text], named),
        (c"time_bucket_others", &[Type::Text, Type::Any], others),
    ];
    for (name, first, of) in functions {
        let types = signature(first.iter().copied(), Type::Text).zip(Type::Any.logical());
        let types = types.map(|(types, rest)| Signature { rest: Some(rest), ..types });
        registry.scalars(name, types.map(|types| (types, Text(of))))?;
    }
    Ok(())
}

const fn parameter(index: usize) -> Parameter {
    Parameter { index, argument: Argument::Message }
}

/// A text that is known at bind.
struct Text(fn(&Arguments<'_>) -> Result<String>);

impl Scalar for Text {
    type Plan = String;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<String> {
        self.0(arguments)
    }

    fn execute(&self, plan: Option<&String>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let text = plan.ok_or(Error::NotConstant)?;
        (0..input.len()).for_each(|row| output.set_text(row, text));
        Ok(())
    }
}

/// The text that an argument is, empty for anything else.
#[inline(never)]
fn text(arguments: &Arguments<'_>, index: usize) -> Result<String> {
    match arguments.value(parameter(index))? {
        Constant::Value(given) => Ok(given.text()),
        _ => Ok(String::new()),
    }
}

/// The names that an argument lists, none for anything else.
#[inline(never)]
fn names(arguments: &Arguments<'_>, index: usize) -> Result<Vec<String>> {
    match arguments.value(parameter(index))? {
        Constant::Value(given) => Ok(given.names().unwrap_or_default()),
        _ => Ok(Vec::new()),
    }
}

/// The names that the arguments from `first` on list.
#[inline(never)]
fn all_names(arguments: &Arguments<'_>, first: usize) -> Result<Vec<String>> {
    let mut listed = Vec::new();
    for index in first..arguments.len() {
        listed.append(&mut names(arguments, index)?);
    }
    Ok(listed)
}

/// The name among these that SQL takes for the same.
fn find<'a>(names: &'a [String], name: &str) -> Option<&'a String> {
    names.iter().find(|other| other.eq_ignore_ascii_case(name))
}

fn columns(arguments: &Arguments<'_>) -> Result<String> {
    let (all, results) = (names(arguments, 1)?, names(arguments, 2)?);
    let refuse = |what: String| Err(Error::Refused { line: format!("{}: {what}", text(arguments, 0)?) });
    if let Some(name) = all_names(arguments, 3)?.iter().find(|name| find(&all, name).is_none()) {
        return refuse(format!("the table has no column {name}; its columns are {}", all.join(", ")));
    }
    if let Some(column) = all.iter().find(|column| find(&results, column).is_some()) {
        return refuse(format!("the input already has a column {column}, which is a result; rename it"));
    }
    Ok("(?s)^.*$".to_owned())
}

fn named(arguments: &Arguments<'_>) -> Result<String> {
    Ok("(?i)".to_owned() + &pattern(text(arguments, 0)?, all_names(arguments, 1)?.iter().map(String::as_str)))
}

fn others(arguments: &Arguments<'_>) -> Result<String> {
    let (all, but) = (names(arguments, 1)?, all_names(arguments, 2)?);
    let others = all.iter().filter_map(|column| column.strip_prefix("u_"));
    Ok(pattern(text(arguments, 0)?, others.filter(|name| find(&but, name).is_none())))
}

/// A pattern of the columns of these names, or of the macro's own if there are none.
fn pattern<'a>(own: String, names: impl Iterator<Item = &'a str>) -> String {
    let mut columns = String::new();
    for name in names {
        columns += if columns.is_empty() { "u_" } else { "|u_" };
        columns += &quote(name);
    }
    format!("^({})$", if columns.is_empty() { own } else { columns })
}

/// A pattern of this text alone.
fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() {
            true => quoted.push(c),
            false => quoted += &format!("\\x{{{:x}}}", u32::from(c)),
        }
    }
    quoted
}

/// What names one column.
const COLUMN: &str = "a column";

/// What the arguments name that are a text; the others are lists of names of columns.
fn named_by(argument: &str) -> Option<&'static str> {
    match argument {
        "tbl" | "panes" | "members" => Some("a table, a view or a CTE"),
        "ts" => Some(COLUMN),
        "zone" => Some("a time zone"),
        _ => None,
    }
}

fn source(arguments: &Arguments<'_>) -> Result<String> {
    /// Columns that a macro adds, among which the time may have a name.
    const RESULTS: &str = "the results";
    let of = text(arguments, 0)?;
    let refuse = |what: String| Err(Error::Refused { line: format!("{of}: {what}") });
    let mut met: Vec<(String, String)> = Vec::new();
    for index in (1..arguments.len() - 1).step_by(2) {
        let argument = text(arguments, index)?;
        let names = match (named_by(&argument), arguments.value(parameter(index + 1))?) {
            (Some(what), Constant::Value(given)) if given.is_text() && !given.text().is_empty() => {
                match what == COLUMN {
                    true => vec![given.text()],
                    false => continue,
                }
            }
            (Some(_), Constant::Null) if argument == "members" => continue,
            (None, Constant::Null) if argument == "watermark" => {
                return refuse(
                    "watermark must not be NULL; give the time up to which panes are stored".to_owned(),
                );
            }
            (None, _) if argument == "watermark" => continue,
            (Some(what), _) => {
                return refuse(format!("{argument} must be the name of {what}, as a string"));
            }
            (None, Constant::Value(given)) => match given.names() {
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
            (None, _) => {
                return refuse(format!("{argument} must be a list of names of columns; write [] for none"));
            }
        };
        for name in names {
            let is_same = |(other, of): &&(String, String)| {
                other.eq_ignore_ascii_case(&name) && (argument != RESULTS || of != "ts")
            };
            if let Some((_, other)) = met.iter().find(is_same) {
                return refuse(format!(
                    "the column {name} is named twice, in {other} and in {argument}; name it once, or copy it under another name"
                ));
            }
            met.push((name, argument.clone()));
        }
    }
    text(arguments, 2)
}
