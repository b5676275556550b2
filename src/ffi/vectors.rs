//! Chunks and vectors as slices.

use super::TIMESTAMP_TZ_NS;
use super::handles::{LogicalType, Vector};
use super::value::Parameter;
use crate::error::{Error, Result};
use kernel::{Interval, List, intersect, is_valid};
use libduckdb_sys as sys;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::OnceLock;

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

/// The type of an argument, and how the engine stores it.
#[derive(Debug, Clone)]
pub(super) struct Column {
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

impl Column {
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

/// The arguments of one call: some rows of each. The engine has flattened every vector.
pub(crate) struct Chunk<'a> {
    chunk: sys::duckdb_data_chunk,
    columns: &'a [Column],
    len: usize,
}

impl<'a> Chunk<'a> {
    /// # Safety
    ///
    /// `chunk` is alive for `'a`, its vectors are flat, and they are of the types that `columns` says.
    pub(super) unsafe fn new(chunk: sys::duckdb_data_chunk, columns: &'a [Column]) -> Self {
        // SAFETY: the chunk is alive.
        let len = unsafe { sys::duckdb_data_chunk_get_size(chunk) } as usize;
        Self { chunk, columns, len }
    }

    /// What each vector of a chunk is, by its own type.
    ///
    /// # Safety
    ///
    /// `chunk` is alive.
    pub(super) unsafe fn columns(chunk: sys::duckdb_data_chunk) -> Vec<Column> {
        // SAFETY: the chunk is alive and has as many columns as it says.
        unsafe {
            let column = |index| {
                let vector = sys::duckdb_data_chunk_get_vector(chunk, index);
                Column::of(&LogicalType::of_vector(vector))
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

    fn require(&self, parameter: Parameter, storage: Storage) {
        assert_eq!(self.columns[parameter.index].storage, storage, "{}", parameter.argument);
    }

    /// The ticks of a timestamp. Those of NULL rows are undefined, but readable.
    pub(crate) fn ticks(&self, parameter: Parameter) -> &'a [i64] {
        self.require(parameter, Storage::Ticks);
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data(parameter) }
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

    /// The days of a DATE. Those of NULL rows are undefined, but readable.
    pub(crate) fn dates(&self, parameter: Parameter) -> &'a [i32] {
        self.require(parameter, Storage::Days);
        // SAFETY: the vector is stored as `i32`, as was just checked.
        unsafe { self.data(parameter) }
    }

    /// The text of an argument in each row, a VARCHAR. To be asked of valid rows only.
    pub(crate) fn texts(&self, parameter: Parameter) -> impl Fn(usize) -> &'a str {
        self.require(parameter, Storage::Text);
        let (len, validity) = (self.len, self.validity(parameter));
        // SAFETY: the vector is alive and stored as `duckdb_string_t`, as was just checked.
        let strings = unsafe {
            sys::duckdb_vector_get_data(self.vector(parameter.index)).cast::<sys::duckdb_string_t>()
        };
        move |row| {
            assert!(row < len && is_valid(validity, row), "row {row} of {len}");
            // SAFETY: the vector holds `len` strings, and that of a valid row is initialised. Its bytes live in the
            // string itself or in a buffer of the vector, for `'a` both; the engine holds UTF-8 only.
            unsafe {
                let string = strings.add(row);
                let bytes = sys::duckdb_string_t_data(string).cast::<u8>();
                let text = std::slice::from_raw_parts(bytes, sys::duckdb_string_t_length(*string) as usize);
                std::str::from_utf8(text).unwrap_or_default()
            }
        }
    }

    /// The bytes of an argument in each row, a VARCHAR: UTF-8. To be asked of valid rows only.
    pub(crate) fn bytes(&self, parameter: Parameter) -> impl Fn(usize) -> &'a [u8] {
        self.require(parameter, Storage::Text);
        let (len, validity) = (self.len, self.validity(parameter));
        // SAFETY: the vector is alive and stored as `duckdb_string_t`, as was just checked.
        let strings = unsafe {
            sys::duckdb_vector_get_data(self.vector(parameter.index)).cast::<sys::duckdb_string_t>()
        };
        move |row| {
            assert!(row < len && is_valid(validity, row), "row {row} of {len}");
            // SAFETY: the vector holds `len` strings, and that of a valid row is initialised. Up to twelve bytes live in
            // the string itself, more in a buffer of the vector, as `duckdb.h` says; for `'a` both. Both of the union's
            // forms begin with the length.
            unsafe {
                let string = &*strings.add(row);
                let length = string.value.inlined.length as usize;
                let data = if length <= string.value.inlined.inlined.len() {
                    string.value.inlined.inlined.as_ptr()
                } else {
                    string.value.pointer.ptr.cast_const()
                };
                std::slice::from_raw_parts(data.cast::<u8>(), length)
            }
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

    /// The numbers of a BIGINT. Those of NULL rows are undefined, but readable.
    pub(crate) fn integers(&self, parameter: Parameter) -> &'a [i64] {
        self.require(parameter, Storage::Integer);
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data(parameter) }
    }

