//! Arguments: the vectors of a chunk as slices.

use super::handles::LogicalType;
use super::storage::{Storage, Stored, slice, words_for};
use super::value::Parameter;
use crate::error::{Error, Result};
use kernel::{Interval, List, is_valid};
use libduckdb_sys as sys;
use std::hash::{Hash, Hasher};
use std::hint::select_unpredictable;
use std::sync::OnceLock;

/// The type of an argument, and how the engine stores it.
#[derive(Debug, Clone)]
pub(super) struct ColumnType {
    id: sys::duckdb_type,
    storage: Storage,
    text: Option<Repeated>,
}

/// The interval that a constant text says, and a vector of it, made when it is first read.
#[derive(Debug, Clone)]
struct Repeated {
    value: Interval,
    vector: OnceLock<Box<[Interval]>>,
}

impl ColumnType {
    pub(super) fn of(logical_type: &LogicalType) -> Self {
        Self { id: logical_type.id(), storage: Storage::of(logical_type), text: None }
    }

    /// An argument of this type that is a text, perhaps, and then may say an interval.
    pub(super) fn with_text(logical_type: &LogicalType, interval: impl FnOnce() -> Option<Interval>) -> Self {
        let column = Self::of(logical_type);
        let text = (column.id == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR).then(interval).flatten();
        let text = text.map(|value| Repeated { value, vector: OnceLock::new() });
        Self { text, ..column }
    }

    /// An argument that nobody reads.
    pub(super) const fn unread() -> Self {
        Self { id: sys::DUCKDB_TYPE_DUCKDB_TYPE_INVALID, storage: Storage::Other, text: None }
    }

    pub(super) const fn id(&self) -> sys::duckdb_type {
        self.id
    }

    pub(super) const fn is_any(&self) -> bool {
        self.id == sys::DUCKDB_TYPE_DUCKDB_TYPE_ANY
    }
}

/// A text of up to 32 bytes, of a size that is always the same: words that hold all of its bytes, some of them twice. Behind a
/// short text there may be anything, so that two keys may mean one text, but no key two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    length: usize,
    words: [u64; 4],
}

impl Hash for Key {
    /// Word by word, which stay in registers: what is written as words and read as bytes at once makes a processor wait.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.iter().for_each(|&word| state.write_u64(word));
    }
}

/// The arguments of one call: some rows of each. The engine has flattened every vector.
pub(crate) struct Chunk<'a> {
    chunk: sys::duckdb_data_chunk,
    columns: &'a [ColumnType],
    len: usize,
}

impl<'a> Chunk<'a> {
    /// # Safety
    ///
    /// `chunk` is alive for `'a`, its vectors are flat, and they are of the types that `columns` says.
    pub(super) unsafe fn new(chunk: sys::duckdb_data_chunk, columns: &'a [ColumnType]) -> Self {
        // SAFETY: the chunk is alive.
        let len = unsafe { sys::duckdb_data_chunk_get_size(chunk) } as usize;
        Self { chunk, columns, len }
    }

    /// What each vector of a chunk is, by its own type.
    ///
    /// # Safety
    ///
    /// `chunk` is alive.
    pub(super) unsafe fn columns(chunk: sys::duckdb_data_chunk) -> Vec<ColumnType> {
        // SAFETY: the chunk is alive and has as many columns as it says.
        unsafe {
            let column = |index| {
                let vector = sys::duckdb_data_chunk_get_vector(chunk, index);
                ColumnType::of(&LogicalType::of_vector(vector))
            };
            (0..sys::duckdb_data_chunk_get_column_count(chunk)).map(column).collect()
        }
    }

    /// How many rows.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// How many arguments.
    pub(crate) const fn arguments(&self) -> usize {
        self.columns.len()
    }

    /// The id of an argument's type.
    pub(crate) fn type_id(&self, parameter: Parameter) -> sys::duckdb_type {
        self.columns[parameter.index].id
    }

