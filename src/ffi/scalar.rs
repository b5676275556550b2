//! Scalar functions: from the engine's callbacks to one safe trait.

use super::contain::{contain, contain_quietly, drop_box, give_away};
use super::fault;
use super::handles::{ClientContext, Expression, LogicalType, ScalarFunction, Value};
use super::vectors::{Chunk, Output, Storage};
use crate::error::{Argument, Error, Result};
use kernel::{Interval, Precision};
use libduckdb_sys as sys;
use std::ffi::{CStr, c_void};

/// One overload of a scalar function: what to do with its calls.
///
/// NULL arguments reach both methods (special NULL handling), since a NULL width has to be refused.
pub(crate) trait Scalar: Send + Sync + 'static {
    /// What binding finds out; it may be lost, so [`Self::execute`] has to stand without it.
    type Plan: Clone + Send + Sync + 'static;

    /// The function's name.
    fn name(&self) -> &'static CStr;

    /// Checks the arguments while the query is bound, once for each call in it.
    fn bind(&self, arguments: &Arguments) -> Result<Self::Plan>;

    /// Computes one chunk. Called from many threads at once.
    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()>;
}

/// The types of an overload, all of which the running engine has.
pub(crate) struct Signature {
    /// Of the parameters.
    pub(crate) parameters: Vec<LogicalType>,
    /// Of the result.
    pub(crate) result: LogicalType,
}

/// What the engine keeps for an overload and hands to each callback.
struct Registered<S> {
    scalar: S,
    parameters: Vec<Storage>,
    result: Storage,
}

/// Builds the engine's function object for `scalar`.
pub(super) fn build<S: Scalar>(signature: &Signature, scalar: S) -> ScalarFunction {
    let function = ScalarFunction::new();
    let raw = function.raw();
    let name = scalar.name();
    let registered = Registered {
        scalar,
        parameters: signature.parameters.iter().map(Storage::of).collect(),
        result: Storage::of(&signature.result),
    };
    // SAFETY: the function and the types are alive; names and types are copied. The extra info is a box of
    // `Registered<S>`, which the callbacks below read as such and the engine frees with `drop_box`.
    unsafe {
        sys::duckdb_scalar_function_set_name(raw, name.as_ptr());
        for parameter in &signature.parameters {
            sys::duckdb_scalar_function_add_parameter(raw, parameter.raw());
        }
        sys::duckdb_scalar_function_set_return_type(raw, signature.result.raw());
        sys::duckdb_scalar_function_set_special_handling(raw);
        sys::duckdb_scalar_function_set_extra_info(
            raw,
            give_away(registered),
            Some(drop_box::<Registered<S>>),
        );
        sys::duckdb_scalar_function_set_bind(raw, Some(bind::<S>));
        sys::duckdb_scalar_function_set_function(raw, Some(execute::<S>));
    }
    function
}

unsafe extern "C" fn bind<S: Scalar>(info: sys::duckdb_bind_info) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered =
        unsafe { &*sys::duckdb_scalar_function_bind_get_extra_info(info).cast::<Registered<S>>() };
    // SAFETY: the bind is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_scalar_function_bind_set_error(info, text.as_ptr()) };
    contain(registered.scalar.name(), report, || {
        fault::point("bind");
        // SAFETY: the bind is running until this callback returns.
        let plan = registered.scalar.bind(&unsafe { Arguments::new(info) })?;
        // SAFETY: the bind is running. The plan is a box of `S::Plan`, which the engine copies and frees with the
        // two functions given here.
        unsafe {
            sys::duckdb_scalar_function_set_bind_data(info, give_away(plan), Some(drop_box::<S::Plan>));
            sys::duckdb_scalar_function_set_bind_data_copy(info, Some(copy::<S::Plan>));
        }
        Ok::<_, Error>(())
    });
}

