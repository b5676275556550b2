//! Each fixture states one thing that a test run must notice. A runner that lets one pass is worth nothing.
//!
//! Needs an interpreter with the package `duckdb`: `$SQLTEST_PYTHON`, or else `python3`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(format!("{name}.test"))
}

fn sqltest() -> Command {
    let python = std::env::var_os("SQLTEST_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqltest"));
    command.arg("--python").arg(python).env("SQLTEST_SELF_TEST", "1");
    command
}

fn run(arguments: &[&str], fixtures: &[&str]) -> (Output, String) {
    let output = sqltest()
        .args(["--no-load", "--timeout", "20"])
        .args(arguments)
        .args(fixtures.iter().map(|name| fixture(name)))
        .output()
        .expect("the runner starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

/// The file fails, at this line, with this text in the report, and with no failure but this.
#[track_caller]
fn fails(name: &str, line: usize, text: &str) {
    let (output, report) = run(&[], &[name]);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let place = format!("FAIL  {}:{line}", fixture(name).display());
    assert!(report.contains(&place) && report.contains(text), "expected {place} and {text:?} in\n{report}");
    assert_eq!(report.matches("FAIL  ").count(), 1, "{report}");
    assert_eq!(report.lines().last(), Some("0 passed, 1 failed, 0 skipped"), "{report}");
}

macro_rules! fixtures_that_fail {
    ($($name:ident: $line:literal, $text:literal;)*) => {$(
        #[test]
        fn $name() {
            fails(stringify!($name), $line, $text);
        }
    )*};
}

fixtures_that_fail! {
    wrong_value: 5, "-2020-01-01 00:00:00.123456788\n      +2020-01-01 00:00:00.123456789";
    wrong_space: 5, "-a b\n      +a  b";
    null_text: 5, "-NULL\n      +(empty)";
    row_missing: 5, "+2";
    row_surplus: 5, "-3";
    row_order: 5, "wrong result";
    rowsort_unsorted: 5, "wrong result";
    row_width: 8, "expected row has 1 tab-separated values, not 2";
    column_extra: 5, "wrong number of columns: expected 1, got 2";
    column_extra_empty: 5, "wrong number of columns: expected 1, got 2";
    column_missing: 5, "wrong number of columns: expected 2, got 1";
    no_result_set: 5, "wrong number of columns: expected 1, got 0";
    no_result_set_create: 5, "wrong number of columns: expected 1, got 0";
    error_missing: 5, "no error, expected: Binder Error";
    error_other: 5, "-Catalog Error: no_such_column\n      +Binder Error";
    error_pattern: 5, "wrong error";
    error_regex: 5, "wrong error";
    error_without_text: 5, "without the error's text";
    error_empty_text: 5, "without the error's text";
    error_unexpected: 5, "unexpected error: Binder Error";
    error_in_query: 5, "unexpected error: Conversion Error";
    error_in_row: 5, "row 50000";
    crash: 5, "the engine process died";
    crash_expected: 5, "the engine process died";
    unknown_directive: 5, "unknown directive: frobnicate 12";
    foreign_directive: 5, "unknown directive: sleep 1s";
    unknown_require: 5, "require spatial";
    unknown_sort: 5, "rowsrot";
    query_without_rows: 5, "query without its rows";
    comment_in_sql: 7, "ends a record at a # line";
    no_blank_line: 5, "a blank line must follow require";
    loop_open: 5, "foreach without endloop";
    loop_value: 7, "type=TINYINT";
    no_record: 0, "no record ran";
    later_record: 13, "wrong result";
}

#[test]
fn hang() {
    let (output, report) = run(&["--timeout", "2"], &["hang"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(report.contains("hang.test:5\n      no answer within 2 s"), "{report}");
}

#[test]
fn good() {
    let (output, report) = run(&[], &["good"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report.lines().last(), Some("1 passed, 0 failed, 0 skipped"), "{report}");
    let summary = report.lines().rev().nth(1).unwrap_or_default();
    assert!(summary.starts_with("duckdb "), "{report}");
    assert!(summary.ends_with(": 1 files passed, 0 failed, 0 skipped, 50 records"), "{report}");
}

#[test]
fn a_failure_does_not_keep_the_other_files_from_running() {
    let (output, report) = run(&[], &["crash", "wrong_value", "good"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report.lines().last(), Some("1 passed, 2 failed, 0 skipped"), "{report}");
}

#[test]
fn a_file_is_skipped_by_name_unless_its_name_is_defined() {
    let (output, report) = run(&[], &["good", "skipped"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("skipped.test: SQLTEST_FIXTURE is not defined"), "{report}");
    assert_eq!(report.lines().last(), Some("1 passed, 0 failed, 1 skipped"), "{report}");

    let (output, report) = run(&["--define", "SQLTEST_FIXTURE=no"], &["good", "skipped"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("SQLTEST_FIXTURE is no, not yes"), "{report}");

    let (output, report) = run(&["--define", "SQLTEST_FIXTURE=yes"], &["skipped"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report.lines().last(), Some("1 passed, 0 failed, 0 skipped"), "{report}");
}

#[test]
fn a_run_in_which_nothing_ran_fails() {
    assert_eq!(run(&[], &[]).0.status.code(), Some(1));
    assert_eq!(run(&[], &["skipped"]).0.status.code(), Some(1));
    assert_eq!(run(&[], &["no_such_file"]).0.status.code(), Some(1));
    let empty = tempfile::tempdir().expect("a temporary directory");
    let output = sqltest().arg("--no-load").arg(empty.path()).output().expect("the runner starts");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn require_fails_when_the_extension_does_not_load() {
    // Any file that is no extension.
    let output =
        sqltest().arg("--extension").arg(fixture("good")).arg(fixture("good")).output().expect("starts");
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("good.test:5\n      LOAD "), "{report}");
}

#[test]
fn an_extension_must_be_named_or_declined() {
    let output = sqltest().arg(fixture("good")).output().expect("the runner starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--extension or --no-load"));
}
