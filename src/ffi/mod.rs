//! The border with the engine: the only place, with the kernel's `simd`, that has `unsafe`.
//!
//! What it promises to the rest of the crate:
//! - every callback runs inside `contain` (those of the `duckdb` crate in its own, and what they call of ours inside
//!   `contained`), so no panic unwinds into the engine;
//! - every handle that the engine gives away is owned by a type that frees it once;
//! - vectors appear as slices whose length is the chunk's and whose element type was checked against the signature.
//!
//! The rules of the C API that a `SAFETY` comment relies on are those of `duckdb.h` 1.5.6 and of its implementation
//! in the engine's `src/main/capi`.
#![allow(unsafe_code)]

mod aggregate;
mod chunk;
mod contain;
mod entry;
mod fault;
mod groups;
mod handles;
mod numbers;
mod output;
mod scalar;
mod storage;
mod table;
mod value;

pub(crate) use aggregate::{Aggregate, States};
pub(crate) use chunk::{Chunk, Key};
pub(crate) use contain::contained;
pub(crate) use entry::{Access, AggregateOverloads, Info, Registry, load};
pub(crate) use fault::point as fault_point;
pub(crate) use groups::{Element, Field, Fields, Groups, Texts};
pub(crate) use handles::LogicalType;
pub(crate) use libduckdb_sys::duckdb_type as TypeId;
pub(crate) use numbers::{Column, Doubles, Numbers, Wholes};
pub(crate) use output::{Output, Room, Rows};
pub(crate) use scalar::{Arguments, Constant, Scalar, Signature};
pub(crate) use storage::{BOOLEANS, DAYS, DOUBLES, FLOATS, INTEGERS, INTERVALS, INTS, Stored, TICKS};
pub(crate) use table::{Bound, Parameters, Table, TableArguments};
pub(crate) use value::{Given, Parameter};

/// The id of TIMESTAMPTZ_NS, which DuckDB 2.0 added after the C API that the bindings were made from.
pub(crate) const TIMESTAMP_TZ_NS: TypeId = 42;
