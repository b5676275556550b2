//! The results of aggregate functions: structs, and lists of structs, written field by field.

use super::handles::{LogicalType, Vector};
use super::storage::slice_mut;
use crate::error::{Error, Result};
use kernel::{List, Whole};
use libduckdb_sys as sys;
use std::marker::PhantomData;

/// The results of some groups, to be written.
pub(crate) struct Groups<'a> {
    vector: sys::duckdb_vector,
    offset: usize,
    len: usize,
    alive: PhantomData<&'a mut ()>,
}

impl<'a> Groups<'a> {
    /// # Safety
    ///
    /// `vector` is alive for `'a`, flat, has room for `len` rows after `offset`, and nothing else uses those.
    pub(super) const unsafe fn new(vector: sys::duckdb_vector, offset: usize, len: usize) -> Self {
        Self { vector, offset, len, alive: PhantomData }
    }

    /// The fields of the groups' structs, a row each.
    pub(crate) fn structs(self) -> Fields<'a> {
        Fields { vector: self.vector, from: self.offset, len: self.len, taken: 0, alive: PhantomData }
    }

    /// The fields of the structs in the groups' lists, of which each group has as many as `lens` says, one after the
    /// other.
    pub(crate) fn lists(self, lens: impl Iterator<Item = usize>) -> Result<Fields<'a>> {
        // SAFETY: the vector is alive and a list, or the engine gives zero; its rows are stored as
        // `duckdb_list_entry`, whose layout `List` has. Room is made before the child is fetched.
        unsafe {
            let from = sys::duckdb_list_vector_get_size(self.vector);
            let data = sys::duckdb_vector_get_data(self.vector).cast::<List>();
            let lists = slice_mut(data.add(self.offset), self.len);
            let mut end = from;
            for (list, len) in lists.iter_mut().zip(lens) {
                *list = List { offset: end, length: len as u64 };
                end += len as u64;
            }
            let too_large = Error::Memory { windows: end, rows: self.len };
            let mut child = sys::duckdb_list_vector_get_child(self.vector);
            // Making room throws a C++ exception where memory lacks, which would end the process in a Rust frame. Creating
            // a vector gives null instead; a list without elements then shares its buffers. One of 1.5.6 still believes in
            // the room that it had before, one vector's size, so there is no less.
            let Some(made) = Vector::new(child, end.max(sys::duckdb_vector_size())) else {
                return Err(too_large);
            };
            if from == 0 {
                sys::duckdb_vector_reference_vector(child, made.raw());
            } else {
                drop(made);
                if sys::duckdb_list_vector_reserve(self.vector, end) != sys::DuckDBSuccess {
                    return Err(too_large);
                }
                child = sys::duckdb_list_vector_get_child(self.vector);
            }
            if sys::duckdb_list_vector_set_size(self.vector, end) != sys::DuckDBSuccess {
                return Err(too_large);
            }
            let (from, len) = (from as usize, (end - from) as usize);
            Ok(Fields { vector: child, from, len, taken: 0, alive: PhantomData })
        }
    }
}

/// Some rows of a vector of structs. Each field is taken once.
pub(crate) struct Fields<'a> {
    vector: sys::duckdb_vector,
    from: usize,
    len: usize,
    taken: u64,
    alive: PhantomData<&'a mut ()>,
}

impl<'a> Fields<'a> {
    /// Where to write field `index` of each row.
    pub(crate) fn take<T: Element>(&mut self, index: usize) -> Field<'a, T> {
        let vector = self.child(index);
        // SAFETY: the field is alive for `'a` and has as many elements as the vector has rows. Nobody else has it.
        unsafe { Field::of(vector, self.from, self.len) }
    }

    /// Where to write field `index` of each row, a VARCHAR.
    pub(crate) fn take_texts(&mut self, index: usize) -> Texts<'a> {
        let vector = self.child(index);
        // SAFETY: the field is alive for `'a`.
        let id = unsafe { LogicalType::of_vector(vector) }.id();
        assert_eq!(id, sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR, "field {index}");
        Texts { vector, from: self.from, len: self.len, alive: PhantomData }
    }

    /// A field's vector, once.
    fn child(&mut self, index: usize) -> sys::duckdb_vector {
        assert!(self.taken & 1 << index == 0, "field {index} is taken");
        self.taken |= 1 << index;
        // SAFETY: the vector is a struct and alive.
        unsafe { sys::duckdb_struct_vector_get_child(self.vector, index as sys::idx_t) }
    }
}

/// A type that fields are written as.
pub(crate) trait Element: Sized {
    /// Whether a column of the type of this id is.
    fn is_stored_as(id: sys::duckdb_type) -> bool;
}

impl Element for i64 {
    fn is_stored_as(id: sys::duckdb_type) -> bool {
        [
            sys::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ,
            super::TIMESTAMP_TZ_NS,
        ]
        .contains(&id)
    }
}

impl Element for f64 {
    fn is_stored_as(id: sys::duckdb_type) -> bool {
        id == sys::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE
    }
}

impl Element for Whole {
    fn is_stored_as(id: sys::duckdb_type) -> bool {
        id == sys::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT
    }
}

/// A field of some rows, to be written.
pub(crate) struct Field<'a, T> {
    values: &'a mut [T],
    vector: sys::duckdb_vector,
    from: usize,
}

impl<T: Element> Field<'_, T> {
    /// # Safety
    ///
    /// The vector is alive as long as the field is and has `len` rows after `from`, which nothing else uses.
    unsafe fn of(vector: sys::duckdb_vector, from: usize, len: usize) -> Self {
        // SAFETY: the vector is stored as `T`, as is checked before its data is used as such.
        unsafe {
            assert!(T::is_stored_as(LogicalType::of_vector(vector).stored_number().0), "result");
            let data = sys::duckdb_vector_get_data(vector).cast::<T>();
            Self { values: slice_mut(data.add(from), len), vector, from }
        }
    }

    /// Writes the value of a row; `None` is NULL.
    #[inline]
    pub(crate) fn set(&mut self, row: usize, value: Option<T>) {
        match value {
            Some(value) => self.values[row] = value,
            None => self.set_null(row),
        }
    }

    fn set_null(&mut self, row: usize) {
        assert!(row < self.values.len(), "row {row}");
        // SAFETY: the vector is alive and has this row.
        unsafe { set_null(self.vector, self.from + row) };
    }
}

/// A VARCHAR field of some rows, to be written.
pub(crate) struct Texts<'a> {
    vector: sys::duckdb_vector,
    from: usize,
    len: usize,
    alive: PhantomData<&'a mut ()>,
}

impl Texts<'_> {
    /// Writes the text of a row; `None` is NULL.
    pub(crate) fn set(&mut self, row: usize, text: Option<&str>) {
        assert!(row < self.len, "row {row}");
        let row = self.from + row;
        // SAFETY: the vector is alive, of texts and has this row; the engine copies the text.
        unsafe {
            match text {
                Some(text) => sys::duckdb_vector_assign_string_element_len(
                    self.vector,
                    row as sys::idx_t,
                    text.as_ptr().cast(),
                    text.len() as sys::idx_t,
                ),
                None => set_null(self.vector, row),
            }
        }
    }
}

/// # Safety
///
/// The vector is alive and has this row.
unsafe fn set_null(vector: sys::duckdb_vector, row: usize) {
    // SAFETY: once made writable, the mask is not null and has a bit for the row.
    unsafe {
        sys::duckdb_vector_ensure_validity_writable(vector);
        sys::duckdb_validity_set_row_invalid(sys::duckdb_vector_get_validity(vector), row as sys::idx_t);
    }
}
