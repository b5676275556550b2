//! Chunks and vectors as slices.

use super::TIMESTAMP_TZ_NS;
use super::handles::LogicalType;
use crate::kernel::{Interval, intersect};
use libduckdb_sys as sys;
use std::marker::PhantomData;

/// How the engine stores the values of a column type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// `int64_t`: every timestamp type.
    Ticks,
    /// `duckdb_interval`.
    Interval,
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
            | TIMESTAMP_TZ_NS => Self::Ticks,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL => Self::Interval,
            _ => Self::Other,
        }
    }
}

// A vector of intervals is read as a slice of ours.
const _: () = {
    assert!(size_of::<Interval>() == size_of::<sys::duckdb_interval>());
    assert!(align_of::<Interval>() == align_of::<sys::duckdb_interval>());
    assert!(std::mem::offset_of!(Interval, months) == std::mem::offset_of!(sys::duckdb_interval, months));
    assert!(std::mem::offset_of!(Interval, days) == std::mem::offset_of!(sys::duckdb_interval, days));
    assert!(std::mem::offset_of!(Interval, micros) == std::mem::offset_of!(sys::duckdb_interval, micros));
};

/// The arguments of one call: some rows of each. The engine has flattened every vector.
pub(crate) struct Chunk<'a> {
    chunk: sys::duckdb_data_chunk,
    columns: &'a [Storage],
    len: usize,
}

impl<'a> Chunk<'a> {
    /// # Safety
    ///
    /// `chunk` is alive for `'a`, its vectors are flat, and they are stored as `columns` says.
    pub(super) unsafe fn new(chunk: sys::duckdb_data_chunk, columns: &'a [Storage]) -> Self {
        // SAFETY: the chunk is alive.
        let len = unsafe { sys::duckdb_data_chunk_get_size(chunk) } as usize;
        Self { chunk, columns, len }
    }

    /// How many rows.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The ticks of argument `index`, a timestamp. Those of NULL rows are undefined, but readable.
    pub(crate) fn ticks(&self, index: usize) -> &'a [i64] {
        assert_eq!(self.columns[index], Storage::Ticks, "argument {index}");
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data(index) }
    }

    /// The intervals of argument `index`. Those of NULL rows are undefined, but readable.
    pub(crate) fn intervals(&self, index: usize) -> &'a [Interval] {
        assert_eq!(self.columns[index], Storage::Interval, "argument {index}");
        // SAFETY: the vector is stored as `duckdb_interval`, as was just checked, whose layout `Interval` has.
        unsafe { self.data(index) }
    }

    /// # Safety
    ///
    /// Argument `index` is stored as `T`, of which every bit pattern is a value.
    unsafe fn data<T>(&self, index: usize) -> &'a [T] {
        // SAFETY: a flat vector holds at least as many elements as its chunk has rows; the caller vouches for the
        // type, and the engine doesn't write to arguments during a call.
        unsafe { slice(sys::duckdb_vector_get_data(self.vector(index)).cast(), self.len) }
    }

    fn vector(&self, index: usize) -> sys::duckdb_vector {
        assert!(index < self.columns.len(), "argument {index} of {}", self.columns.len());
        // SAFETY: the chunk is alive and has this column.
        unsafe { sys::duckdb_data_chunk_get_vector(self.chunk, index as sys::idx_t) }
    }

    /// The validity of argument `index`; `None` when all its rows are valid.
    pub(crate) fn validity(&self, index: usize) -> Option<&'a [u64]> {
        // SAFETY: the vector is alive; a mask that is not null has a bit for each row.
        unsafe {
            let words = sys::duckdb_vector_get_validity(self.vector(index));
            (!words.is_null()).then(|| slice(words, words_for(self.len)))
        }
    }
}

/// How many words a mask of `len` bits has.
const fn words_for(len: usize) -> usize {
    len.div_ceil(u64::BITS as usize)
}

/// # Safety
///
/// `data` points to `len` elements that nobody writes to during `'a`, unless `len` is 0.
unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as the caller vouches; the engine aligns vector buffers for every element.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The result of one call.
pub(crate) struct Output<'a> {
    vector: sys::duckdb_vector,
    storage: Storage,
    len: usize,
    alive: PhantomData<&'a mut ()>,
}

impl Output<'_> {
    /// # Safety
    ///
    /// `vector` is alive, is stored as `storage` says, has room for `len` rows, and nothing else uses it.
    pub(super) const unsafe fn new(vector: sys::duckdb_vector, storage: Storage, len: usize) -> Self {
        Self { vector, storage, len, alive: PhantomData }
    }

    /// Makes NULL all rows that are NULL in one of the arguments, by whole words.
    pub(crate) fn null_where_any_is(&mut self, input: &Chunk<'_>) {
        let mut masks = (0..input.columns.len()).filter_map(|index| input.validity(index));
        if let Some(first) = masks.next() {
            let words = self.writable_validity();
            words.copy_from_slice(first);
            for mask in masks {
                intersect(words, mask);
            }
        }
    }

    /// Where to write the ticks of each row, a timestamp, and which rows are valid (`None`: all).
    pub(crate) fn ticks_and_validity(&mut self) -> (&mut [i64], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Ticks, "result");
        if self.len == 0 {
            return (&mut [], None);
        }
        // SAFETY: the vector is stored as `i64` and has room for `len` of them, as `new` was promised. Its validity
        // is another buffer, with a bit for each row if there is one. Both are borrowed as long as this value is.
        unsafe {
            let ticks = sys::duckdb_vector_get_data(self.vector).cast();
            let words = sys::duckdb_vector_get_validity(self.vector);
            let words = (!words.is_null()).then(|| slice(words, words_for(self.len)));
            (std::slice::from_raw_parts_mut(ticks, self.len), words)
        }
    }

    /// Makes every row NULL.
    pub(crate) fn all_null(&mut self) {
        self.writable_validity().fill(0);
    }

    fn writable_validity(&mut self) -> &mut [u64] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: the vector is alive. Once made writable its mask is not null and has a bit for each row; it has to
        // be fetched after that, since making it writable may allocate it.
        unsafe {
            sys::duckdb_vector_ensure_validity_writable(self.vector);
            let words = sys::duckdb_vector_get_validity(self.vector);
            std::slice::from_raw_parts_mut(words, words_for(self.len))
        }
    }
}
