//! Table functions: from the engine's callbacks to one safe trait.
//!
//! The tables here are computed: how many rows there are is known once the arguments are, and row `i` follows from
//! `i`. So a scan keeps one number, the engine asks for a chunk at a time, and it may stop or be interrupted between
//! two chunks.
//!
//! The `duckdb` crate's `VTab` serves where arguments are texts and numbers, but its values give no interval and no
//! timestamp, and keep their handles private; hence this trait.
//!
//! Arguments are constants: the engine computes them before it binds, and refuses columns and subqueries itself.

use super::contain::{contain, drop_box, give_away};
use super::fault;
use super::handles::{LogicalType, TableFunction, Value};
use super::output::Rows;
use super::storage::Storage;
use super::value::{Given, Parameter};
use crate::error::{Error, Result};
use libduckdb_sys as sys;
use std::any::Any;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// A table function.
pub(crate) trait Table: Send + Sync + 'static {
    /// What binding finds out.
    type Plan: Send + Sync + 'static;

    /// Checks the arguments while the query is bound, and says what the table looks like.
    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Self::Plan>>;

    /// Computes some neighbouring rows.
    fn write(&self, plan: &Self::Plan, rows: &mut Rows<'_>) -> Result<()>;
}

/// A table whose arguments are known.
pub(crate) struct Bound<P> {
    /// What its rows are computed from.
    pub(crate) plan: P,
    /// How many there are.
    pub(crate) len: u64,
    /// The names and types of its columns.
    pub(crate) columns: Vec<(&'static CStr, LogicalType)>,
}

/// The parameters of a table function.
pub(crate) struct Parameters {
    /// By position; all are required. The engine keeps one overload of a table function and silently drops the others,
    /// so what depends on a type is left open here and checked in [`Table::bind`].
    pub(crate) positional: Vec<LogicalType>,
    /// By name; all are optional.
    pub(crate) named: Vec<(&'static CStr, LogicalType)>,
}

/// A [`Table`] whose plan has no type, so that the callbacks are compiled once for all.
trait Erased: Send + Sync {
    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Plan>>;
    fn write(&self, plan: &Plan, rows: &mut Rows<'_>) -> Result<()>;
}

type Plan = Box<dyn Any + Send + Sync>;

impl<T: Table> Erased for T {
    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Plan>> {
        let Bound { plan, len, columns } = Table::bind(self, arguments)?;
        Ok(Bound { plan: Box::new(plan), len, columns })
    }

    fn write(&self, plan: &Plan, rows: &mut Rows<'_>) -> Result<()> {
        Table::write(self, plan.downcast_ref().expect("the plan that this table made"), rows)
    }
}

/// What the engine keeps for a bound call.
struct Call {
    plan: Plan,
    len: u64,
    columns: Vec<(&'static CStr, Storage)>,
}

/// The first row that a scan has not produced yet.
struct Position(AtomicU64);

/// What the engine keeps for a function and hands to each callback.
struct Registered {
    name: &'static CStr,
    table: Box<dyn Erased>,
}

/// Builds the engine's function object for `table`.
pub(super) fn build<T: Table>(name: &'static CStr, parameters: &Parameters, table: T) -> TableFunction {
    let function = TableFunction::new();
    let raw = function.raw();
    let registered = Registered { name, table: Box::new(table) };
    // SAFETY: the function and the types are alive; names and types are copied. The extra info is a box of
    // `Registered`, which the callbacks below read as such and the engine frees with `drop_box`.
    unsafe {
        sys::duckdb_table_function_set_name(raw, name.as_ptr());
        for parameter in &parameters.positional {
            sys::duckdb_table_function_add_parameter(raw, parameter.raw());
        }
        for (name, parameter) in &parameters.named {
            sys::duckdb_table_function_add_named_parameter(raw, name.as_ptr(), parameter.raw());
        }
        sys::duckdb_table_function_set_extra_info(raw, give_away(registered), Some(drop_box::<Registered>));
        sys::duckdb_table_function_set_bind(raw, Some(bind));
        sys::duckdb_table_function_set_init(raw, Some(init));
        sys::duckdb_table_function_set_function(raw, Some(produce));
    }
    function
}

unsafe extern "C" fn bind(info: sys::duckdb_bind_info) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_bind_get_extra_info(info).cast::<Registered>() };
    // SAFETY: the bind is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_bind_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point("table bind");
        // SAFETY: the bind is running until this callback returns.
        let Bound { plan, len, columns } = registered.table.bind(&unsafe { TableArguments::new(info) })?;
        let storages =
            columns.iter().map(|(name, logical_type)| (*name, Storage::of(logical_type))).collect();
        // SAFETY: the bind is running; names and types are copied. The bind data is a box of `Call`, which
        // `produce` reads as such and the engine frees with `drop_box`.
        unsafe {
            for (name, logical_type) in &columns {
                sys::duckdb_bind_add_result_column(info, name.as_ptr(), logical_type.raw());
            }
            sys::duckdb_bind_set_cardinality(info, len, true);
            let call = Call { plan, len, columns: storages };
            sys::duckdb_bind_set_bind_data(info, give_away(call), Some(drop_box::<Call>));
        }
        Ok::<_, Error>(())
    });
}

