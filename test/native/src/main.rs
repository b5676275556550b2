//! Serves one DuckDB library over JSON lines, as `test/runner/engine.py`, which has the protocol, serves a Python's.
//!
//! For platforms on which no Python is at hand: linux_arm64 under qemu, windows_amd64 under Wine, musl. DuckDB's wheels hold the
//! whole engine with its C API, so the library is the one that Python would load; of Python itself it asks only the names,
//! which another library has to bring (see `platforms/engines.py`).
//!
//! `sqlengine LIBRARY [NAMES]`; what stands after them is not read.

mod capi;
mod split;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;

use capi::{Answer, Connection, Database, Engine, Error, Kind};
use serde_json::{Value, json};

const SETTINGS: [(&str, &str); 2] =
    [("allow_unsigned_extensions", "true"), ("autoinstall_known_extensions", "false")];

/// One open database and its connections, by number.
struct Session<'a> {
    engine: &'a Engine,
    // A HashMap would ask for a library of Windows' that Wine 8 lacks.
    connections: BTreeMap<u64, Connection<'a>>,
    database: Option<Database<'a>>,
}

impl<'a> Session<'a> {
    fn open(&mut self, path: &str, read_only: bool) -> Result<(), Error> {
        self.connections.clear();
        // The next may be the same file.
        self.database = None;
        let access = ("access_mode", if read_only { "read_only" } else { "automatic" });
        self.database = Some(self.engine.open(path, SETTINGS.into_iter().chain([access]))?);
        Ok(())
    }

    fn connect(&self) -> Result<Connection<'a>, Error> {
        self.database.as_ref().ok_or_else(|| Error::Driver("no database is open".into()))?.connect()
    }

    fn load(&self, file: &str) -> Result<(), Error> {
        self.connect()?.run(&format!("LOAD '{}'", file.replace('\'', "''"))).map(drop)
    }

    fn sql(&mut self, number: u64, sql: &str) -> Result<Answer, Error> {
        if !self.connections.contains_key(&number) {
            let connection = self.connect()?;
            connection.run("SET TimeZone = 'UTC'")?;
            self.connections.insert(number, connection);
        }
        let connection = &self.connections[&number];
        let statements = connection.extract(sql)?;
        let last = statements
            .len()
            .checked_sub(1)
            .ok_or_else(|| Error::Driver("the record holds no statement".into()))?;
        for index in 0..last {
            statements.prepare(index)?.execute()?;
        }
        let prepared = statements.prepare(last)?;
        match prepared.kind() {
            // The engine's own cast, since no type of ours holds every value: by position, as names may be empty or repeated.
            Kind::Select => {
                let columns = prepared.columns();
                let casts: Vec<String> = (1..=columns).map(|column| format!("#{column}::VARCHAR")).collect();
                let text = split::last(sql);
                connection.run(&format!("SELECT {} FROM (\n{text}\n)", casts.join(", ")))?.text()
            }
            Kind::Create => prepared.execute().map(|_| Answer::default()),
            Kind::Other => {
                let mut result = prepared.execute()?;
                if result.is_text() { result.text() } else { self.cast(connection, &mut result) }
            }
        }
    }

    /// The answer of what is no query and can't be asked for as one: its values go through a table, whose columns are text.
    fn cast(&self, connection: &Connection<'_>, result: &mut capi::Rows<'_>) -> Result<Answer, Error> {
        let columns = result.columns();
        let list = |of: &dyn Fn(usize) -> String| (1..=columns).map(of).collect::<Vec<_>>().join(", ");
        let helper = self.connect()?;
        let zone = connection.run("SELECT current_setting('TimeZone')")?.text()?.rows.remove(0).remove(0);
        helper.run(&format!("SET TimeZone = '{zone}'"))?;
        helper
            .run(&format!("CREATE TEMP TABLE answer ({})", list(&|column| format!("c{column} VARCHAR"))))?;
        helper.append(
            &format!(
                "INSERT INTO answer SELECT {} FROM appended_data",
                list(&|column| format!("#{column}::VARCHAR"))
            ),
            result,
        )?;
        helper.run("FROM answer")?.text()
    }

    fn answer(&mut self, request: &Value) -> Result<Answer, Error> {
        let text = |key: &str| {
            request[key].as_str().ok_or_else(|| Error::Driver(format!("no text {key} in {request}")))
        };
        match text("op")? {
            "open" => self
                .open(text("path")?, request["read_only"].as_bool() == Some(true))
                .map(|()| Answer::default()),
            "load" => self.load(text("file")?).map(|()| Answer::default()),
            "sql" => self.sql(request["con"].as_u64().unwrap_or_default(), text("sql")?),
            other => Err(Error::Driver(format!("unknown request {other}"))),
        }
    }
}

fn reply(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Without a reader there is nobody left to tell.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).take_while(|argument| argument != "-c");
    let (library, names) = (arguments.next(), arguments.next());
    let engine = match library
        .ok_or_else(|| "usage: sqlengine LIBRARY [NAMES]".into())
        .and_then(|library| Engine::load(&library, names.as_deref()))
    {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("sqlengine: {error}");
            return ExitCode::FAILURE;
        }
    };
    reply(&json!({"version": engine.version()}));
    let mut session = Session { engine: &engine, connections: BTreeMap::new(), database: None };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let answer = serde_json::from_str(&line)
            .map_err(|error| Error::Driver(error.to_string()))
            .and_then(|request| session.answer(&request));
        reply(&match answer {
            Ok(Answer { columns, rows }) => json!({"columns": columns, "rows": rows}),
            Err(Error::Sql(error)) => json!({"error": error}),
            Err(Error::Driver(error)) => json!({"driver": error}),
        });
    }
    ExitCode::SUCCESS
}
