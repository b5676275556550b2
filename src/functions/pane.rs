//! `time_bucket_pane`, `time_bucket_cadence` and `time_bucket_panes`.

use super::overloads::{known, signature};
use super::table::{columns, interval, interval_of, parameters, ticks_of};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Bound, Chunk, Constant, Output, Registry, Rows, Scalar, Table, TableArguments};
use kernel::{Panes, cadence_nanos, cadence_of, is_valid, lookback_nanos, pane_width};
use std::ffi::CStr;

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let pane = signature([Some(Type::Interval), Some(Type::Interval)], Type::Interval);
    registry.scalars(PANE, pane.map(|signature| (signature, PaneWidth)))?;
    let cadences = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        Some((signature([Some(Type::Times(timestamp))], Type::Interval)?, Cadence { timestamp }))
    });
    registry.scalars(CADENCE, cadences)?;
    let named = [(PanesOf::AT, Type::Any), (PanesOf::BUDGET, Type::Integer)];
    parameters(2, &named).map_or(Ok(()), |parameters| registry.table(&parameters, PanesOf))
}

const PANE: &CStr = c"time_bucket_pane";

/// The width of the panes of a lookback and a cadence.
struct PaneWidth;

impl PaneWidth {
    const LOOKBACK: usize = 0;
    const CADENCE: usize = 1;
}

impl Scalar for PaneWidth {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        PANE
    }

    fn bind(&self, arguments: &Arguments) -> Result<()> {
        let lookback = known(arguments.interval(Self::LOOKBACK, Argument::Lookback)?, Argument::Lookback)?;
        lookback.map(lookback_nanos).transpose()?;
        if let Constant::Value(cadence) = arguments.interval(Self::CADENCE, Argument::Cadence)? {
            cadence_nanos(cadence)?;
        }
        Ok(())
    }

    /// A NULL lookback gives NULL; a NULL cadence means none.
    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (lookbacks, cadences) = (input.intervals(Self::LOOKBACK), input.intervals(Self::CADENCE));
        let has_cadence = input.validity(Self::CADENCE);
        output.null_where(input, Self::LOOKBACK);
        let (out, validity) = output.intervals_and_validity();
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            *out = pane_width(lookbacks[row], is_valid(has_cadence, row).then(|| cadences[row]))?;
        }
        Ok(())
    }
}

const CADENCE: &CStr = c"time_bucket_cadence";

/// The cadence of scheduled times, in a list of one type of timestamp. It is a function of its own rather than another
/// form of `time_bucket_pane`'s cadence, since an overload for lists would make string literals there ambiguous.
struct Cadence {
    timestamp: Timestamp,
}

impl Cadence {
    const TIMES: usize = 0;
}

impl Scalar for Cadence {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        CADENCE
    }

    fn bind(&self, _: &Arguments) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let times = input.tick_lists(Self::TIMES);
        output.null_where_any_is(input);
        let (out, validity) = output.intervals_and_validity();
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            *out = cadence_of(times(row)?, self.timestamp.precision())?;
        }
        Ok(())
    }
}

const PANES: &CStr = c"time_bucket_panes";

/// The panes of a lookback and a cadence, a row each.
struct PanesOf;

impl PanesOf {
    const LOOKBACK: usize = 0;
    const CADENCE: usize = 1;
    const AT: &CStr = c"at";
    const BUDGET: &CStr = c"budget";
    const DEFAULT_BUDGET: i64 = 1_024;

    /// When the query is asked. The bare word NULL means that this is not said.
    fn at(arguments: &TableArguments) -> Result<Option<(i64, Timestamp)>> {
        let argument = Argument::At;
        let Some(at) = arguments.named(Self::AT) else { return Ok(None) };
        if at.is_null() {
            // Some engines give the bare word NULL a type, but never that of a timestamp.
            return Timestamp::of_id(at.type_id()).map_or(Ok(None), |_| Err(Error::Null { argument }));
        }
        ticks_of(&at, argument, &Timestamp::ALL, argument).map(Some)
    }
}

impl Table for PanesOf {
    type Plan = Panes;

    fn name(&self) -> &'static CStr {
        PANES
    }

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Panes>> {
        let lookback = interval(arguments, Self::LOOKBACK, Argument::Lookback)?;
        let cadence = arguments.positional(Self::CADENCE);
        let cadence = cadence.map(|cadence| interval_of(&cadence, Argument::Cadence)).transpose()?;
        let budget = match arguments.named(Self::BUDGET) {
            Some(budget) if budget.is_null() => return Err(Error::Null { argument: Argument::Budget }),
            Some(budget) => budget.integer(),
            None => Self::DEFAULT_BUDGET,
        };
        let at = Self::at(arguments)?;
        let plan =
            Panes::new(lookback, cadence, at.map(|(at, timestamp)| (at, timestamp.precision())), budget)?;
        let always =
            [(c"pane", Type::Integer), (c"pane_offset", Type::Interval), (c"pane_width", Type::Interval)];
        let bounds = at.map(|(_, timestamp)| {
            [c"pane_start", c"pane_end"].map(|name| (name, Type::Timestamp(timestamp)))
        });
        Ok(Bound {
            len: plan.len(),
            columns: columns(always.into_iter().chain(bounds.into_iter().flatten())),
            plan,
        })
    }

    fn write(&self, panes: &Panes, rows: &mut Rows<'_>) -> Result<()> {
        let from = rows.from();
        for (index, pane) in (from..).zip(rows.integers(0)) {
            *pane = index as i64;
        }
        for (index, offset) in (from..).zip(rows.intervals(1)) {
            *offset = panes.offset(index);
        }
        rows.intervals(2).fill(panes.width());
        if let Some((starts, ends)) = panes.bounds() {
            starts.write(from, rows.ticks(3));
            ends.write(from, rows.ticks(4));
        }
        Ok(())
    }
}
