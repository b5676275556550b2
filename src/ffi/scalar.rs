//! Scalar functions: from the engine's callbacks to one safe trait.

use super::chunk::{Chunk, ColumnType};
use super::contain::{contain, contain_quietly, drop_box, give_away};
use super::fault;
use super::handles::{ClientContext, Expression, LogicalType, ScalarFunction};
use super::output::Output;
use super::storage::Storage;
use super::value::{Given, Parameter};
use crate::error::{Argument, Error, Result};
use kernel::Interval;
use libduckdb_sys as sys;
use std::any::Any;
use std::ffi::{CStr, c_void};

/// One overload of a scalar function: what to do with its calls.
///
/// NULL arguments reach both methods (special NULL handling), since a NULL width has to be refused.
pub(crate) trait Scalar: Send + Sync + 'static {
    /// What binding finds out; it may be lost, so [`Self::execute`] has to stand without it.
    type Plan: Clone + Send + Sync + 'static;

    /// Checks the arguments while the query is bound, once for each call in it.
    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan>;

    /// Computes one chunk. Called from many threads at once.
    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()>;
}

/// The types of an overload, all of which the running engine has.
pub(crate) struct Signature {
    /// Of the parameters.
    pub(crate) parameters: Vec<LogicalType>,
    /// Of every argument after them; `None` if there may be none.
    pub(crate) rest: Option<LogicalType>,
    /// Of the result.
    pub(crate) result: LogicalType,
}

/// The parameters of an overload. One of type ANY takes its argument as it is; to the others the engine casts.
struct Declared {
    parameters: Vec<ColumnType>,
    rest: Option<ColumnType>,
}

impl Declared {
    fn of(signature: &Signature) -> Self {
        let parameters = signature.parameters.iter().map(ColumnType::of).collect();
        Self { parameters, rest: signature.rest.as_ref().map(ColumnType::of) }
    }

    /// What the engine casts the argument at `index` to; `None` if it does not.
    fn cast_to(&self, index: usize) -> Option<&ColumnType> {
        self.parameters.get(index).or(self.rest.as_ref()).filter(|column| !column.is_any())
    }
}