    /// The values of an argument. Those of NULL rows are undefined, but readable.
    pub(crate) fn read<T>(&self, stored: Stored<T>, parameter: Parameter) -> &'a [T] {
        self.require(parameter, stored.storage());
        // SAFETY: the vector is stored as `T`, as was just checked.
        unsafe { self.data(parameter) }
    }

    fn require(&self, parameter: Parameter, storage: Storage) {
        assert_eq!(self.columns[parameter.index].storage, storage, "{}", parameter.argument);
    }

    /// The intervals of an argument, those that a constant text says too. Those of NULL rows are undefined, but
    /// readable. `Err` when it is of another type.
    pub(crate) fn intervals(&self, parameter: Parameter) -> Result<&'a [Interval]> {
        let column = &self.columns[parameter.index];
        match &column.text {
            // SAFETY: the vector is stored as `duckdb_interval`, as is checked here, whose layout `Interval` has.
            _ if column.storage == Storage::Interval => Ok(unsafe { self.data(parameter) }),
            // SAFETY: no precondition.
            Some(Repeated { value, vector }) => Ok(&vector
                .get_or_init(|| vec![*value; unsafe { sys::duckdb_vector_size() } as usize].into())
                [..self.len]),
            None => Err(Error::IntervalColumn { argument: parameter.argument }),
        }
    }

    /// The text of an argument in each row, a VARCHAR. To be asked of valid rows only.
    pub(crate) fn texts(&self, parameter: Parameter) -> impl Fn(usize) -> &'a str {
        let strings = self.strings(parameter);
        move |row| {
            let (length, data) = place(strings(row));
            // SAFETY: that many bytes are there for `'a`.
            let bytes = unsafe { std::slice::from_raw_parts(data, length) };
            std::str::from_utf8(bytes).unwrap_or_default()
        }
    }

    /// The text of an argument in each row, a VARCHAR, as a key; `None` for one of more than 32 bytes. To be asked of valid
    /// rows only. Without a branch, since lengths come in no order.
    pub(crate) fn keys(&self, parameter: Parameter) -> impl Fn(usize) -> Option<Key> {
        let strings = self.strings(parameter);
        move |row| {
            let (length, data) = place(strings(row));
            // A string that holds its own bytes has room for twelve of them.
            let read = length.clamp(12, 32);
            let at = [0, 8.min(read - 8), read.max(16) - 16, read - 8];
            // SAFETY: so many bytes can be read, and each word ends with the last of them at the latest.
            let words = at.map(|at| unsafe { data.add(at).cast::<u64>().read_unaligned() });
            (length <= 32).then_some(Key { length, words })
        }
    }

    /// The engine's string in each row of a VARCHAR. To be asked of valid rows only.
    fn strings(&self, parameter: Parameter) -> impl Fn(usize) -> &'a sys::duckdb_string_t + use<'a> {
        self.require(parameter, Storage::Text);
        let (len, validity) = (self.len, self.validity(parameter));
        // SAFETY: the vector is alive and stored as `duckdb_string_t`, as was just checked.
        let strings = unsafe {
            sys::duckdb_vector_get_data(self.vector(parameter.index)).cast::<sys::duckdb_string_t>()
        };
        move |row| {
            assert!(row < len && is_valid(validity, row), "row {row} of {len}");
            // SAFETY: the vector holds `len` strings for `'a`, and that of a valid row is initialised.
            unsafe { &*strings.add(row) }
        }
    }

    /// The list of timestamps in each row: the ticks of its elements. `Err` when a valid row's list holds NULL.
    pub(crate) fn tick_lists(&self, parameter: Parameter) -> impl Fn(usize) -> Result<&'a [i64]> {
        self.require(parameter, Storage::TickList);
        // SAFETY: the vector is alive and a list of timestamps, as was just checked, so its child is stored as `i64`
        // and has as many elements as the list vector says; a mask that is not null has a bit for each.
        let (lists, ticks, validity) = unsafe {
            let vector = self.vector(parameter.index);
            let child = sys::duckdb_list_vector_get_child(vector);
            let len = sys::duckdb_list_vector_get_size(vector) as usize;
            let words = sys::duckdb_vector_get_validity(child);
            (
                self.data::<List>(parameter),
                slice::<i64>(sys::duckdb_vector_get_data(child).cast(), len),
                (!words.is_null()).then(|| slice(words.cast_const(), words_for(len))),
            )
        };
        move |row| {
            let elements = lists[row].offset as usize..(lists[row].offset + lists[row].length) as usize;
            let has_null = elements.clone().any(|element| !is_valid(validity, element));
            if has_null { Err(Error::NullTime) } else { Ok(&ticks[elements]) }
        }
    }

    /// The list of timestamps or of BIGINT in each row: its elements, none for NULL, and which of them are known.
    pub(crate) fn word_lists(
        &self,
        parameter: Parameter,
    ) -> impl Fn(usize) -> (&'a [i64], Known<'a>) + use<'a> {
        let storage = self.columns[parameter.index].storage;
        assert!(matches!(storage, Storage::TickList | Storage::IntegerList), "{}", parameter.argument);
        // SAFETY: the vector is alive and a list of elements stored as `i64`, as was just checked; it has as many as
        // the list vector says.
        let (words, known): (&[i64], _) = unsafe {
            let vector = self.vector(parameter.index);
            let child = sys::duckdb_list_vector_get_child(vector);
            let len = sys::duckdb_list_vector_get_size(vector) as usize;
            (slice(sys::duckdb_vector_get_data(child).cast(), len), self.known_of_list(parameter))
        };
        move |row| {
            let known = known(row);
            (&words[known.first..known.first + known.len], known)
        }
    }

    /// Which elements of the list in each row are known, whatever they are; `None` where the argument is no list.
    pub(crate) fn known_elements(
        &self,
        parameter: Parameter,
    ) -> Option<impl Fn(usize) -> Known<'a> + use<'a>> {
        let is_list = self.type_id(parameter) == sys::DUCKDB_TYPE_DUCKDB_TYPE_LIST;
        // SAFETY: the argument is a list, as was just checked.
        is_list.then(|| unsafe { self.known_of_list(parameter) })
    }

    /// # Safety
    ///
    /// The argument is a list.
    unsafe fn known_of_list(&self, parameter: Parameter) -> impl Fn(usize) -> Known<'a> + use<'a> {
        let has_list = self.validity(parameter);
        // SAFETY: the vector is alive and a list, as the caller vouches, which is stored as `duckdb_list_entry`, whose
        // layout `List` has; a mask of its child that is not null has a bit for each element.
        let (lists, validity): (&[List], _) = unsafe {
            let vector = self.vector(parameter.index);
            let words = sys::duckdb_vector_get_validity(sys::duckdb_list_vector_get_child(vector));
            let len = sys::duckdb_list_vector_get_size(vector) as usize;
            (self.data(parameter), (!words.is_null()).then(|| slice(words.cast_const(), words_for(len))))
        };
        move |row| match is_valid(has_list, row) {
            true => Known { validity, first: lists[row].offset as usize, len: lists[row].length as usize },
            false => Known { validity: None, first: 0, len: 0 },
        }
    }

    /// # Safety
    ///
    /// The argument is stored as `T`, of which every bit pattern is a value.
    unsafe fn data<T>(&self, parameter: Parameter) -> &'a [T] {
        // SAFETY: a flat vector holds at least as many elements as its chunk has rows; the caller vouches for the
        // type, and the engine doesn't write to arguments during a call.
        unsafe { slice(sys::duckdb_vector_get_data(self.vector(parameter.index)).cast(), self.len) }
    }

    pub(super) fn vector(&self, index: usize) -> sys::duckdb_vector {
        assert!(index < self.columns.len(), "argument {index} of {}", self.columns.len());
        // SAFETY: the chunk is alive and has this column.
        unsafe { sys::duckdb_data_chunk_get_vector(self.chunk, index as sys::idx_t) }
    }

    /// The validity of an argument; `None` when all its rows are valid.
    pub(crate) fn validity(&self, parameter: Parameter) -> Option<&'a [u64]> {
        self.validity_at(parameter.index)
    }

    pub(super) fn validity_at(&self, index: usize) -> Option<&'a [u64]> {
        // SAFETY: the vector is alive; a mask that is not null has a bit for each row.
        unsafe {
            let words = sys::duckdb_vector_get_validity(self.vector(index));
            (!words.is_null()).then(|| slice(words, words_for(self.len)))
        }
    }
}

/// How many bytes a string has, and where they are: up to twelve in the string itself, more in a buffer of its vector, as
/// `duckdb.h` says.
#[inline(always)]
fn place(string: &sys::duckdb_string_t) -> (usize, *const u8) {
    // SAFETY: both of the union's forms begin with the length, which says which of them it is.
    unsafe {
        let length = string.value.inlined.length as usize;
        let inlined = &string.value.inlined.inlined;
        // Long and short names come in no order, so that a branch would be foretold wrongly.
        let data = select_unpredictable(
            length <= inlined.len(),
            inlined.as_ptr(),
            string.value.pointer.ptr.cast_const(),
        );
        (length, data.cast::<u8>())
    }
}

/// Which elements of one list are not NULL.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    validity: Option<&'a [u64]>,
    first: usize,
    len: usize,
}

impl Known<'_> {
    /// Whether the element at `index` is one of the list, and not NULL.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.len && is_valid(self.validity, self.first + index)
    }
}
