//! Runs test files in DuckDB's sqllogictest dialect on the DuckDB engine that a Python interpreter holds.
//!
//! Each file has an engine process and a database of its own. A wrong or missing row, an error that is missing,
//! unexpected or other than stated, a crash, a hang and a file that can't be understood all fail the run,
//! as does a run in which nothing ran.

mod engine;
mod run;
mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use engine::Engine;
use run::{Outcome, Settings};

const USAGE: &str = "\
usage: sqltest --python PATH (--extension FILE | --no-load) [options] PATH...

Runs each PATH, a test file or a directory that is searched for *.test.

  --python PATH         interpreter with the wanted duckdb package (default: $SQLTEST_PYTHON or python3)
  --extension FILE      what `require time_bucket` loads
  --no-load             `require time_bucket` loads nothing
  --define NAME=VALUE   satisfies `require-env NAME [VALUE]` and sets ${NAME}; may be repeated
  --timeout SECONDS     longest time for one record (default: 60)
";

fn main() -> ExitCode {
    match arguments().and_then(|(settings, paths)| run_all(&settings, &paths)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("sqltest: {message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<(Settings, Vec<PathBuf>), String> {
    let python = std::env::var_os("SQLTEST_PYTHON").unwrap_or_else(|| "python3".into());
    let timeout = Duration::from_secs(60);
    let mut settings = Settings { python: python.into(), extension: None, defines: Vec::new(), timeout };
    let mut no_load = false;
    let mut paths = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value\n\n{USAGE}"));
        match argument.as_str() {
            "--python" => settings.python = value()?.into(),
            "--extension" => settings.extension = Some(value()?.into()),
            "--no-load" => no_load = true,
            "--define" => {
                let pair = value()?;
                let (name, value) = pair.split_once('=').ok_or(format!("{pair} is not NAME=VALUE"))?;
                settings.defines.push((name.to_owned(), value.to_owned()));
            }
            "--timeout" => {
                let seconds = value()?;
                let parsed = seconds.parse().ok().filter(|seconds: &u64| *seconds > 0);
                settings.timeout =
                    Duration::from_secs(parsed.ok_or(format!("{seconds} is not a time limit"))?);
            }
            "--help" | "-h" => return Err(format!("\n{USAGE}")),
            _ if argument.starts_with('-') => return Err(format!("unknown option {argument}\n\n{USAGE}")),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    settings.extension = match settings.extension {
        _ if no_load => None,
        Some(file) => {
            Some(file.canonicalize().map_err(|error| format!("--extension {}: {error}", file.display()))?)
        }
        None => return Err(format!("--extension or --no-load is missing\n\n{USAGE}")),
    };
    Ok((settings, paths))
}

/// Whether all that ran passed, and something ran.
fn run_all(settings: &Settings, paths: &[PathBuf]) -> Result<bool, String> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        collect(path, &mut files).map_err(|error| format!("{}: {error}", path.display()))?;
        if files.len() == before {
            return Err(format!("{}: no test file", path.display()));
        }
    }
    let version = Engine::start(&settings.python, settings.timeout)
        .map_err(|error| error.to_string())?
        .version()
        .to_owned();

    let (mut passed, mut failed, mut skipped, mut records) = (0, 0, 0, 0);
    for path in &files {
        let report = run::file(path, settings);
        records += report.records;
        match report.outcome {
            Outcome::Passed => {
                passed += 1;
                println!("ok    {} ({} records)", path.display(), report.records);
            }
            Outcome::Skipped(reason) => {
                skipped += 1;
                println!("skip  {}: {reason}", path.display());
            }
            Outcome::Failed(failures) => {
                failed += 1;
                for failure in failures {
                    println!("FAIL  {}\n", failure.replace('\n', "\n      "));
                }
            }
        }
    }
    println!(
        "duckdb {version}: {passed} files passed, {failed} failed, {skipped} skipped, {records} records"
    );
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if records == 0 {
        eprintln!("sqltest: no record ran");
    }
    Ok(failed == 0 && records > 0)
}

/// The path itself if it is a file, else every `*.test` below it, in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "test") {
            collect(&entry, files)?;
        }
    }
    Ok(())
}
