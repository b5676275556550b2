//! Columns whose type is known only when a chunk arrives, since the parameter takes any: numbers, and structs of them.

use super::chunk::Chunk;
use super::handles::LogicalType;
use super::storage::{slice, words_for};
use super::value::Parameter;
use kernel::Whole;
use libduckdb_sys as sys;
use std::marker::PhantomData;

/// A column of numbers.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    /// FLOAT and DOUBLE.
    Doubles(Doubles<'a>),
    /// Integers, DECIMAL and BOOLEAN, and how many decimal digits their unit has after the point.
    Wholes(Wholes<'a>, u8),
}

/// A column of FLOAT or DOUBLE.
#[derive(Clone, Copy)]
pub(crate) enum Doubles<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl Doubles<'_> {
    /// The number in a row.
    #[inline(always)]
    pub(crate) fn at(self, row: usize) -> f64 {
        match self {
            Self::Single(values) => values[row].into(),
            Self::Double(values) => values[row],
        }
    }
}

/// A column of integers, or of a DECIMAL's units.
#[derive(Clone, Copy)]
pub(crate) enum Wholes<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    I128(&'a [Whole]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

impl Wholes<'_> {
    /// The number in a row.
    #[inline(always)]
    pub(crate) fn at(self, row: usize) -> Whole {
        match self {
            Self::I8(values) => Whole::new(values[row].into()),
            Self::I16(values) => Whole::new(values[row].into()),
            Self::I32(values) => Whole::new(values[row].into()),
            Self::I64(values) => Whole::new(values[row].into()),
            Self::I128(values) => values[row],
            Self::U8(values) => Whole::new(values[row].into()),
            Self::U16(values) => Whole::new(values[row].into()),
            Self::U32(values) => Whole::new(values[row].into()),
            Self::U64(values) => Whole::new(values[row].into()),
        }
    }
}

impl<'a> Chunk<'a> {
    /// An argument, of whatever type.
    pub(crate) fn column(&self, parameter: Parameter) -> Column<'a> {
        Column { vector: self.vector(parameter.index), len: self.len(), alive: PhantomData }
    }
}

/// An argument, or a field of one that is a struct.
#[derive(Clone, Copy)]
pub(crate) struct Column<'a> {
    vector: sys::duckdb_vector,
    len: usize,
    alive: PhantomData<&'a ()>,
}

impl<'a> Column<'a> {
    fn logical_type(self) -> LogicalType {
        // SAFETY: the vector is alive for `'a`.
        unsafe { LogicalType::of_vector(self.vector) }
    }

    /// The fields of a struct; `None` when this is none of `N` fields.
    pub(crate) fn fields<const N: usize>(self) -> Option<[Self; N]> {
        let logical_type = self.logical_type();
        let is_of_these = logical_type.id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT
            && logical_type.child(N - 1).is_some()
            && logical_type.child(N).is_none();
        is_of_these.then(|| {
            std::array::from_fn(|index| {
                // SAFETY: the vector is a struct with this field, and alive for `'a` with its fields. The engine has
                // flattened them too.
                let vector = unsafe { sys::duckdb_struct_vector_get_child(self.vector, index as sys::idx_t) };
                Self { vector, ..self }
            })
        })
    }

    /// Its validity; `None` when all rows are valid.
    pub(crate) fn validity(self) -> Option<&'a [u64]> {
        // SAFETY: the vector is alive for `'a`; a mask that is not null has a bit for each row.
        unsafe {
            let words = sys::duckdb_vector_get_validity(self.vector);
            (!words.is_null()).then(|| slice(words.cast_const(), words_for(self.len)))
        }
    }

    /// The integers of a BIGINT; `None` when it is none. Those of NULL rows are undefined.
    pub(crate) fn integers(self) -> Option<&'a [i64]> {
        match self.numbers() {
            Some(Numbers::Wholes(Wholes::I64(values), 0)) => Some(values),
            _ => None,
        }
    }

    /// The numbers of a DOUBLE; `None` when it is none. Those of NULL rows are undefined.
    pub(crate) fn doubles(self) -> Option<&'a [f64]> {
        match self.numbers() {
            Some(Numbers::Doubles(Doubles::Double(values))) => Some(values),
            _ => None,
        }
    }

    /// The numbers; `None` when its type is none of theirs. Those of NULL rows are undefined.
    pub(crate) fn numbers(self) -> Option<Numbers<'a>> {
        let (id, scale) = self.logical_type().stored_number();
        // SAFETY: the vector is flat, has `len` rows and is stored as its own type says; every bit pattern is a
        // value of the element types below, of BOOLEAN's bytes too.
        unsafe {
            let data = sys::duckdb_vector_get_data(self.vector);
            macro_rules! column {
                () => {
                    slice(data.cast(), self.len)
                };
            }
            let wholes = match id {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => {
                    return Some(Numbers::Doubles(Doubles::Single(column!())));
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => {
                    return Some(Numbers::Doubles(Doubles::Double(column!())));
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN | sys::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => {
                    Wholes::U8(column!())
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => Wholes::I8(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => Wholes::I16(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Wholes::I32(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Wholes::I64(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Wholes::I128(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => Wholes::U16(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => Wholes::U32(column!()),
                sys::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => Wholes::U64(column!()),
                _ => return None,
            };
            Some(Numbers::Wholes(wholes, scale))
        }
    }
}

// A vector of 128-bit integers is read and written as a slice of ours.
const _: () = {
    assert!(size_of::<Whole>() == size_of::<sys::duckdb_hugeint>());
    assert!(align_of::<Whole>() <= align_of::<sys::duckdb_hugeint>());
    assert!(cfg!(target_endian = "little") && std::mem::offset_of!(sys::duckdb_hugeint, lower) == 0);
};
