//! Reads a test file in DuckDB's sqllogictest dialect.
//!
//! The records (`statement`, `query`) are parsed by the `sqllogictest` crate. What its dialect lacks or
//! understands otherwise is taken out first, line for line, so that every line keeps its number: DuckDB's
//! directives, connection names after `statement ok`, and the text under `statement error`, which DuckDB ends
//! at one blank line and looks for anywhere in the message. What DuckDB's own runner would refuse is refused
//! here too, and so is what would let a record pass without checking anything.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use sqllogictest::{
    Connection, DefaultColumnType, ExpectedError, QueryExpect, Record, StatementExpect, parse_with_name,
};

pub type SqlRecord = Record<DefaultColumnType>;

/// A test file that can't be run.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BadTest {
    pub line: usize,
    pub message: String,
}

/// One thing to do, with the line it stands in.
#[derive(Debug)]
pub struct Step {
    pub line: usize,
    pub action: Action,
}

#[derive(Debug)]
pub enum Action {
    Run {
        record: SqlRecord,
        /// The text under `statement error`, as written.
        error: Option<String>,
    },
    Require(String),
    RequireEnv {
        name: String,
        value: Option<String>,
    },
    Load {
        path: String,
        read_only: bool,
    },
    Restart,
    Foreach {
        name: String,
        values: Vec<String>,
        body: Vec<Step>,
    },
}

/// Reads the whole file, or says which line is wrong.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Step>, BadTest> {
    let mut scan = Scan { lines: text.lines().collect(), at: 0, plain: Vec::new(), found: BTreeMap::new() };
    while scan.at < scan.lines.len() {
        scan.item()?;
    }
    let Scan { plain, mut found, .. } = scan;
    let records = parse_with_name(&plain.join("\n"), path.to_string_lossy()).map_err(|error| BadTest {
        line: error.location().line() as usize,
        message: error.kind().to_string(),
    })?;
    for record in records {
        let (Record::Statement { loc, .. } | Record::Query { loc, .. }) = &record else {
            continue;
        };
        let line = loc.line() as usize;
        let Some(Found::Record { slot, .. }) = found.get_mut(&line) else {
            return bad(line, "not a record of this dialect");
        };
        *slot = Some(record);
    }
    tree(&mut found.into_iter().peekable(), None)
}

fn bad<T>(line: usize, message: impl Into<String>) -> Result<T, BadTest> {
    Err(BadTest { line, message: message.into() })
}

/// What a line starts, before loops are nested.
enum Found {
    Record { slot: Option<SqlRecord>, connection: Option<String>, error: Option<ErrorText> },
    Directive(Action),
    Endloop,
}

struct ErrorText {
    written: String,
    matcher: Regex,
}

struct Scan<'a> {
    lines: Vec<&'a str>,
    at: usize,
    /// The file as the crate shall read it, line for line.
    plain: Vec<String>,
    found: BTreeMap<usize, Found>,
}

impl<'a> Scan<'a> {
    fn number(&self) -> usize {
        self.at + 1
    }

    fn take(&mut self, plain: impl Into<String>) {
        self.plain.push(plain.into());
        self.at += 1;
    }

    /// The lines up to a blank one.
    fn block(&mut self, keep: bool) -> Vec<(usize, &'a str)> {
        let mut block = Vec::new();
        while let Some(&line) = self.lines.get(self.at).filter(|line| !line.is_empty()) {
            block.push((self.number(), line));
            self.take(if keep { line } else { "" });
        }
        block
    }

    fn item(&mut self) -> Result<(), BadTest> {
        let line = self.lines[self.at];
        if line.trim().is_empty() || line.starts_with('#') {
            self.take("");
            return Ok(());
        }
        if line.starts_with(char::is_whitespace) {
            return bad(self.number(), "a directive starts in the first column");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "statement" => self.statement(&words[1..]),
            "query" => self.query(&words[1..]),
            _ => self.directive(&words),
        }
    }

