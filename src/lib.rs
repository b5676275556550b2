//! `time_bucket` for DuckDB: exact time buckets for every timestamp precision, as a loadable extension.
//!
//! The layers, from the outside in:
//! - `functions` says which SQL functions and overloads exist, what they check at bind and which kernel they run.
//! - `ffi` is the border with the engine: entry, containment of panics, handles, vectors. All `unsafe` of this crate
//!   is there, but for the entry point's signature below.
//! - [`kernel`] is the arithmetic, over plain slices: a crate of its own that never sees the engine.
//! - `error` is everything that a call can be refused for.

mod error;
mod ffi;
mod functions;

/// What the engine calls, by this name, when the extension is loaded: registers every function, or sets the reason why
/// not and gives `false`.
///
/// # Safety
///
/// Only the engine calls this, during LOAD, with pointers that are alive until it returns.
#[allow(unsafe_code, reason = "the engine's signature")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time_bucket_init_c_api(info: ffi::Info, access: *const ffi::Access) -> bool {
    // SAFETY: the engine vouches for both pointers.
    unsafe { ffi::load(info, access, functions::register) }
}
