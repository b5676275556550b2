//! The one way out of every callback.
//!
//! A panic that unwinds out of an `extern "C"` function aborts the user's process, so a callback's whole body runs
//! inside [`contain`]: a panic in the body, in an error's `Display` or while a value is dropped becomes an error text
//! for the engine, and the next statement runs. The panic hook still prints to standard error first.
//!
//! Only what finds the callback's own data stands before that: calls of the C API, through pointers that were there
//! when the extension was loaded.

use super::fault;
use crate::error::Line;
use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

// Without unwinding nothing is contained.
#[cfg(panic = "abort")]
compile_error!("time_bucket contains panics by unwinding: build it with panic = \"unwind\"");

/// Runs `body`; hands `report` one line, `name: message`, when it fails or panics.
pub(super) fn contain<E: Line>(
    name: &CStr,
    report: impl FnOnce(&CStr),
    body: impl FnOnce() -> Result<(), E>,
) {
    let line = match catch(body) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => line_of(name, &error),
        Err(message) => line_of(name, &Panicked { message }),
    };
    report(&line);
}

/// [`contain`] for a body that only fails by a panic, within a callback of another crate, which hands on any error.
pub(crate) fn contained<T>(name: &CStr, body: impl FnOnce() -> T) -> Result<T, Box<dyn std::error::Error>> {
    let line = |message| line_of(name, &Panicked { message }).to_string_lossy().into();
    catch(body).map_err(line)
}

/// An error's line as C text, whatever its `Display` does. One function for all callbacks, of which there are many.
#[cold]
#[inline(never)]
fn line_of(name: &CStr, error: &dyn Line) -> CString {
    let line = || {
        fault::point("display");
        let line = error.line(&name.to_string_lossy()).replace(['\n', '\r', '\0'], " ");
        CString::new(line).unwrap_or_default()
    };
    catch(line).unwrap_or_else(|_| c"time_bucket: an error whose text can't be shown".into())
}

/// A panic, which is a fault of this extension.
struct Panicked {
    message: String,
}

impl Line for Panicked {}

impl Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message } = self;
        write!(
            f,
            "unexpected panic: {message}; this is a bug in the extension, please report it with the query"
        )
    }
}

/// Runs a body that can report nothing, such as a destructor; gives `default` when it panics.
pub(super) fn contain_quietly<T>(default: T, body: impl FnOnce() -> T) -> T {
    catch(body).unwrap_or(default)
}

/// `body`'s value, or the message that it panicked with.
fn catch<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(message_and_end)
}

/// What was panicked with, whose payload ends here.
#[cold]
#[inline(never)]
fn message_and_end(payload: Box<dyn Any + Send>) -> String {
    let message = message_of(payload.as_ref()).to_owned();
    // A payload's destructor may panic in its turn; its second payload is leaked to end the chain.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    message
}

fn message_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Gives a value away to the engine, which frees it with [`drop_box`].
pub(super) fn give_away<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Frees what [`give_away`] gave.
///
/// # Safety
///
/// `pointer` comes from `give_away::<T>`, and this is the last use of it.
pub(super) unsafe extern "C" fn drop_box<T>(pointer: *mut c_void) {
    contain_quietly((), || {
        fault::point("destroy");
        // SAFETY: the caller gives back the box of a `T`, once.
        drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
    });
}

#[cfg(test)]
mod tests;