    fn statement(&mut self, words: &[&str]) -> Result<(), BadTest> {
        let start = self.number();
        let (fails, connection) = match words {
            ["ok"] => (false, None),
            ["error"] => (true, None),
            ["ok", name] => (false, Some(connection_name(start, name)?)),
            ["error", name] => (true, Some(connection_name(start, name)?)),
            _ => return bad(start, "expected: statement ok|error [connection]"),
        };
        self.take(if fails { "statement error" } else { "statement ok" });
        let has_result = self.sql(start)?;
        let error = match (fails, has_result) {
            (false, false) => None,
            (false, true) => return bad(start, "statement ok has no result; use query"),
            (true, false) => return bad(start, "statement error without the error's text after ----"),
            (true, true) => {
                self.take("");
                Some(self.error_text(start)?)
            }
        };
        self.found.insert(start, Found::Record { slot: None, connection, error });
        Ok(())
    }

    fn error_text(&mut self, start: usize) -> Result<ErrorText, BadTest> {
        let lines: Vec<&str> = self.block(false).into_iter().map(|(_, line)| line).collect();
        let written = lines.join("\n");
        if written.contains("${") {
            return bad(start, "variables are replaced in SQL only, not in an error's text");
        }
        let (pattern, text) = match written.strip_prefix("<REGEX>:") {
            Some(pattern) => (format!("(?s){pattern}"), pattern),
            None => (regex::escape(&written), written.as_str()),
        };
        if text.trim().is_empty() {
            return bad(start, "statement error without the error's text after ----");
        }
        if text.starts_with("<!REGEX>:") {
            return bad(start, "an error's text says what the error is, not what it isn't");
        }
        let matcher = Regex::new(&pattern).or_else(|error| bad(start, error.to_string()))?;
        Ok(ErrorText { written, matcher })
    }

    fn query(&mut self, words: &[&str]) -> Result<(), BadTest> {
        let start = self.number();
        let (types, sort, connection) = match words {
            [types] => (*types, "nosort", None),
            [types, sort @ ("nosort" | "rowsort" | "valuesort")] => (*types, *sort, None),
            [types, name] => (*types, "nosort", Some(connection_name(start, name)?)),
            _ => {
                return bad(start, "expected: query TYPES [nosort|rowsort|valuesort or a connection]");
            }
        };
        if types.is_empty() || !types.chars().all(|kind| "TIR".contains(kind)) {
            return bad(start, format!("{types:?} is not a string of T, I and R, one for each column"));
        }
        self.take(format!("query {types} {sort}"));
        if !self.sql(start)? {
            return bad(start, "query without its rows after ----");
        }
        self.take("----");
        let columns = if sort == "valuesort" { 1 } else { types.len() };
        for (line, row) in self.block(true) {
            let fields: Vec<&str> = row.split('\t').collect();
            if fields.len() != columns {
                let (is, want) = (fields.len(), columns);
                return bad(line, format!("expected row has {is} tab-separated values, not {want}"));
            }
            for field in fields {
                if field.is_empty() {
                    return bad(line, "an empty value is written (empty)");
                }
                if let Some((_, pattern)) = field_pattern(field) {
                    pattern.or_else(|error| bad(line, error.to_string()))?;
                }
            }
        }
        self.found.insert(start, Found::Record { slot: None, connection, error: None });
        Ok(())
    }

    /// The record's SQL; tells whether `----` follows.
    fn sql(&mut self, start: usize) -> Result<bool, BadTest> {
        let first = self.at;
        while let Some(&line) = self.lines.get(self.at).filter(|line| !line.is_empty()) {
            if line == "----" {
                break;
            }
            if line.trim() == "----" {
                return bad(self.number(), "white space around ----");
            }
            if line.starts_with('#') {
                return bad(
                    self.number(),
                    "DuckDB's runner ends a record at a # line; write -- for a comment",
                );
            }
            self.take(line);
        }
        if self.at == first {
            return bad(start, "record without SQL");
        }
        Ok(self.lines.get(self.at) == Some(&"----"))
    }

