//! Owners of the engine's handles: each frees its handle once, when it is dropped.

use crate::error::LoadError;
use kernel::{Civil, Interval, Precision};
use libduckdb_sys as sys;
use std::ffi::CStr;

/// Declares an owner of one kind of handle and the function that frees it.
macro_rules! owner {
    ($(#[$docs:meta])* $name:ident($handle:ty), $destroy:path) => {
        $(#[$docs])*
        pub(crate) struct $name($handle);

        impl $name {
            /// The handle, still owned by this value.
            #[allow(dead_code, reason = "not every owner hands its handle on")]
            pub(super) const fn raw(&self) -> $handle {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle came from the engine, is owned by this value alone and is freed here only. The
                // engine's destroy functions accept null.
                unsafe { $destroy(&mut self.0) };
            }
        }
    };
}

owner!(
    /// A connection of our own. One kept open after LOAD would keep the database's files open too.
    Connection(sys::duckdb_connection), sys::duckdb_disconnect
);
owner!(
    /// A column type.
    LogicalType(sys::duckdb_logical_type), sys::duckdb_destroy_logical_type
);
owner!(
    /// A scalar function under construction.
    ScalarFunction(sys::duckdb_scalar_function), sys::duckdb_destroy_scalar_function
);
owner!(
    /// All overloads of one name.
    ScalarFunctionSet(sys::duckdb_scalar_function_set), sys::duckdb_destroy_scalar_function_set
);
owner!(
    /// A table function under construction.
    TableFunction(sys::duckdb_table_function), sys::duckdb_destroy_table_function
);
owner!(
    /// An aggregate function under construction.
    AggregateFunction(sys::duckdb_aggregate_function), sys::duckdb_destroy_aggregate_function
);
owner!(
    /// All overloads of one aggregate's name.
    AggregateFunctionSet(sys::duckdb_aggregate_function_set), sys::duckdb_destroy_aggregate_function_set
);
owner!(
    /// A bound argument, not yet computed.
    Expression(sys::duckdb_expression), sys::duckdb_destroy_expression
);
owner!(
    /// The session that binds.
    ClientContext(sys::duckdb_client_context), sys::duckdb_destroy_client_context
);
owner!(
    /// A value of any type.
    Value(sys::duckdb_value), sys::duckdb_destroy_value
);
owner!(
    /// A vector of our own.
    Vector(sys::duckdb_vector), sys::duckdb_destroy_vector
);
owner!(
    /// The reason why the engine failed, or null.
    ErrorData(sys::duckdb_error_data), sys::duckdb_destroy_error_data
);

impl LogicalType {
    /// # Safety
    ///
    /// `vector` is alive.
    pub(super) unsafe fn of_vector(vector: sys::duckdb_vector) -> Self {
        // SAFETY: the vector is alive; the type that it gives is ours.
        Self(unsafe { sys::duckdb_vector_get_column_type(vector) })
    }
}

impl Connection {
    /// # Safety
    ///
    /// `database` is alive.
    pub(super) unsafe fn open(database: sys::duckdb_database) -> Result<Self, LoadError> {
        let mut connection = std::ptr::null_mut();
        // SAFETY: the database is alive, and the out pointer is valid.
        let state = unsafe { sys::duckdb_connect(database, &mut connection) };
        if state == sys::DuckDBSuccess {
            Ok(Self(connection))
        } else {
            Err(LoadError::Missing { what: "connection" })
        }
    }

    /// Runs a statement without a result.
    pub(super) fn run(&self, sql: &CStr) -> Result<(), LoadError> {
        // SAFETY: the connection is alive and the text is a C string; no result is asked for.
        let state = unsafe { sys::duckdb_query(self.raw(), sql.as_ptr(), std::ptr::null_mut()) };
        (state == sys::DuckDBSuccess).then_some(()).ok_or(LoadError::Missing { what: "transaction" })
    }
}

impl Vector {
    /// A vector of another one's type with room for `capacity` rows, or `None` where memory lacks.
    ///
    /// # Safety
    ///
    /// `like` is alive.
    pub(super) unsafe fn new(like: sys::duckdb_vector, capacity: sys::idx_t) -> Option<Self> {
        // SAFETY: the vector is alive; the type that it gives is ours.
        let logical_type = LogicalType(unsafe { sys::duckdb_vector_get_column_type(like) });
        // SAFETY: the type is alive, and is copied. The vector is ours; null says that it could not be allocated.
        let vector = unsafe { sys::duckdb_create_vector(logical_type.raw(), capacity) };
        (!vector.is_null()).then_some(Self(vector))
    }
}

impl LogicalType {
    /// The type with this id of the C API, or `None` where the running engine has no such type.
    pub(crate) fn of_id(id: sys::duckdb_type) -> Option<Self> {
        // SAFETY: any id may be asked for; an unknown one gives the invalid type.
        let logical_type = Self(unsafe { sys::duckdb_create_logical_type(id) });
        (!logical_type.raw().is_null() && logical_type.id() == id).then_some(logical_type)
    }

    /// A union of these members.
    pub(crate) fn union<const N: usize>(members: [(&CStr, &Self); N]) -> Self {
        let mut names = members.map(|(name, _)| name.as_ptr());
        let mut types = members.map(|(_, member)| member.raw());
        // SAFETY: both arrays have `N` elements, which are alive; the new type keeps copies.
        Self(unsafe {
            sys::duckdb_create_union_type(types.as_mut_ptr(), names.as_mut_ptr(), N as sys::idx_t)
        })
    }

    /// A list of these.
    pub(crate) fn list(&self) -> Self {
        // SAFETY: the handle is alive; the new type keeps a copy.
        Self(unsafe { sys::duckdb_create_list_type(self.raw()) })
    }

    /// A struct of these fields.
    pub(crate) fn structure<const N: usize>(fields: [(&CStr, &Self); N]) -> Self {
        let mut names = fields.map(|(name, _)| name.as_ptr());
        let mut types = fields.map(|(_, field)| field.raw());
        // SAFETY: both arrays have `N` elements, which are alive; the new type keeps copies.
        Self(unsafe {
            sys::duckdb_create_struct_type(types.as_mut_ptr(), names.as_mut_ptr(), N as sys::idx_t)
        })
    }

    /// A DECIMAL of 38 digits, all before the point.
    pub(crate) fn decimal() -> Self {
        // SAFETY: no precondition.
        Self(unsafe { sys::duckdb_create_decimal_type(38, 0) })
    }

    /// The id of the type that its values are stored as, which for a DECIMAL is an integer's, and how many digits
    /// they have after the point.
    pub(super) fn stored_number(&self) -> (sys::duckdb_type, u8) {
        match self.id() {
            // SAFETY: the handle is alive and a DECIMAL.
            sys::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL => unsafe {
                (sys::duckdb_decimal_internal_type(self.raw()), sys::duckdb_decimal_scale(self.raw()))
            },
            id => (id, 0),
        }
    }

    /// The type of a list's elements, or of a struct's field; `None` when this is neither, or has no such field.
    pub(super) fn child(&self, index: usize) -> Option<Self> {
        // SAFETY: the handle is alive and of the type that each function is for; the type that it gives is ours.
        let child = unsafe {
            match self.id() {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_LIST if index == 0 => {
                    sys::duckdb_list_type_child_type(self.raw())
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT
                    if (index as sys::idx_t) < sys::duckdb_struct_type_child_count(self.raw()) =>
                {
                    sys::duckdb_struct_type_child_type(self.raw(), index as sys::idx_t)
                }
                _ => return None,
            }
        };
        (!child.is_null()).then_some(Self(child))
    }

    /// The id of the C API.
    pub(crate) fn id(&self) -> sys::duckdb_type {
        // SAFETY: the handle is alive.
        unsafe { sys::duckdb_get_type_id(self.raw()) }
    }
}

impl ScalarFunction {
    pub(super) fn new() -> Self {
        // SAFETY: no precondition.
        Self(unsafe { sys::duckdb_create_scalar_function() })
    }
}

impl AggregateFunction {
    pub(super) fn new() -> Self {
        // SAFETY: no precondition.
        Self(unsafe { sys::duckdb_create_aggregate_function() })
    }
}

impl AggregateFunctionSet {
    pub(super) fn new(name: &CStr) -> Self {
        // SAFETY: the name is a C string, and is copied.
        Self(unsafe { sys::duckdb_create_aggregate_function_set(name.as_ptr()) })
    }
}

impl TableFunction {
    pub(super) fn new() -> Self {
        // SAFETY: no precondition.
        Self(unsafe { sys::duckdb_create_table_function() })
    }
}

impl ScalarFunctionSet {
    pub(super) fn new(name: &CStr) -> Self {
        // SAFETY: the name is a C string, and is copied.
        Self(unsafe { sys::duckdb_create_scalar_function_set(name.as_ptr()) })
    }
}

impl ClientContext {
    /// # Safety
    ///
    /// `info` is the argument of a running bind callback of a scalar function.
    pub(super) unsafe fn of_bind(info: sys::duckdb_bind_info) -> Self {
        let mut context = std::ptr::null_mut();
        // SAFETY: the bind is running, and the out pointer is valid.
        unsafe { sys::duckdb_scalar_function_get_client_context(info, &mut context) };
        Self(context)
    }
}

impl Expression {
    /// # Safety
    ///
    /// `info` is the argument of a running bind callback. For a subquery the engine gives no expression and sets an
    /// error of its own, which the caller has to replace.
    pub(super) unsafe fn of_bind(info: sys::duckdb_bind_info, index: usize) -> Option<Self> {
        // SAFETY: the bind is running; an index out of bounds gives null.
        let expression = unsafe { sys::duckdb_scalar_function_bind_get_argument(info, index as sys::idx_t) };
        (!expression.is_null()).then_some(Self(expression))
    }

    /// Its type.
    pub(super) fn return_type(&self) -> LogicalType {
        // SAFETY: the handle is alive; the type that it gives is ours.
        LogicalType(unsafe { sys::duckdb_expression_return_type(self.raw()) })
    }

    /// The value, when it folds to a constant and computing it does not fail.
    pub(super) fn fold(&self, context: &ClientContext) -> Option<Value> {
        let mut value = std::ptr::null_mut();
        // SAFETY: both handles are alive, and the out pointer is valid. Folding catches the engine's exceptions; the
        // value stays null when it fails, and when the expression is not foldable.
        drop(ErrorData(unsafe { sys::duckdb_expression_fold(context.raw(), self.raw(), &mut value) }));
        (!value.is_null()).then_some(Value(value))
    }
}

impl Value {
    /// # Safety
    ///
    /// `info` is the argument of a running bind callback of a table function.
    pub(super) unsafe fn of_parameter(info: sys::duckdb_bind_info, index: usize) -> Option<Self> {
        // SAFETY: the bind is running; an index out of bounds gives null. The value is ours.
        let value = unsafe { sys::duckdb_bind_get_parameter(info, index as sys::idx_t) };
        (!value.is_null()).then_some(Self(value))
    }

    /// # Safety
    ///
    /// As for [`Self::of_parameter`].
    pub(super) unsafe fn of_named_parameter(info: sys::duckdb_bind_info, name: &CStr) -> Option<Self> {
        // SAFETY: the bind is running; a parameter that was not given is null. The value is ours.
        let value = unsafe { sys::duckdb_bind_get_named_parameter(info, name.as_ptr()) };
        (!value.is_null()).then_some(Self(value))
    }

    /// The id of its type.
    pub(super) fn type_id(&self) -> sys::duckdb_type {
        // SAFETY: the handle is alive; the type that it gives belongs to the value and is not freed here.
        unsafe { sys::duckdb_get_type_id(sys::duckdb_get_value_type(self.raw())) }
    }

    /// As a whole number.
    pub(super) fn integer(&self) -> i64 {
        // SAFETY: the handle is alive and not NULL.
        unsafe { sys::duckdb_get_int64(self.raw()) }
    }

    /// As text, for messages. The engine casts only types that it never fails to print, since an exception of its
    /// would end the process here; others are `None`.
    pub(super) fn printed(&self) -> Option<String> {
        if let Some((tick, precision)) = self.timestamp() {
            return Some(Civil { tick, precision }.to_string());
        }
        let prints = [
            sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN..=sys::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE..=sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            sys::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL..=sys::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL,
        ];
        if !prints.iter().any(|types| types.contains(&self.type_id())) {
            return None;
        }
        // SAFETY: the handle is alive; the text that the engine gives is ours, and is freed once.
        unsafe {
            let text = sys::duckdb_get_varchar(self.raw());
            if text.is_null() {
                return None;
            }
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            sys::duckdb_free(text.cast());
            Some(copy)
        }
    }

    /// The elements of a list of texts, or of an empty list; `None` for a value of another type.
    pub(super) fn elements(&self) -> Option<Vec<Self>> {
        if self.type_id() != sys::DUCKDB_TYPE_DUCKDB_TYPE_LIST {
            return None;
        }
        // SAFETY: the handle is alive, a list and not NULL; each element that the engine gives is ours.
        let elements = unsafe {
            let len = sys::duckdb_get_list_size(self.raw());
            (0..len).map(|index| Self(sys::duckdb_get_list_child(self.raw(), index))).collect::<Vec<_>>()
        };
        elements
            .iter()
            .all(|element| element.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR)
            .then_some(elements)
    }

    /// Whether this is NULL of any type.
    pub(super) fn is_null(&self) -> bool {
        // SAFETY: the handle is alive.
        unsafe { sys::duckdb_is_null_value(self.raw()) }
    }

    /// The interval that this is, or that this says if it is a text, which is cast in its place; `None` for a text that
    /// says none, and for a value of another type.
    ///
    /// The C API marks a failed cast by the interval that is lowest in every field, which can be meant as well. A value
    /// that is an interval means it. A text means it if it is a month longer with a month before it: what can't be cast
    /// still can't then.
    pub(super) fn interval(&self) -> Option<Interval> {
        const LOWEST: Interval = Interval { months: i32::MIN, days: i32::MIN, micros: i64::MIN };
        const INTERVAL: sys::duckdb_type = sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL;
        if !matches!(self.type_id(), INTERVAL | sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR) {
            return None;
        }
        let interval = self.cast_to_interval();
        let is_meant_by_text = || {
            let longer = Self::of_text(&format!("1 month {}", self.printed().unwrap_or_default()));
            let longer = longer.map(|longer| longer.cast_to_interval());
            longer == Some(Interval { months: LOWEST.months + 1, ..LOWEST })
        };
        let is_meant = || self.type_id() == INTERVAL || is_meant_by_text();
        (interval != LOWEST || is_meant()).then_some(interval)
    }

    fn cast_to_interval(&self) -> Interval {
        // SAFETY: the handle is alive and not NULL.
        let sys::duckdb_interval { months, days, micros } = unsafe { sys::duckdb_get_interval(self.raw()) };
        Interval { months, days, micros }
    }

    fn of_text(text: &str) -> Option<Self> {
        // SAFETY: the pointer and the length are those of a text, which is copied. The value is ours.
        let value =
            unsafe { sys::duckdb_create_varchar_length(text.as_ptr().cast(), text.len() as sys::idx_t) };
        (!value.is_null()).then_some(Self(value))
    }

    /// The ticks of a timestamp and what one is worth, or `None` for a value of another type. Each is read as what it
    /// is, since the engine may throw where it computes a cast between timestamps, which would end the process here.
    pub(super) fn timestamp(&self) -> Option<(i64, Precision)> {
        // SAFETY: the handle is alive and not NULL; each function reads its own type as it is.
        unsafe {
            match self.type_id() {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S => {
                    Some((sys::duckdb_get_timestamp_s(self.raw()).seconds, Precision::Second))
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS => {
                    Some((sys::duckdb_get_timestamp_ms(self.raw()).millis, Precision::Millisecond))
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP => {
                    Some((sys::duckdb_get_timestamp(self.raw()).micros, Precision::Microsecond))
                }
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ => {
                    Some((sys::duckdb_get_timestamp_tz(self.raw()).micros, Precision::Microsecond))
                }
                // The C API has no function for the type with a time zone. This one casts it to the type without,
                // which the engine does by taking the number over: it can't fail, and changes nothing.
                sys::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS | super::TIMESTAMP_TZ_NS => {
                    Some((sys::duckdb_get_timestamp_ns(self.raw()).nanos, Precision::Nanosecond))
                }
                _ => None,
            }
        }
    }

    /// The days of a DATE, or `None` for a value of another type.
    pub(super) fn date(&self) -> Option<i32> {
        // SAFETY: the handle is alive and not NULL.
        let days = || unsafe { sys::duckdb_get_date(self.raw()).days };
        (self.type_id() == sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE).then(days)
    }
}
