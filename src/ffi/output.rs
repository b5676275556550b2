//! Results: the vector of a scalar function, and the rows of a table function.

use super::chunk::Chunk;
use super::handles::Vector;
use super::storage::{Storage, Stored, slice, slice_mut, words_for};
use super::value::Parameter;
use crate::error::{Error, Result};
use kernel::{List, intersect};
use libduckdb_sys as sys;
use std::ffi::CStr;
use std::marker::PhantomData;

/// What the number of elements in the lists of a chunk comes from. These lists are outside of the engine's memory limit.
#[derive(Clone, Copy)]
pub(crate) enum Room {
    /// From the rows of the input.
    Rows,
    /// From arguments, which may be mistaken.
    Expansion,
}

impl Room {
    /// How many elements are made at once: of an expansion 2,048 for each row of a whole chunk.
    const fn most(self) -> u64 {
        match self {
            Self::Rows => u64::MAX,
            Self::Expansion => 1 << 22,
        }
    }
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
        let mut masks = (0..input.arguments()).filter_map(|index| input.validity_at(index));
        if let Some(first) = masks.next() {
            let words = self.writable_validity();
            words.copy_from_slice(first);
            for mask in masks {
                intersect(words, mask);
            }
        }
    }

    /// Makes NULL the rows in which an argument is NULL.
    pub(crate) fn null_where(&mut self, input: &Chunk<'_>, parameter: Parameter) {
        if let Some(mask) = input.validity(parameter) {
            self.writable_validity().copy_from_slice(mask);
        }
    }

    /// Where to write the value of each row, and which rows are valid (`None`: all).
    pub(crate) fn write<T>(&mut self, stored: Stored<T>) -> (&mut [T], Option<&[u64]>) {
        assert_eq!(self.storage, stored.storage(), "result");
        // SAFETY: the vector is stored as `T`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Writes the text of a row, a VARCHAR.
    pub(crate) fn set_text(&mut self, row: usize, text: &str) {
        assert_eq!(self.storage, Storage::Text, "result");
        assert!(row < self.len, "row {row} of {}", self.len);
        // SAFETY: the vector is alive, of texts and has this row; the bytes are copied.
        unsafe {
            sys::duckdb_vector_assign_string_element_len(
                self.vector,
                row as sys::idx_t,
                text.as_ptr().cast(),
                text.len() as sys::idx_t,
            );
        }
    }

    /// Makes one row NULL.
    pub(crate) fn set_null(&mut self, row: usize) {
        self.writable_validity()[row / u64::BITS as usize] &= !(1 << (row % u64::BITS as usize));
    }

    /// Where to write the list of each row, and which rows are valid (`None`: all).
    pub(crate) fn lists_and_validity(&mut self) -> (&mut [List], Option<&[u64]>) {
        let is_list =
            matches!(self.storage, Storage::TickList | Storage::IntegerList | Storage::RecordList(_));
        assert!(is_list, "result");
        // SAFETY: a vector of lists is stored as `duckdb_list_entry`, whose layout `List` has.
        unsafe { self.data_and_validity() }
    }

    /// Makes room for this many elements in the lists of all rows, timestamps or BIGINT; gives those lists, and where
    /// to write each element.
    pub(crate) fn words(&mut self, elements: u64, room: Room) -> Result<(&[List], &mut [i64])> {
        assert!(matches!(self.storage, Storage::TickList | Storage::IntegerList), "result");
        let len = self.reserve(elements, room)?;
        // SAFETY: the vector is alive and a list of elements stored as `i64`, of which the child's vector has room for
        // `len` now. They are different buffers, borrowed as long as this value is.
        unsafe {
            let child = sys::duckdb_list_vector_get_child(self.vector);
            let words = slice_mut(sys::duckdb_vector_get_data(child).cast::<i64>(), len);
            Ok((slice(sys::duckdb_vector_get_data(self.vector).cast_const().cast(), self.len), words))
        }
    }

    /// Makes room for this many records in the lists of all rows; gives those lists, and where to write each field.
    pub(crate) fn records<const N: usize>(
        &mut self,
        records: u64,
        room: Room,
    ) -> Result<(&[List], [&mut [i64]; N])> {
        assert_eq!(self.storage, Storage::RecordList(N), "result");
        let len = self.reserve(records, room)?;
        // SAFETY: the vector is alive and a list of structs of `N` fields stored as `i64`, each of whose vectors has
        // room for `len` now. All are different buffers, borrowed as long as this value is.
        unsafe {
            let child = sys::duckdb_list_vector_get_child(self.vector);
            let fields = std::array::from_fn(|index| {
                let field = sys::duckdb_struct_vector_get_child(child, index as sys::idx_t);
                slice_mut(sys::duckdb_vector_get_data(field).cast::<i64>(), len)
            });
            Ok((slice(sys::duckdb_vector_get_data(self.vector).cast_const().cast(), self.len), fields))
        }
    }

    /// Makes room for this many elements in the lists of all rows. The buffers have to be fetched after that, since making
    /// room moves them.
    fn reserve(&mut self, elements: u64, room: Room) -> Result<usize> {
        let too_large = Error::Memory { windows: elements, rows: self.len };
        let Ok(len) = usize::try_from(elements) else { return Err(too_large) };
        if elements > room.most() {
            return Err(too_large);
        }
        // SAFETY: the vector is alive and a list.
        unsafe {
            let child = sys::duckdb_list_vector_get_child(self.vector);
            // `duckdb_list_vector_reserve` throws a C++ exception where memory lacks, which would end the process in a
            // Rust frame. Creating a vector gives null instead; the list then shares the new vector's buffers. A list of
            // 1.5.6 still believes in the room that it had before, one vector's size, so there is no less.
            let Some(made) = Vector::new(child, elements.max(sys::duckdb_vector_size())) else {
                return Err(too_large);
            };
            sys::duckdb_vector_reference_vector(child, made.raw());
            if sys::duckdb_list_vector_set_size(self.vector, elements) != sys::DuckDBSuccess {
                return Err(too_large);
            }
        }
        Ok(len)
    }

    /// # Safety
    ///
    /// The vector is stored as `T`, of which every bit pattern is a value.
    unsafe fn data_and_validity<T>(&mut self) -> (&mut [T], Option<&[u64]>) {
        // SAFETY: the vector has room for `len` elements, as `new` was promised; the caller vouches for their type.
        // Its validity is another buffer, with a bit for each row if there is one. Both are borrowed as long as this
        // value is.
        unsafe {
            let data = slice_mut(sys::duckdb_vector_get_data(self.vector).cast(), self.len);
            let words = sys::duckdb_vector_get_validity(self.vector);
            (data, (!words.is_null()).then(|| slice(words.cast_const(), words_for(self.len))))
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

/// Some neighbouring rows of a table, to be written.
pub(crate) struct Rows<'a> {
    chunk: sys::duckdb_data_chunk,
    columns: &'a [(&'static CStr, Storage)],
    from: u64,
    len: usize,
}

