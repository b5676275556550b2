//! Aggregate functions: from the engine's callbacks to one safe trait.
//!
//! The engine owns the states' memory, moves it by bytes and may hand the same state to several rows of a chunk, so
//! that a state is borrowed for one row at a time. A state that owns memory frees it in its `Drop`, which the engine's
//! destructor calls. The same callbacks serve GROUP BY and OVER, where states are combined and finished repeatedly.

use super::chunk::{Chunk, ColumnType};
use super::contain::{contain, contain_quietly, drop_box, give_away};
use super::fault;
use super::groups::Groups;
use super::handles::AggregateFunction;
use super::scalar::Signature;
use crate::error::Result;
use libduckdb_sys as sys;
use std::ffi::CStr;
use std::marker::PhantomData;

/// One overload of an aggregate function.
pub(crate) trait Aggregate: Send + Sync + 'static {
    /// What is known of a group.
    type State: Default + Send + 'static;

    /// Adds the rows of a chunk, each to its own state.
    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Self::State>) -> Result<()>;

    /// Adds to a state what another one knows, which is used again.
    fn combine(&self, from: &Self::State, into: &mut Self::State) -> Result<()>;

    /// Writes a result for each state.
    fn finalize(&self, states: &mut States<'_, Self::State>, output: Groups<'_>) -> Result<()>;
}

/// The states of some rows or groups, one for each.
pub(crate) struct States<'a, S> {
    states: *mut sys::duckdb_aggregate_state,
    len: usize,
    alive: PhantomData<&'a mut S>,
}

impl<S> States<'_, S> {
    /// # Safety
    ///
    /// `states` points to `len` pointers, each to an `S` that is alive and that nothing else uses meanwhile.
    const unsafe fn new(states: *mut sys::duckdb_aggregate_state, len: usize) -> Self {
        Self { states, len, alive: PhantomData }
    }

    /// How many.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The state of row `index`, for rows that are gone through in order: it asks for the memory of the state some rows ahead,
    /// since the states of a chunk lie anywhere and each would be waited for.
    #[inline]
    pub(crate) fn next(&mut self, index: usize) -> &mut S {
        #[cfg(target_arch = "x86_64")]
        const AHEAD: usize = 16;
        #[cfg(target_arch = "x86_64")]
        if index + AHEAD < self.len {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the pointer is one of the `len`; a prefetch reads no memory and is allowed at any address.
            unsafe {
                let ahead = (*self.states.add(index + AHEAD)).cast::<i8>();
                _mm_prefetch::<_MM_HINT_T0>(ahead);
                _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(size_of::<S>() - 1));
            }
        }
        self.at(index)
    }

    /// The state of row or group `index`.
    #[inline]
    pub(crate) fn at(&mut self, index: usize) -> &mut S {
        assert!(index < self.len, "state {index} of {}", self.len);
        // SAFETY: the pointer is one of the `len`, and the state is alive. It may be that of other rows too, but it is
        // borrowed through `self`, so that only one is at a time.
        unsafe { &mut *(*self.states.add(index)).cast::<S>() }
    }
}

/// What the engine keeps for an overload and hands to each callback.
struct Registered<A> {
    name: &'static CStr,
    aggregate: A,
    parameters: Vec<ColumnType>,
}

/// Builds the engine's function object for `aggregate`, to whose rows NULL arguments come too.
pub(super) fn build<A: Aggregate>(
    name: &'static CStr,
    signature: &Signature,
    aggregate: A,
) -> AggregateFunction {
    // The engine aligns states to 8 bytes.
    const { assert!(align_of::<A::State>() <= 8) };
    let function = AggregateFunction::new();
    let raw = function.raw();
    let parameters = signature.parameters.iter().map(ColumnType::of).collect();
    let registered = Registered { name, aggregate, parameters };
    // SAFETY: the function and the types are alive; names and types are copied. The extra info is a box of
    // `Registered<A>`, which the callbacks below read as such and the engine frees with `drop_box`.
    unsafe {
        sys::duckdb_aggregate_function_set_name(raw, name.as_ptr());
        for parameter in &signature.parameters {
            sys::duckdb_aggregate_function_add_parameter(raw, parameter.raw());
        }
        sys::duckdb_aggregate_function_set_return_type(raw, signature.result.raw());
        sys::duckdb_aggregate_function_set_special_handling(raw);
        sys::duckdb_aggregate_function_set_extra_info(
            raw,
            give_away(registered),
            Some(drop_box::<Registered<A>>),
        );
        sys::duckdb_aggregate_function_set_functions(
            raw,
            Some(size::<A>),
            Some(init::<A>),
            Some(update::<A>),
            Some(combine::<A>),
            Some(finalize::<A>),
        );
        sys::duckdb_aggregate_function_set_destructor(raw, Some(destroy::<A>));
    }
    function
}