    fn directive(&mut self, words: &[&str]) -> Result<(), BadTest> {
        let line = self.number();
        let own = |text: &&str| (*text).to_owned();
        let found = match words {
            ["require", name] => Found::Directive(Action::Require(own(name))),
            ["require-env", name, value @ ..] if value.len() <= 1 => {
                Found::Directive(Action::RequireEnv { name: own(name), value: value.first().map(own) })
            }
            ["load"] => Found::Directive(Action::Load { path: String::new(), read_only: false }),
            ["load", path] => Found::Directive(Action::Load { path: own(path), read_only: false }),
            ["load", path, "readonly"] => Found::Directive(Action::Load { path: own(path), read_only: true }),
            ["restart"] => Found::Directive(Action::Restart),
            ["foreach", name, values @ ..] if !values.is_empty() && !name.contains(',') => {
                if let Some(value) = values.iter().find(|value| value.starts_with(['<', '!'])) {
                    return bad(line, format!("{value}: name each value of a foreach"));
                }
                let values = values.iter().map(own).collect();
                Found::Directive(Action::Foreach { name: own(name), values, body: Vec::new() })
            }
            ["endloop"] => Found::Endloop,
            _ => return bad(line, format!("unknown directive: {}", words.join(" "))),
        };
        self.take("");
        if self.lines.get(self.at).is_some_and(|next| !next.trim().is_empty() && !next.starts_with('#')) {
            return bad(line, format!("a blank line must follow {}", words[0]));
        }
        self.found.insert(line, found);
        Ok(())
    }
}

fn connection_name(line: usize, name: &str) -> Result<String, BadTest> {
    // DuckDB takes any word; a misspelt sort mode would be one, too.
    if name.starts_with("con") {
        Ok(name.to_owned())
    } else {
        bad(line, format!("{name:?} is neither a sort mode nor a connection (con…)"))
    }
}

/// Nests the loops and puts each record together.
fn tree(
    found: &mut std::iter::Peekable<impl Iterator<Item = (usize, Found)>>,
    open: Option<usize>,
) -> Result<Vec<Step>, BadTest> {
    let mut steps = Vec::new();
    while let Some((line, item)) = found.next() {
        let action = match item {
            Found::Endloop if open.is_some() => return Ok(steps),
            Found::Endloop => return bad(line, "endloop without foreach"),
            Found::Directive(Action::Foreach { name, values, .. }) => {
                Action::Foreach { name, values, body: tree(found, Some(line))? }
            }
            Found::Directive(_) if open.is_some() => return bad(line, "not allowed inside a foreach"),
            Found::Directive(action) => action,
            Found::Record { slot, connection: label, error } => {
                let Some(mut record) = slot else {
                    return bad(line, "record was not understood");
                };
                if let Record::Statement { connection, .. } | Record::Query { connection, .. } = &mut record {
                    *connection = label.map_or(Connection::Default, Connection::Named);
                }
                let written = error.as_ref().map(|error| error.written.clone());
                if let (Record::Statement { expected, .. }, Some(error)) = (&mut record, error) {
                    *expected = StatementExpect::Error(ExpectedError::Inline(error.matcher));
                }
                Action::Run { record, error: written }
            }
        };
        steps.push(Step { line, action });
    }
    match open {
        Some(line) => bad(line, "foreach without endloop"),
        None => Ok(steps),
    }
}

/// The pattern of an expected value `<REGEX>:…` (true) or `<!REGEX>:…` (false).
fn field_pattern(field: &str) -> Option<(bool, Result<Regex, regex::Error>)> {
    let (wanted, pattern) = match field.strip_prefix("<REGEX>:") {
        Some(pattern) => (true, pattern),
        None => (false, field.strip_prefix("<!REGEX>:")?),
    };
    Some((wanted, Regex::new(&format!("(?s){pattern}"))))
}

/// Whether one value is what the file expects, to the character.
fn value_matches(actual: &str, expected: &str) -> bool {
    match field_pattern(expected) {
        Some((wanted, Ok(pattern))) => pattern.is_match(actual) == wanted,
        Some((_, Err(_))) => false,
        None => actual == expected,
    }
}

/// Whether the rows are the expected ones: as many, in this order, with as many columns each.
pub fn rows_match(actual: &[Vec<String>], expected: &[String]) -> bool {
    let row_matches = |row: &Vec<String>, line: &String| {
        let fields: Vec<&str> = line.split('\t').collect();
        fields.len() == row.len() && row.iter().zip(fields).all(|(value, field)| value_matches(value, field))
    };
    actual.len() == expected.len() && actual.iter().zip(expected).all(|(row, line)| row_matches(row, line))
}

/// The record's SQL.
pub fn sql_mut(record: &mut SqlRecord) -> Option<&mut String> {
    match record {
        Record::Statement { sql, .. } | Record::Query { sql, .. } => Some(sql),
        _ => None,
    }
}

/// What a `query` expects.
pub fn expected_rows(record: &SqlRecord) -> Option<&QueryExpect<DefaultColumnType>> {
    match record {
        Record::Query { expected, .. } => Some(expected),
        _ => None,
    }
}