impl<'a> Rows<'a> {
    /// # Safety
    ///
    /// `chunk` is alive for `'a` and nothing else uses it; its vectors are flat, all valid, named and stored as `columns`
    /// says and have room for `len` rows.
    pub(super) const unsafe fn new(
        chunk: sys::duckdb_data_chunk,
        columns: &'a [(&'static CStr, Storage)],
        from: u64,
        len: usize,
    ) -> Self {
        Self { chunk, columns, from, len }
    }

    /// The index of the first of them in the table.
    pub(crate) const fn from(&self) -> u64 {
        self.from
    }

    /// Where to write the values of column `name`.
    pub(crate) fn write<T>(&mut self, stored: Stored<T>, name: &CStr) -> &mut [T] {
        let index = self.index(name, stored.storage());
        // SAFETY: the vector is stored as `T`, as was just checked.
        unsafe { self.data(index) }
    }

    /// Writes the text of each row to column `name`, a VARCHAR. It is called with the rows' places in the whole table.
    pub(crate) fn write_texts<'t>(&mut self, name: &CStr, text: impl Fn(u64) -> &'t str) {
        let index = self.index(name, Storage::Text);
        for row in 0..self.len as sys::idx_t {
            let text = text(self.from + row);
            // SAFETY: the vector is alive, a VARCHAR as was just checked, and has room for `len` rows; the engine copies
            // the text.
            unsafe {
                let vector = sys::duckdb_data_chunk_get_vector(self.chunk, index as sys::idx_t);
                let len = text.len() as sys::idx_t;
                sys::duckdb_vector_assign_string_element_len(vector, row, text.as_ptr().cast(), len);
            }
        }
    }

    /// Where the column of this name stands, which is stored so.
    fn index(&self, name: &CStr, storage: Storage) -> usize {
        let index = self.columns.iter().position(|column| *column == (name, storage));
        index.unwrap_or_else(|| panic!("no column {name:?} of {storage:?}"))
    }

    /// # Safety
    ///
    /// Column `index` is stored as `T`, of which every bit pattern is a value.
    unsafe fn data<T>(&mut self, index: usize) -> &mut [T] {
        // SAFETY: the chunk is alive, has this column and room for `len` rows, as `new` was promised; the caller
        // vouches for the type. The slice is borrowed as long as this value is.
        unsafe {
            let vector = sys::duckdb_data_chunk_get_vector(self.chunk, index as sys::idx_t);
            slice_mut(sys::duckdb_vector_get_data(vector).cast(), self.len)
        }
    }
}
