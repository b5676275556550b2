//! Runs one test file in a process and a database of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use sqllogictest::{DefaultColumnType, MakeConnection, QueryExpect, Runner, SortMode, TestErrorKind};
use tempfile::TempDir;

use crate::engine::{Engine, EngineError, Session, Shared};
use crate::script::{self, Action, SqlRecord, Step};

/// The extension that `require` loads, and the ones that the engine brings along.
const EXTENSION: &str = "time_bucket";
const BUILT_IN: [&str; 3] = ["icu", "json", "parquet"];

/// What holds for all files of a run.
pub struct Settings {
    pub python: PathBuf,
    /// The extension file; none when `require` shall load nothing.
    pub extension: Option<PathBuf>,
    pub defines: Vec<(String, String)>,
    pub timeout: Duration,
}

/// How a file ended.
pub enum Outcome {
    Passed,
    /// With the reason.
    Skipped(String),
    /// With every failure: where, and what.
    Failed(Vec<String>),
}

/// The outcome and the number of records that ran.
pub struct Report {
    pub outcome: Outcome,
    pub records: usize,
}

/// Runs the file. Everything that can go wrong is in the report.
pub fn file(path: &Path, settings: &Settings) -> Report {
    let failed = |line: usize, message: String| Report {
        outcome: Outcome::Failed(vec![format!("{}:{line}\n{message}", path.display())]),
        records: 0,
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return failed(0, format!("can't read the file: {error}")),
    };
    let steps = match script::parse(path, &text) {
        Ok(steps) => steps,
        Err(error) => return failed(error.line, format!("bad test: {error}")),
    };
    let directory = match tempfile::tempdir() {
        Ok(directory) => directory,
        Err(error) => return failed(0, format!("can't make a temporary directory: {error}")),
    };
    let started = Engine::start(&settings.python, settings.timeout).and_then(|mut engine| {
        engine.open("", false)?;
        Ok(engine)
    });
    let shared = match started {
        Ok(engine) => Shared::new(engine),
        Err(error) => return failed(0, error.to_string()),
    };

    let mut run = FileRun {
        path,
        settings,
        directory,
        runner: runner(&shared),
        shared,
        database: String::new(),
        loaded: false,
        variables: Vec::new(),
        failures: Vec::new(),
        records: 0,
    };
    let stop = run.steps(&steps).err();
    let records = run.records;
    let mut failures = run.failures;
    let outcome = match stop {
        Some(Stop::Skip(reason)) if failures.is_empty() => Outcome::Skipped(reason),
        _ => {
            if failures.is_empty() && records == 0 {
                failures.push(format!("{}:0\nno record ran", path.display()));
            }
            if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures) }
        }
    };
    Report { outcome, records }
}

/// Why the rest of a file is not run.
enum Stop {
    Skip(String),
    Failed,
}

type Connect = Box<dyn FnMut() -> std::future::Ready<Result<Session, EngineError>>>;

fn runner(shared: &Shared) -> Runner<Session, Connect> {
    let shared = shared.clone();
    configured(Box::new(move || std::future::ready(Ok(shared.connect()))))
}

fn configured<M: MakeConnection<Conn = Session>>(connect: M) -> Runner<Session, M> {
    let mut runner = Runner::new(connect);
    runner.with_validator(|_, actual, expected| script::rows_match(actual, expected));
    runner.with_column_validator(|actual, expected| actual.len() == expected.len());
    runner
}

struct FileRun<'a> {
    path: &'a Path,
    settings: &'a Settings,
    directory: TempDir,
    shared: Shared,
    runner: Runner<Session, Connect>,
    /// The path of the open database; empty in memory.
    database: String,
    loaded: bool,
    /// What `${name}` stands for.
    variables: Vec<(String, String)>,
    failures: Vec<String>,
    records: usize,
}