/// Copies a plan when the engine copies the expression that it belongs to; without this the copy would have none.
unsafe extern "C" fn copy<P: Clone>(plan: *mut c_void) -> *mut c_void {
    contain_quietly(std::ptr::null_mut(), || {
        fault::point("copy");
        // SAFETY: the engine passes the plan that `bind` or this function made, or null.
        unsafe { plan.cast::<P>().as_ref() }.map_or(std::ptr::null_mut(), |plan| give_away(plan.clone()))
    })
}

unsafe extern "C" fn execute<S: Scalar>(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    output: sys::duckdb_vector,
) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_scalar_function_get_extra_info(info).cast::<Registered<S>>() };
    // SAFETY: the call is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_scalar_function_set_error(info, text.as_ptr()) };
    contain(registered.scalar.name(), report, || {
        fault::point("execute");
        // SAFETY: the bind data is null or the plan that `bind` set, alive during the call. The chunk and the vector
        // are alive during the call and of the types that the function was registered with; the engine flattens the
        // arguments before it calls, and gives an output with room for the chunk's rows.
        unsafe {
            let plan = sys::duckdb_scalar_function_get_bind_data(info).cast::<S::Plan>().as_ref();
            let input = Chunk::new(input, &registered.parameters);
            let mut output = Output::new(output, registered.result, input.len());
            registered.scalar.execute(plan, &input, &mut output)
        }
    });
}

/// What an argument is known to be while the query is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant<T> {
    /// This value, in every row.
    Value(T),
    /// NULL, in every row.
    Null,
    /// A column, an unbound parameter, or what only the engine can cast or compute (it then raises its own error);
    /// known at execution.
    Unknown,
}

/// The arguments of a call that is being bound, before the engine casts them to the parameters' types.
pub(crate) struct Arguments {
    info: sys::duckdb_bind_info,
    context: ClientContext,
}

impl Arguments {
    /// # Safety
    ///
    /// `info` belongs to a bind callback of a scalar function that runs as long as this value lives.
    unsafe fn new(info: sys::duckdb_bind_info) -> Self {
        // SAFETY: the bind is running.
        let context = unsafe { ClientContext::of_bind(info) };
        Self { info, context }
    }

    /// An interval.
    pub(crate) fn interval(&self, index: usize, argument: Argument) -> Result<Constant<Interval>> {
        self.constant(index, argument, Value::interval)
    }

    /// The ticks of a timestamp of the type `id`. Where the engine has yet to cast from another type, in the session's
    /// time zone perhaps, only infinity is known: it is the same in all.
    pub(crate) fn ticks(
        &self,
        index: usize,
        argument: Argument,
        id: sys::duckdb_type,
    ) -> Result<Constant<i64>> {
        self.constant(index, argument, |value| {
            let ticks = match value.date() {
                Some(i32::MAX) => i64::MAX,
                Some(days) if days == -i32::MAX => -i64::MAX,
                Some(_) => return None,
                None => value.timestamp()?.0,
            };
            (value.type_id() == id || Precision::is_infinite(ticks)).then_some(ticks)
        })
    }

    /// The days of a DATE.
    pub(crate) fn date(&self, index: usize, argument: Argument) -> Result<Constant<i32>> {
        self.constant(index, argument, Value::date)
    }

    /// Whether the argument is NULL in every row. Newer engines give the bare word NULL the parameter's type first.
    pub(crate) fn is_null(&self, index: usize) -> bool {
        // SAFETY: the bind is running.
        let expression = unsafe { Expression::of_bind(self.info, index) };
        let value = expression.and_then(|expression| expression.fold(&self.context));
        value.is_some_and(|value| value.is_null())
    }

    fn constant<T>(
        &self,
        index: usize,
        argument: Argument,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Constant<T>> {
        // SAFETY: the bind is running. For a subquery the engine sets an error of its own, which the one returned
        // here replaces.
        let expression =
            unsafe { Expression::of_bind(self.info, index) }.ok_or(Error::Subquery { argument })?;
        Ok(match expression.fold(&self.context) {
            None => Constant::Unknown,
            Some(value) if value.is_null() => Constant::Null,
            Some(value) => read(&value).map_or(Constant::Unknown, Constant::Value),
        })
    }
}