/// Runs `body` with the overload, and reports its error to the engine.
///
/// # Safety
///
/// `info` is the argument of a running callback of a function that `build::<A>` made.
unsafe fn run<A: Aggregate>(
    info: sys::duckdb_function_info,
    point: &'static str,
    body: impl FnOnce(&Registered<A>) -> Result<()>,
) {
    // SAFETY: the engine keeps the extra info that `build` set for as long as the function exists.
    let registered = unsafe { &*sys::duckdb_aggregate_function_get_extra_info(info).cast::<Registered<A>>() };
    // SAFETY: the call is running; the text is copied.
    let report = |text: &CStr| unsafe { sys::duckdb_aggregate_function_set_error(info, text.as_ptr()) };
    contain(registered.name, report, || {
        fault::point(point);
        body(registered)
    });
}

const unsafe extern "C" fn size<A: Aggregate>(_: sys::duckdb_function_info) -> sys::idx_t {
    size_of::<A::State>() as sys::idx_t
}

unsafe extern "C" fn init<A: Aggregate>(_: sys::duckdb_function_info, state: sys::duckdb_aggregate_state) {
    // A panic leaves no state to go on with, and there is none in `Default`.
    // SAFETY: the engine gives memory of the size and alignment of a state, which holds none yet.
    unsafe { state.cast::<A::State>().write(A::State::default()) };
}

unsafe extern "C" fn update<A: Aggregate>(
    info: sys::duckdb_function_info,
    input: sys::duckdb_data_chunk,
    states: *mut sys::duckdb_aggregate_state,
) {
    let body = |registered: &Registered<A>| {
        // SAFETY: the chunk is alive during the call, flat, and of the types that the function was registered with;
        // there is a state for each of its rows.
        unsafe {
            let input = Chunk::new(input, &registered.parameters);
            let mut states = States::new(states, input.len());
            registered.aggregate.update(&input, &mut states)
        }
    };
    // SAFETY: the callback is running.
    unsafe { run::<A>(info, "aggregate update", body) };
}

unsafe extern "C" fn combine<A: Aggregate>(
    info: sys::duckdb_function_info,
    from: *mut sys::duckdb_aggregate_state,
    into: *mut sys::duckdb_aggregate_state,
    count: sys::idx_t,
) {
    let body = |registered: &Registered<A>| {
        for index in 0..count as usize {
            // SAFETY: both have `count` pointers to states that are alive and differ from each other.
            let (from, into) = unsafe {
                (&*(*from.add(index)).cast::<A::State>(), &mut *(*into.add(index)).cast::<A::State>())
            };
            registered.aggregate.combine(from, into)?;
        }
        Ok(())
    };
    // SAFETY: the callback is running.
    unsafe { run::<A>(info, "aggregate combine", body) };
}

unsafe extern "C" fn finalize<A: Aggregate>(
    info: sys::duckdb_function_info,
    states: *mut sys::duckdb_aggregate_state,
    result: sys::duckdb_vector,
    count: sys::idx_t,
    offset: sys::idx_t,
) {
    let body = |registered: &Registered<A>| {
        // SAFETY: there are `count` states that are alive, and the result has room for as many rows after `offset`.
        unsafe {
            let mut states = States::new(states, count as usize);
            let output = Groups::new(result, offset as usize, count as usize);
            registered.aggregate.finalize(&mut states, output)
        }
    };
    // SAFETY: the callback is running.
    unsafe { run::<A>(info, "aggregate finalize", body) };
}

unsafe extern "C" fn destroy<A: Aggregate>(states: *mut sys::duckdb_aggregate_state, count: sys::idx_t) {
    for index in 0..count as usize {
        contain_quietly((), || {
            // SAFETY: there are `count` states that are alive, and this is the last use of each.
            unsafe { (*states.add(index)).cast::<A::State>().drop_in_place() };
        });
    }
}