/// A [`Scalar`] whose plan has no type, so that the callbacks are compiled once for all.
trait Erased: Send + Sync {
    fn bind(&self, arguments: &Arguments<'_>) -> Result<Box<dyn Plan>>;
    fn execute(&self, plan: Option<&dyn Any>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()>;
}

impl<S: Scalar> Erased for S {
    fn bind(&self, arguments: &Arguments<'_>) -> Result<Box<dyn Plan>> {
        Ok(Box::new(Scalar::bind(self, arguments)?))
    }

    fn execute(&self, plan: Option<&dyn Any>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        Scalar::execute(self, plan.and_then(|plan| plan.downcast_ref()), input, output)
    }
}

trait Plan: Send + Sync {
    fn copy(&self) -> Box<dyn Plan>;
    fn as_any(&self) -> &dyn Any;
}

impl<P: Clone + Send + Sync + 'static> Plan for P {
    fn copy(&self) -> Box<dyn Plan> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What the engine keeps for an overload and hands to each callback.
struct Registered {
    name: &'static CStr,
    scalar: Box<dyn Erased>,
    declared: Declared,
    result: Storage,
}

/// What the engine keeps for a call that is bound.
struct Call {
    plan: Box<dyn Plan>,
    columns: Vec<ColumnType>,
}

/// A function object of this name and these types, without callbacks.
fn declare(name: &CStr, signature: &Signature) -> ScalarFunction {
    let function = ScalarFunction::new();
    let raw = function.raw();
    // SAFETY: the function and the types are alive; names and types are copied.
    unsafe {
        sys::duckdb_scalar_function_set_name(raw, name.as_ptr());
        for parameter in &signature.parameters {
            sys::duckdb_scalar_function_add_parameter(raw, parameter.raw());
        }
        if let Some(rest) = &signature.rest {
            sys::duckdb_scalar_function_set_varargs(raw, rest.raw());
        }
        sys::duckdb_scalar_function_set_return_type(raw, signature.result.raw());
        sys::duckdb_scalar_function_set_special_handling(raw);
    }
    function
}

/// Builds the engine's function object for `scalar`.
pub(super) fn build<S: Scalar>(name: &'static CStr, signature: &Signature, scalar: S) -> ScalarFunction {
    let function = declare(name, signature);
    let raw = function.raw();
    let result = Storage::of(&signature.result);
    let registered = Registered { name, scalar: Box::new(scalar), declared: Declared::of(signature), result };
    // SAFETY: the function is alive. The extra info is a box of `Registered`, which the callbacks below read as such
    // and the engine frees with `drop_box`.
    unsafe {
        sys::duckdb_scalar_function_set_extra_info(raw, give_away(registered), Some(drop_box::<Registered>));
        sys::duckdb_scalar_function_set_bind(raw, Some(bind));
        sys::duckdb_scalar_function_set_function(raw, Some(execute));
    }
    function
}

unsafe extern "C" fn bind(info: sys::duckdb_bind_info) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_scalar_function_bind_get_extra_info(info).cast::<Registered>() };
    // SAFETY: the bind is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_scalar_function_bind_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point("bind");
        // SAFETY: the bind is running until this callback returns.
        let arguments = unsafe { Arguments::new(info, &registered.declared) };
        let plan = registered.scalar.bind(&arguments)?;
        let call = Call { plan, columns: arguments.columns() };
        // SAFETY: the bind is running. The data is a box of `Call`, which the engine copies and frees with
        // the two functions given here.
        unsafe {
            sys::duckdb_scalar_function_set_bind_data(info, give_away(call), Some(drop_box::<Call>));
            sys::duckdb_scalar_function_set_bind_data_copy(info, Some(copy));
        }
        Ok::<_, Error>(())
    });
}

/// Copies a call when the engine copies the expression that it belongs to; without this the copy would have none.
unsafe extern "C" fn copy(call: *mut c_void) -> *mut c_void {
    contain_quietly(std::ptr::null_mut(), || {
        fault::point("copy");
        // SAFETY: the engine passes the call that `bind` or this function made, or null.
        unsafe { call.cast::<Call>().as_ref() }.map_or(std::ptr::null_mut(), |call| {
            give_away(Call { plan: (*call.plan).copy(), columns: call.columns.clone() })
        })
    })
}

unsafe extern "C" fn execute(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    output: sys::duckdb_vector,
) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_scalar_function_get_extra_info(info).cast::<Registered>() };
    // SAFETY: the call is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_scalar_function_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point("execute");
        // SAFETY: the bind data is null or the call that `bind` set, alive during this one. The chunk and the vector
        // are alive during it; the engine flattens the arguments before it calls, and gives an output with room for
        // the chunk's rows. The output is of the type that the function was registered with, and so is each argument
        // that the engine casts; one that it does not cast keeps the type that `bind` saw.
        unsafe {
            let call = sys::duckdb_scalar_function_get_bind_data(info).cast::<Call>().as_ref();
            let of_vectors;
            let columns = match call {
                Some(call) => &call.columns,
                None => {
                    of_vectors = Chunk::columns(input);
                    &of_vectors
                }
            };
            let input = Chunk::new(input, columns);
            let mut output = Output::new(output, registered.result, input.len());
            registered.scalar.execute(call.map(|call| (*call.plan).as_any()), &input, &mut output)
        }
    });
}

/// What an argument is known to be while the query is bound.
#[derive(Debug)]
pub(crate) enum Constant<T> {
    /// This value, in every row.
    Value(T),
    /// NULL, in every row.
    Null,
    /// A column, an unbound parameter, or what only the engine can cast or compute (it then raises its own error);
    /// known at execution.
    Unknown,
}

