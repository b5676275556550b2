//! `time_bucket_pane`, `time_bucket_cadence` and `time_bucket_panes`.

use super::overloads::signature;
use super::table::{ORIGIN, columns, interval, origin_ticks, parameters, ticks_of};
use super::types::{STALENESS, Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, Bound, Chunk, Constant, INTEGERS, INTERVALS, Output, Parameter, Registry, Rows, Scalar, TICKS,
    Table, TableArguments,
};
use kernel::{Panes, cadence_nanos, cadence_of, is_valid, lookback_nanos, pane_width};
use std::ffi::CStr;

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let pane = signature([Type::Interval, Type::Interval], Type::Interval);
    registry.scalars(c"time_bucket_pane", pane.map(|signature| (signature, PaneWidth)))?;
    let cadences = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        Some((signature([Type::Times(timestamp)], Type::Interval)?, Cadence { timestamp }))
    });
    registry.scalars(c"time_bucket_cadence", cadences)?;
    let named = [(PanesOf::AT, Type::Any), (ORIGIN, Type::Any), (PanesOf::BUDGET, Type::Integer)];
    parameters(2, &named)
        .map_or(Ok(()), |parameters| registry.table(c"time_bucket_panes", &parameters, PanesOf))
}

const LOOKBACK: Parameter = Parameter { index: 0, argument: Argument::Lookback };
const CADENCE: Parameter = Parameter { index: 1, argument: Argument::Cadence };

/// The width of the panes of a lookback and a cadence.
struct PaneWidth;

impl Scalar for PaneWidth {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        arguments.known_interval(LOOKBACK)?.map(lookback_nanos).transpose()?;
        if let Constant::Value(cadence) = arguments.interval(CADENCE)? {
            cadence_nanos(cadence)?;
        }
        Ok(())
    }

    /// A NULL lookback gives NULL; a NULL cadence means none.
    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (lookbacks, cadences) = (input.intervals(LOOKBACK)?, input.intervals(CADENCE)?);
        let has_cadence = input.validity(CADENCE);
        output.null_where(input, LOOKBACK);
        let (out, validity) = output.write(INTERVALS);
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            *out = pane_width(lookbacks[row], is_valid(has_cadence, row).then(|| cadences[row]))?;
        }
        Ok(())
    }
}

/// The cadence of scheduled times, in a list of one type of timestamp. It is a function of its own rather than another
/// form of `time_bucket_pane`'s cadence, since an overload for lists would make string literals there ambiguous.
struct Cadence {
    timestamp: Timestamp,
}

const TIMES: Parameter = Parameter { index: 0, argument: Argument::Times };

impl Scalar for Cadence {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let times = input.tick_lists(TIMES);
        output.null_where_any_is(input);
        let (out, validity) = output.write(INTERVALS);
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            *out = cadence_of(times(row)?, self.timestamp.precision())?;
        }
        Ok(())
    }
}

/// The panes of a lookback and a cadence, a row each.
struct PanesOf;

impl PanesOf {
    const AT: &CStr = c"at";
    const BUDGET: &CStr = c"budget";
    const DEFAULT_BUDGET: i64 = 1_024;

    const PANE: &CStr = c"pane";
    const OFFSET: &CStr = c"pane_offset";
    const WIDTH: &CStr = c"pane_width";
    const START: &CStr = c"pane_start";
    const END: &CStr = c"pane_end";

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

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Panes>> {
        let lookback = interval(arguments, LOOKBACK)?;
        let cadence = arguments.positional(CADENCE);
        let cadence = cadence.map(|cadence| cadence.interval(CADENCE.argument)).transpose()?;
        let budget = match arguments.named(Self::BUDGET) {
            Some(budget) if budget.is_null() => return Err(Error::Null { argument: Argument::Budget }),
            Some(budget) => budget.integer(),
            None => Self::DEFAULT_BUDGET,
        };
        let at = Self::at(arguments)?;
        let anchor = at.map(|(_, timestamp)| origin_ticks(arguments, timestamp, Argument::At)).transpose()?;
        let at_ticks = at.map(|(at, timestamp)| (at, timestamp.precision()));
        let plan = Panes::new(lookback, cadence, at_ticks, anchor.unwrap_or_default(), budget)?;
        let always =
            [(Self::PANE, Type::Integer), (Self::OFFSET, Type::Interval), (Self::WIDTH, Type::Interval)];
        let bounds = at.map(|(_, timestamp)| {
            let ts = Type::Timestamp(timestamp);
            [(Self::START, ts), (Self::END, ts), (STALENESS, Type::Interval)]
        });
        Ok(Bound {
            len: plan.len(),
            columns: columns(always.into_iter().chain(bounds.into_iter().flatten())),
            plan,
        })
    }

    fn write(&self, panes: &Panes, rows: &mut Rows<'_>) -> Result<()> {
        let from = rows.from();
        for (index, pane) in (from..).zip(rows.write(INTEGERS, Self::PANE)) {
            *pane = index as i64;
        }
        for (index, offset) in (from..).zip(rows.write(INTERVALS, Self::OFFSET)) {
            *offset = panes.offset(index);
        }
        rows.write(INTERVALS, Self::WIDTH).fill(panes.width());
        if let Some((starts, ends)) = panes.bounds() {
            starts.write(from, rows.write(TICKS, Self::START));
            ends.write(from, rows.write(TICKS, Self::END));
            rows.write(INTERVALS, STALENESS).fill(panes.staleness());
        }
        Ok(())
    }
}