    /// The numbers of an INTEGER. Those of NULL rows are undefined, but readable.
    pub(crate) fn ints(&self, parameter: Parameter) -> &'a [i32] {
        self.require(parameter, Storage::Int);
        // SAFETY: the vector is stored as `i32`, as was just checked.
        unsafe { self.data(parameter) }
    }

    /// The numbers of a DOUBLE. Those of NULL rows are undefined, but readable.
    pub(crate) fn doubles(&self, parameter: Parameter) -> &'a [f64] {
        self.require(parameter, Storage::Double);
        // SAFETY: the vector is stored as `f64`, as was just checked.
        unsafe { self.data(parameter) }
    }

    /// The numbers of a FLOAT. Those of NULL rows are undefined, but readable.
    pub(crate) fn floats(&self, parameter: Parameter) -> &'a [f32] {
        self.require(parameter, Storage::Float);
        // SAFETY: the vector is stored as `f32`, as was just checked.
        unsafe { self.data(parameter) }
    }

    /// The whole number that an argument is in each row, and the digits after its point: of any integer type, or a
    /// DECIMAL, which is counted in its last digit. `None` where it is neither.
    pub(crate) fn units(&self, parameter: Parameter) -> Option<(Units<'a>, u8)> {
        // SAFETY: the vector is alive, and stored as the integer type of this id.
        unsafe {
            let (id, digits) = LogicalType::of_vector(self.vector(parameter.index)).units()?;
            let units = match id {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => Units::I8(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => Units::I16(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Units::I32(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Units::I64(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Units::I128(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => Units::U8(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => Units::U16(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => Units::U32(self.data(parameter)),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => Units::U64(self.data(parameter)),
                _ => return None,
            };
            Some((units, digits))
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

    fn validity_at(&self, index: usize) -> Option<&'a [u64]> {
        // SAFETY: the vector is alive; a mask that is not null has a bit for each row.
        unsafe {
            let words = sys::duckdb_vector_get_validity(self.vector(index));
            (!words.is_null()).then(|| slice(words, words_for(self.len)))
        }
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

/// Whole numbers of one type.
#[derive(Clone, Copy)]
pub(crate) enum Units<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    I128(&'a [Huge]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

impl Units<'_> {
    /// The number of a row.
    pub(crate) fn of(&self, row: usize) -> i128 {
        match self {
            Self::I8(units) => units[row].into(),
            Self::I16(units) => units[row].into(),
            Self::I32(units) => units[row].into(),
            Self::I64(units) => units[row].into(),
            Self::I128(units) => i128::from(units[row].upper) << 64 | i128::from(units[row].lower),
            Self::U8(units) => units[row].into(),
            Self::U16(units) => units[row].into(),
            Self::U32(units) => units[row].into(),
            Self::U64(units) => units[row].into(),
        }
    }
}

/// A HUGEINT as the engine stores it.
type Huge = sys::duckdb_hugeint;

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
        let mut masks = (0..input.columns.len()).filter_map(|index| input.validity_at(index));
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

    /// Where to write the ticks of each row, a timestamp, and which rows are valid (`None`: all).
    pub(crate) fn ticks_and_validity(&mut self) -> (&mut [i64], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Ticks, "result");
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the interval of each row, and which rows are valid (`None`: all).
    pub(crate) fn intervals_and_validity(&mut self) -> (&mut [Interval], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Interval, "result");
        // SAFETY: the vector is stored as `duckdb_interval`, as was just checked, whose layout `Interval` has.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the number of each row, a BIGINT, and which rows are valid (`None`: all).
    pub(crate) fn integers_and_validity(&mut self) -> (&mut [i64], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Integer, "result");
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the number of each row, an INTEGER, and which rows are valid (`None`: all).
    pub(crate) fn ints_and_validity(&mut self) -> (&mut [i32], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Int, "result");
        // SAFETY: the vector is stored as `i32`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the days of each row, a DATE, and which rows are valid (`None`: all).
    pub(crate) fn dates_and_validity(&mut self) -> (&mut [i32], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Days, "result");
        // SAFETY: the vector is stored as `i32`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the number of each row, a DOUBLE, and which rows are valid (`None`: all).
    pub(crate) fn doubles_and_validity(&mut self) -> (&mut [f64], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Double, "result");
        // SAFETY: the vector is stored as `f64`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the number of each row, a FLOAT, and which rows are valid (`None`: all).
    pub(crate) fn floats_and_validity(&mut self) -> (&mut [f32], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Float, "result");
        // SAFETY: the vector is stored as `f32`, as was just checked.
        unsafe { self.data_and_validity() }
    }

    /// Where to write the answer of each row, 0 or 1, and which rows are valid (`None`: all).
    pub(crate) fn booleans_and_validity(&mut self) -> (&mut [u8], Option<&[u64]>) {
        assert_eq!(self.storage, Storage::Boolean, "result");
        // SAFETY: the vector is stored as `bool`, as was just checked, which has the size of a `u8`.
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

    /// Where to write the ticks of column `name`, a timestamp.
    pub(crate) fn ticks(&mut self, name: &CStr) -> &mut [i64] {
        let index = self.index(name, Storage::Ticks);
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data(index) }
    }

    /// Where to write the numbers of column `name`, a BIGINT.
    pub(crate) fn integers(&mut self, name: &CStr) -> &mut [i64] {
        let index = self.index(name, Storage::Integer);
        // SAFETY: the vector is stored as `i64`, as was just checked.
        unsafe { self.data(index) }
    }

    /// Where to write the intervals of column `name`.
    pub(crate) fn intervals(&mut self, name: &CStr) -> &mut [Interval] {
        let index = self.index(name, Storage::Interval);
        // SAFETY: the vector is stored as `duckdb_interval`, as was just checked, whose layout `Interval` has.
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
