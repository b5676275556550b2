//! How the engine stores the values of each column type, and its buffers as slices.

use super::TIMESTAMP_TZ_NS;
use super::handles::LogicalType;
use kernel::{Interval, List};
use libduckdb_sys as sys;
use std::marker::PhantomData;

/// How the engine stores the values of a column type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// `int64_t`: every timestamp type.
    Ticks,
    /// `duckdb_interval`.
    Interval,
    /// `int64_t`: BIGINT.
    Integer,
    /// `int32_t`: DATE.
    Days,
    /// `duckdb_string_t`: VARCHAR.
    Text,
    /// `int32_t`: INTEGER.
    Int,
    /// `double`.
    Double,
    /// `float`.
    Float,
    /// `bool`.
    Boolean,
    /// A list of timestamps.
    TickList,
    /// A list of BIGINT.
    IntegerList,
    /// A list of structs of so many fields, each a timestamp or a BIGINT.
    RecordList(usize),
    /// Anything that is not read here.
    Other,
}

impl Storage {
    pub(super) fn of(logical_type: &LogicalType) -> Self {
        match logical_type.id() {
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S
            | sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS
            | sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP
            | sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS
            | sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ
            | sys::DUCKDB_TYPE_DUCKDB_TYPE_TIME
            | TIMESTAMP_TZ_NS => Self::Ticks,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL => Self::Interval,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Self::Integer,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE => Self::Days,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => Self::Text,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Self::Int,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => Self::Double,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => Self::Float,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => Self::Boolean,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_LIST => match logical_type.child(0) {
                Some(element) => match Self::of(&element) {
                    Self::Ticks => Self::TickList,
                    Self::Integer => Self::IntegerList,
                    _ => Self::fields(&element).map_or(Self::Other, Self::RecordList),
                },
                None => Self::Other,
            },
            _ => Self::Other,
        }
    }

    /// How many fields a struct has, if each is stored as `int64_t`.
    fn fields(logical_type: &LogicalType) -> Option<usize> {
        if logical_type.id() != sys::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT {
            return None;
        }
        let fields = (0..).map_while(|index| logical_type.child(index)).map(|field| Self::of(&field));
        fields
            .map(|field| matches!(field, Self::Ticks | Self::Integer))
            .try_fold(0, |count, is_word| is_word.then_some(count + 1))
    }
}

// A vector of list entries is read and written as a slice of ours, and so is one of intervals.
const _: () = {
    assert!(size_of::<List>() == size_of::<sys::duckdb_list_entry>());
    assert!(align_of::<List>() == align_of::<sys::duckdb_list_entry>());
    assert!(std::mem::offset_of!(List, offset) == std::mem::offset_of!(sys::duckdb_list_entry, offset));
    assert!(std::mem::offset_of!(List, length) == std::mem::offset_of!(sys::duckdb_list_entry, length));
};
const _: () = {
    assert!(size_of::<Interval>() == size_of::<sys::duckdb_interval>());
    assert!(align_of::<Interval>() == align_of::<sys::duckdb_interval>());
    assert!(std::mem::offset_of!(Interval, months) == std::mem::offset_of!(sys::duckdb_interval, months));
    assert!(std::mem::offset_of!(Interval, days) == std::mem::offset_of!(sys::duckdb_interval, days));
    assert!(std::mem::offset_of!(Interval, micros) == std::mem::offset_of!(sys::duckdb_interval, micros));
};

/// That a column's values are stored as `T`, of which every bit pattern is a value.
#[derive(Debug)]
pub(crate) struct Stored<T>(Storage, PhantomData<fn() -> T>);

impl<T> Clone for Stored<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stored<T> {}

impl<T> Stored<T> {
    const fn of(storage: Storage) -> Self {
        Self(storage, PhantomData)
    }

    pub(super) const fn storage(self) -> Storage {
        self.0
    }
}

/// Timestamps of every type, and TIME.
pub(crate) const TICKS: Stored<i64> = Stored::of(Storage::Ticks);
/// INTERVAL.
pub(crate) const INTERVALS: Stored<Interval> = Stored::of(Storage::Interval);
/// DATE: days past 1970-01-01.
pub(crate) const DAYS: Stored<i32> = Stored::of(Storage::Days);
/// BIGINT.
pub(crate) const INTEGERS: Stored<i64> = Stored::of(Storage::Integer);
/// INTEGER.
pub(crate) const INTS: Stored<i32> = Stored::of(Storage::Int);
/// DOUBLE.
pub(crate) const DOUBLES: Stored<f64> = Stored::of(Storage::Double);
/// FLOAT.
pub(crate) const FLOATS: Stored<f32> = Stored::of(Storage::Float);
/// BOOLEAN: 0 or 1. To be written only.
pub(crate) const BOOLEANS: Stored<u8> = Stored::of(Storage::Boolean);

/// How many words a mask of `len` bits has.
pub(super) const fn words_for(len: usize) -> usize {
    len.div_ceil(u64::BITS as usize)
}

/// # Safety
///
/// `data` points to `len` elements that nobody writes to during `'a`, unless `len` is 0.
pub(super) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as the caller vouches; the engine aligns vector buffers for every element.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// # Safety
///
/// `data` points to `len` elements that nobody else uses during `'a`, unless `len` is 0.
pub(super) unsafe fn slice_mut<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: as the caller vouches; the engine aligns vector buffers for every element.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
