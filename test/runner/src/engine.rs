//! The engine under test: DuckDB inside a Python process, one process for each test file.
//!
//! A request and its reply are one line of JSON each. A process that dies or does not answer in time is a
//! [`EngineError`] that no `statement error` can match, so a crash never passes for an expected error.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use sqllogictest::{DB, DBOutput, DefaultColumnType};

const DRIVER: &str = include_str!("../engine.py");

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// What a user of the engine sees, and the only variant that a test may expect.
    #[error("{0}")]
    Sql(String),
    #[error("the engine reports a defect of its own or of the extension: {0}")]
    Internal(String),
    #[error("the engine process died ({0})")]
    Died(String),
    #[error("no answer within {} s: hang", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("the engine's driver failed: {0}")]
    Driver(String),
}

/// The rows of one statement, as text.
pub struct Table {
    pub columns: usize,
    pub rows: Vec<Vec<String>>,
}

/// A running engine process. Dropping it ends the process.
pub struct Engine {
    child: Child,
    stdin: ChildStdin,
    replies: Receiver<String>,
    timeout: Duration,
    version: String,
}

impl Engine {
    /// Starts the interpreter and waits until its engine answers.
    pub fn start(python: &Path, timeout: Duration) -> Result<Self, EngineError> {
        let mut child = Command::new(python)
            .args(["-c", DRIVER])
            .env("PYTHONSAFEPATH", "1")
            .env("PYTHONUTF8", "1")
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| EngineError::Driver(format!("can't start {}: {error}", python.display())))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(EngineError::Driver("the engine process has no pipes".into()));
        };
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            // Ends at end of file; the receiver then sees the channel closed.
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut engine = Self { child, stdin, replies, timeout, version: String::new() };
        let hello = engine.receive()?;
        engine.version = hello["version"].as_str().unwrap_or("unknown").to_owned();
        Ok(engine)
    }

    /// The version of DuckDB, for example `1.5.6`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Closes what is open and opens the database at `path`; an empty path is a database in memory.
    pub fn open(&mut self, path: &str, read_only: bool) -> Result<(), EngineError> {
        self.call(&json!({"op": "open", "path": path, "read_only": read_only})).map(drop)
    }

    /// LOADs an extension file into the open database.
    pub fn load(&mut self, file: &Path) -> Result<(), EngineError> {
        self.call(&json!({"op": "load", "file": file})).map(drop)
    }

    /// Executes `sql` once, on the connection with this number.
    pub fn sql(&mut self, connection: usize, sql: &str) -> Result<Table, EngineError> {
        self.call(&json!({"op": "sql", "con": connection, "sql": sql}))
    }

    fn call(&mut self, request: &Value) -> Result<Table, EngineError> {
        if writeln!(self.stdin, "{request}").and_then(|()| self.stdin.flush()).is_err() {
            return Err(self.death());
        }
        let reply = self.receive()?;
        if let Some(message) = reply["error"].as_str() {
            let internal = ["INTERNAL Error", "FATAL Error"].iter().any(|kind| message.contains(kind));
            let wrap = if internal { EngineError::Internal } else { EngineError::Sql };
            return Err(wrap(message.to_owned()));
        }
        if let Some(message) = reply["driver"].as_str() {
            return Err(EngineError::Driver(message.to_owned()));
        }
        let table = || {
            let columns = usize::try_from(reply["columns"].as_u64()?).ok()?;
            let row = |row: &Value| -> Option<Vec<String>> {
                row.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
            };
            let rows = reply["rows"].as_array()?.iter().map(row).collect::<Option<_>>()?;
            Some(Table { columns, rows })
        };
        table().ok_or_else(|| EngineError::Driver(format!("not a reply: {reply}")))
    }

    fn receive(&mut self) -> Result<Value, EngineError> {
        match self.replies.recv_timeout(self.timeout) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| EngineError::Driver(error.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                Err(EngineError::Timeout(self.timeout))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.death()),
        }
    }

    fn death(&mut self) -> EngineError {
        // Its pipes are closed, so it is gone or as good as gone.
        std::thread::sleep(Duration::from_millis(50));
        let status = match self.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            _ => "closed its pipes".to_owned(),
        };
        EngineError::Died(status)
    }

    fn end(&mut self) {
        // Both fail only for a process that has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
    }
}

/// One engine, shared by the connections of a test file.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<State>>);

pub struct State {
    pub engine: Engine,
    /// The last result, in the engine's order.
    pub rows: Vec<Vec<String>>,
    /// Set by the first error that no test may expect.
    pub fatal: Option<EngineError>,
    connections: usize,
}

impl Shared {
    pub fn new(engine: Engine) -> Self {
        Self(Arc::new(Mutex::new(State { engine, rows: Vec::new(), fatal: None, connections: 0 })))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection to the open database.
    pub fn connect(&self) -> Session {
        let mut state = self.state();
        state.connections += 1;
        Session { number: state.connections, shared: self.clone() }
    }
}

/// A connection, which keeps its transactions, settings, temporary tables and prepared statements.
pub struct Session {
    number: usize,
    shared: Shared,
}

impl DB for Session {
    type Error = EngineError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, EngineError> {
        let mut state = self.shared.state();
        state.rows.clear();
        match state.engine.sql(self.number, sql) {
            Ok(table) => {
                state.rows.clone_from(&table.rows);
                Ok(DBOutput::Rows { types: vec![DefaultColumnType::Any; table.columns], rows: table.rows })
            }
            Err(error) => {
                if !matches!(error, EngineError::Sql(_)) {
                    state.fatal = Some(error.clone());
                }
                Err(error)
            }
        }
    }
}