unsafe extern "C" fn init(info: sys::duckdb_init_info) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_init_get_extra_info(info).cast::<Registered>() };
    // SAFETY: the init is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_init_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point("table init");
        let position = give_away(Position(AtomicU64::new(0)));
        // SAFETY: the init is running. The init data is a box of `Position`, which `produce` reads as such and the
        // engine frees with `drop_box`.
        unsafe { sys::duckdb_init_set_init_data(info, position, Some(drop_box::<Position>)) };
        Ok::<_, Error>(())
    });
}

unsafe extern "C" fn produce(info: sys::duckdb_function_info, output: sys::duckdb_data_chunk) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_function_get_extra_info(info).cast::<Registered>() };
    // SAFETY: the call is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_function_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point("table produce");
        // SAFETY: the bind data and the init data are what `bind` and `init` set, alive during the call. The chunk is
        // alive during the call, has the columns that `bind` added, and its flat vectors have room for a vector's
        // size of rows.
        unsafe {
            let call = &*sys::duckdb_function_get_bind_data(info).cast::<Call>();
            let position = &*sys::duckdb_function_get_init_data(info).cast::<Position>();
            let most = sys::duckdb_vector_size();
            let from = position.0.fetch_add(most, Ordering::Relaxed).min(call.len);
            let len = most.min(call.len - from);
            registered.table.write(&call.plan, &mut Rows::new(output, &call.columns, from, len as usize))?;
            sys::duckdb_data_chunk_set_size(output, len);
        }
        Ok::<_, Error>(())
    });
}

/// The arguments of a table function's call, which the engine has computed, and cast where the parameter has a type.
pub(crate) struct TableArguments {
    info: sys::duckdb_bind_info,
}

impl TableArguments {
    /// # Safety
    ///
    /// `info` belongs to a bind callback of a table function that runs as long as this value lives.
    const unsafe fn new(info: sys::duckdb_bind_info) -> Self {
        Self { info }
    }

    /// The argument, or an error when it is NULL.
    pub(crate) fn required(&self, parameter: Parameter) -> Result<Given> {
        self.positional(parameter).ok_or(Error::Null { argument: parameter.argument })
    }

    /// The argument, or `None` when it is NULL.
    pub(crate) fn positional(&self, parameter: Parameter) -> Option<Given> {
        // SAFETY: the bind is running.
        let value = unsafe { Value::of_parameter(self.info, parameter.index) };
        value.map(Given::new).filter(|given| !given.is_null())
    }

    /// The argument of this name, or `None` when it is not given.
    pub(crate) fn named(&self, name: &'static CStr) -> Option<Given> {
        // SAFETY: the bind is running.
        unsafe { Value::of_named_parameter(self.info, name) }.map(Given::new)
    }
}
