//! Hostile bodies, errors and payloads: whatever they do, one line comes out, or nothing.

use super::{catch, contain, contain_quietly, contained, drop_box, give_away, line_of};
use crate::error::{Argument, Error, Line};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt;
use std::panic::{panic_any, resume_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const NAME: &CStr = c"time_bucket_test";

/// What `contain` reports for a body.
fn reported(body: impl FnOnce() -> Result<(), Error>) -> Option<String> {
    let line = RefCell::new(None);
    contain(NAME, |text| *line.borrow_mut() = Some(text.to_string_lossy().into_owned()), body);
    line.into_inner()
}

fn panic_line(message: &str) -> Option<String> {
    Some(format!(
        "time_bucket_test: unexpected panic: {message}; this is a bug in the extension, please report it with the query"
    ))
}

/// Panics when it is dropped, with itself one level down, until no level is left.
struct PanicsWhenDropped(u32);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if let Some(levels) = self.0.checked_sub(1) {
            // No hook runs here, so that a test's output stays readable.
            resume_unwind(Box::new(Self(levels)));
        }
    }
}

/// Panics when it is shown, with a payload of the given levels.
struct PanicsWhenShown(u32);

impl fmt::Display for PanicsWhenShown {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        resume_unwind(Box::new(PanicsWhenDropped(self.0)))
    }
}

impl Line for PanicsWhenShown {}

/// Fails when it is shown, which makes `format!` panic.
struct FailsWhenShown;

impl fmt::Display for FailsWhenShown {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Err(fmt::Error)
    }
}

impl Line for FailsWhenShown {}

/// Is shown as this text.
struct Shown(&'static str);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Line for Shown {}

#[test]
fn a_value_reports_nothing_and_an_error_its_line() {
    assert_eq!(reported(|| Ok(())), None);
    let null = Error::Null { argument: Argument::Width };
    let line = format!("time_bucket_test: {null}");
    assert_eq!(reported(move || Err(null)), Some(line));
}

#[test]
fn a_panic_is_reported_with_its_message_and_others_without() {
    assert_eq!(reported(|| panic!("literal")), panic_line("literal"));
    assert_eq!(reported(|| panic!("formatted {}", 7)), panic_line("formatted 7"));
    assert_eq!(reported(|| panic_any(7)), panic_line("no message"));
    assert_eq!(reported(|| panic_any(Box::new("boxed") as Box<dyn Any + Send>)), panic_line("no message"));
    assert_eq!(reported(|| resume_unwind(Box::new(()))), panic_line("no message"));
}

#[test]
fn a_payload_that_panics_when_it_is_dropped_is_contained_at_every_depth() {
    for levels in 0..4 {
        assert_eq!(reported(|| resume_unwind(Box::new(PanicsWhenDropped(levels)))), panic_line("no message"));
        assert_eq!(contain_quietly(1, || resume_unwind(Box::new(PanicsWhenDropped(levels)))), 1);
    }
}

#[test]
fn what_the_body_owns_may_panic_when_it_is_dropped() {
    for levels in 1..4 {
        let owned = PanicsWhenDropped(levels);
        let body = move || {
            let _owned = owned;
            Ok(())
        };
        assert_eq!(reported(body), panic_line("no message"));
    }
}

#[test]
fn an_error_that_panics_when_it_is_shown_gives_a_line_all_the_same() {
    let substitute = c"time_bucket: an error whose text can't be shown";
    for levels in 0..4 {
        assert_eq!(line_of(NAME, &PanicsWhenShown(levels)).as_c_str(), substitute);
    }
    assert_eq!(line_of(NAME, &FailsWhenShown).as_c_str(), substitute);
}

#[test]
fn a_line_is_one_line_of_c_text() {
    assert_eq!(line_of(NAME, &Shown("a\nb\r\nc\0d")).as_c_str(), c"time_bucket_test: a b  c d");
    let message = "first\nsecond\0third".to_owned();
    assert_eq!(reported(|| resume_unwind(Box::new(message))), panic_line("first second third"));
}

#[test]
fn within_another_crate_the_line_is_an_error() {
    assert_eq!(contained(NAME, || 7).ok(), Some(7));
    let error = contained::<()>(NAME, || panic!("caught")).unwrap_err();
    assert_eq!(Some(error.to_string()), panic_line("caught"));
}

#[test]
fn a_box_is_freed_once_and_its_destructor_may_panic() {
    struct Counted(Arc<AtomicU32>, u32);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            drop(PanicsWhenDropped(self.1));
        }
    }
    for levels in 0..4 {
        let freed = Arc::new(AtomicU32::new(0));
        let pointer = give_away(Counted(Arc::clone(&freed), levels));
        // SAFETY: the pointer was just given away, and is used here only.
        unsafe { drop_box::<Counted>(pointer) };
        assert_eq!(freed.load(Ordering::Relaxed), 1, "{levels} levels");
    }
}

#[test]
fn catch_gives_the_value_or_the_message() {
    assert_eq!(catch(|| 7), Ok(7));
    assert_eq!(catch::<()>(|| panic!("lost")), Err("lost".to_owned()));
}

/// Compiles this module alone, which other errors follow from, and looks for ours.
#[test]
fn a_build_that_aborts_on_panic_is_refused() {
    let refused = |panic: &str| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ffi/contain.rs");
        let arguments = ["--edition=2024", "--crate-type=lib", "--emit=metadata", "-o", "-", file];
        let output = Command::new(rustc).arg(format!("-Cpanic={panic}")).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stderr).contains("contains panics by unwinding")
    };
    assert!(refused("abort"));
    assert!(!refused("unwind"));
}