impl FileRun<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for Step { line, action } in steps {
            match action {
                Action::Run { record, error } => self.record(*line, record, error.as_deref())?,
                Action::Require(name) => self.require(*line, name)?,
                Action::RequireEnv { name, value } => self.require_env(name, value.as_deref())?,
                Action::Load { path, read_only } => {
                    self.database = self.replaced(path);
                    if !read_only {
                        self.remove_database();
                    }
                    self.reopen(*line, *read_only)?;
                }
                Action::Restart => self.reopen(*line, false)?,
                Action::Foreach { name, values, body } => {
                    for value in values {
                        self.variables.push((name.clone(), value.clone()));
                        let done = self.steps(body);
                        self.variables.pop();
                        done?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, line: usize, message: &str) {
        let mut place = format!("{}:{line}", self.path.display());
        for (name, value) in &self.variables {
            place += &format!(" {name}={value}");
        }
        self.failures.push(format!("{place}\n{message}"));
    }

    fn stop(&mut self, line: usize, message: &str) -> Result<(), Stop> {
        self.fail(line, message);
        Err(Stop::Failed)
    }

    fn replaced(&self, text: &str) -> String {
        let mut text = text.replace("__TEST_DIR__", &self.directory.path().to_string_lossy());
        for (name, value) in self.variables.iter().rev() {
            text = text.replace(&format!("${{{name}}}"), value);
        }
        text
    }

    fn require(&mut self, line: usize, name: &str) -> Result<(), Stop> {
        if BUILT_IN.contains(&name) || (name == EXTENSION && self.loaded) {
            return Ok(());
        }
        if name != EXTENSION {
            return self.stop(line, &format!("require {name}: this runner has no such extension"));
        }
        self.loaded = true;
        self.load(line)
    }

    fn load(&mut self, line: usize) -> Result<(), Stop> {
        let Some(extension) = self.settings.extension.as_deref().filter(|_| self.loaded) else {
            return Ok(());
        };
        let loaded = self.shared.state().engine.load(extension);
        loaded.or_else(|error| self.stop(line, &format!("LOAD {}: {error}", extension.display())))
    }

    fn require_env(&mut self, name: &str, value: Option<&str>) -> Result<(), Stop> {
        let defined = self.settings.defines.iter().find(|(key, _)| key == name);
        match (defined, value) {
            (None, _) => Err(Stop::Skip(format!("{name} is not defined"))),
            (Some((_, is)), Some(want)) if is != want => {
                Err(Stop::Skip(format!("{name} is {is}, not {want}")))
            }
            (Some(pair), _) => {
                self.variables.push(pair.clone());
                Ok(())
            }
        }
    }

    fn remove_database(&self) {
        for file in [self.database.clone(), format!("{}.wal", self.database)] {
            // What is not there need not be removed; what stays in the way makes the open fail.
            let _ = fs::remove_file(file);
        }
    }

    /// Opens the database anew; the old connections are gone with everything they held.
    fn reopen(&mut self, line: usize, read_only: bool) -> Result<(), Stop> {
        self.runner = runner(&self.shared);
        let opened = self.shared.state().engine.open(&self.database, read_only);
        match opened {
            Ok(()) => self.load(line),
            Err(error) => self.stop(line, &format!("can't open {:?}: {error}", self.database)),
        }
    }

    /// Runs one record. What fails without touching the state of the database does not end the file.
    fn record(&mut self, line: usize, record: &SqlRecord, error: Option<&str>) -> Result<(), Stop> {
        let mut record = record.clone();
        if let Some(sql) = script::sql_mut(&mut record) {
            *sql = self.replaced(sql);
        }
        self.records += 1;
        let result = self.runner.run(record.clone());
        let fatal = self.shared.state().fatal.take();
        if let Some(fatal) = fatal {
            let sql = script::sql_mut(&mut record).map(|sql| sql.clone()).unwrap_or_default();
            return self.stop(line, &format!("{fatal}\n[SQL] {sql}"));
        }
        let Err(failure) = result else { return Ok(()) };
        let (message, state_lost) = self.explain(&record, error, failure.kind());
        self.fail(line, &message);
        if state_lost { Err(Stop::Failed) } else { Ok(()) }
    }

    /// The failure in words, and whether what follows in the file has lost its ground.
    fn explain(&self, record: &SqlRecord, error: Option<&str>, kind: TestErrorKind) -> (String, bool) {
        match kind {
            TestErrorKind::QueryResultMismatch { sql, expected, .. } => {
                let rows = sorted(self.shared.state().rows.clone(), script::expected_rows(record));
                (format!("wrong result\n[SQL] {sql}\n{}", diff(&expected, &rows)), false)
            }
            TestErrorKind::QueryResultColumnsMismatch { sql, expected, actual } => {
                let rows = sorted(self.shared.state().rows.clone(), None);
                let (want, is) = (expected.len(), actual.len());
                (format!("wrong number of columns: expected {want}, got {is}\n[SQL] {sql}\n{rows}"), false)
            }
            TestErrorKind::ErrorMismatch { sql, err, .. } => {
                let expected = error.unwrap_or_default();
                (format!("wrong error\n[SQL] {sql}\n{}", diff(expected, &err.to_string())), false)
            }
            TestErrorKind::Ok { sql, .. } => {
                let expected = error.unwrap_or_default();
                (format!("no error, expected: {expected}\n[SQL] {sql}"), true)
            }
            TestErrorKind::Fail { sql, err, kind } => (
                format!("unexpected error: {err}\n[SQL] {sql}"),
                matches!(kind, sqllogictest::RecordKind::Statement),
            ),
            other => (other.to_string(), true),
        }
    }
}

/// The rows as the file would state them.
fn sorted(mut rows: Vec<Vec<String>>, expected: Option<&QueryExpect<DefaultColumnType>>) -> String {
    if let Some(QueryExpect::Results { sort_mode: Some(mode), .. }) = expected {
        match mode {
            SortMode::NoSort => {}
            SortMode::RowSort => rows.sort_unstable(),
            SortMode::ValueSort => {
                rows = rows.into_iter().flatten().map(|value| vec![value]).collect();
                rows.sort_unstable();
            }
        }
    }
    rows.iter().map(|row| row.join("\t")).collect::<Vec<_>>().join("\n")
}

fn diff(expected: &str, actual: &str) -> String {
    let mut text = "[diff] - expected, + actual".to_owned();
    for change in TextDiff::from_lines(expected, actual).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        text += &format!("\n{sign}{}", change.value().trim_end_matches('\n'));
    }
    text
}