impl<T> Constant<T> {
    /// The value, `None` while it is unknown; an error when it is NULL.
    pub(crate) fn known(self, argument: Argument) -> Result<Option<T>> {
        match self {
            Self::Value(value) => Ok(Some(value)),
            Self::Null => Err(Error::Null { argument }),
            Self::Unknown => Ok(None),
        }
    }
}

/// The arguments of a call that is being bound, before the engine casts them to the parameters' types.
pub(crate) struct Arguments<'a> {
    info: sys::duckdb_bind_info,
    context: ClientContext,
    declared: &'a Declared,
}

impl<'a> Arguments<'a> {
    /// # Safety
    ///
    /// `info` belongs to a bind callback of a scalar function that runs as long as this value lives.
    unsafe fn new(info: sys::duckdb_bind_info, declared: &'a Declared) -> Self {
        // SAFETY: the bind is running.
        let context = unsafe { ClientContext::of_bind(info) };
        Self { info, context, declared }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        // SAFETY: the bind is running.
        unsafe { sys::duckdb_scalar_function_bind_get_argument_count(self.info) as usize }
    }

    /// The id of the type that the argument has at execution: what the engine casts it to, or else its own.
    pub(crate) fn type_id(&self, parameter: Parameter) -> Result<sys::duckdb_type> {
        match self.declared.cast_to(parameter.index) {
            Some(column) => Ok(column.id()),
            None => self.own_type_id(parameter),
        }
    }

    /// The id of its own type.
    pub(crate) fn own_type_id(&self, parameter: Parameter) -> Result<sys::duckdb_type> {
        Ok(self.expression(parameter)?.return_type().id())
    }

    /// How many digits after the point its own type has.
    pub(crate) fn digits(&self, parameter: Parameter) -> Result<u8> {
        Ok(self.expression(parameter)?.return_type().stored_number().1)
    }

    /// The value as it is given, when it is known.
    pub(crate) fn value(&self, parameter: Parameter) -> Result<Constant<Given>> {
        Ok(match self.expression(parameter)?.fold(&self.context) {
            None => Constant::Unknown,
            Some(value) if value.is_null() => Constant::Null,
            Some(value) => Constant::Value(Given::new(value)),
        })
    }

    /// An interval, or a text that says one.
    pub(crate) fn interval(&self, parameter: Parameter) -> Result<Constant<Interval>> {
        let argument = parameter.argument;
        match self.value(parameter)? {
            Constant::Null => Ok(Constant::Null),
            Constant::Value(given) => Ok(Constant::Value(given.interval(argument)?)),
            Constant::Unknown => match self.type_id(parameter)? {
                sys::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL | sys::DUCKDB_TYPE_DUCKDB_TYPE_INVALID => {
                    Ok(Constant::Unknown)
                }
                _ => Err(Error::IntervalColumn { argument }),
            },
        }
    }

    /// The one value of all rows, `None` while it is unknown; an error when it is NULL.
    pub(crate) fn known_interval(&self, parameter: Parameter) -> Result<Option<Interval>> {
        self.interval(parameter)?.known(parameter.argument)
    }

    fn expression(&self, parameter: Parameter) -> Result<Expression> {
        // SAFETY: the bind is running. For a subquery the engine sets an error of its own, which the one returned
        // here replaces.
        let expression = unsafe { Expression::of_bind(self.info, parameter.index) };
        expression.ok_or(Error::Subquery { argument: parameter.argument })
    }

    /// What each argument is when a chunk arrives. An argument that the engine does not cast has been read by then,
    /// so that a subquery among them has been refused.
    fn columns(&self) -> Vec<ColumnType> {
        let own = |index| {
            let expression = self.expression(Parameter { index, argument: Argument::Ts }).ok()?;
            let text = || Given::new(expression.fold(&self.context)?).text_interval();
            Some(ColumnType::with_text(&expression.return_type(), text))
        };
        let column = |index| match self.declared.cast_to(index) {
            Some(column) => column.clone(),
            None => own(index).unwrap_or_else(ColumnType::unread),
        };
        (0..self.len()).map(column).collect()
    }
}
