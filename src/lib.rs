//! `time_bucket` for DuckDB: exact time buckets for every timestamp precision, as a loadable extension.
//!
//! The layers, from the outside in:
//! - `ffi` is the border with the engine: entry point, containment of panics, handles, vectors. All `unsafe` is here,
//!   but for the few lines of [`simd`] that choose an instruction set.
//! - `functions` says which SQL functions and overloads exist, what they check at bind and which kernel they run.
//! - [`kernel`] is the arithmetic, over plain slices, in safe code that never sees the engine.
//! - [`error`] is everything that a call can be refused for.
//!
//! The library is public for tests, benchmarks and fuzzing; users LOAD the packaged file.

pub mod error;
mod ffi;
mod functions;
pub mod kernel;
pub mod simd;
