//! `time_bucket_hop` and `time_bucket_cumulate`.

use super::grids::known_length;
use super::overloads::{anchor_ticks, anchors, register as register_overloads, register_zoned};
use super::types::{Timestamp, Type};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Room, Scalar, TICKS};
use kernel::{Hop, Hops, Shape, count_windows, write_windows};
use std::ffi::CStr;

const SLIDE: Parameter = Parameter { index: 0, argument: Argument::Slide };
const STEP: Parameter = Parameter { index: 0, argument: Argument::Step };
const SIZE: Parameter = Parameter { index: 1, argument: Argument::Size };
const TS: Parameter = Parameter { index: 2, argument: Argument::Ts };
const ANCHOR: Parameter = Parameter { index: 3, argument: Argument::Anchor };

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, lengths, shape) in FUNCTIONS {
        let windows = |timestamp| HopWindows::new(shape, timestamp, ANCHOR);
        register_overloads(registry, name, lengths, Type::Windows, windows)?;
        register_zoned(registry, name, lengths.len(), false, Type::Windows, windows)?;
    }
    Ok(())
}

/// The names, and how the windows of each lie.
pub(super) const FUNCTIONS: [(&CStr, &[Parameter], Shape); 2] =
    [(c"time_bucket_hop", &[SLIDE, SIZE], Shape::Hop), (c"time_bucket_cumulate", &[STEP, SIZE], Shape::Grow)];

/// An overload for one type of timestamp.
pub(super) struct HopWindows {
    shape: Shape,
    timestamp: Timestamp,
    anchor: Parameter,
}

impl HopWindows {
    /// One whose anchor stands there, if it is given.
    pub(super) const fn new(shape: Shape, timestamp: Timestamp, anchor: Parameter) -> Self {
        Self { shape, timestamp, anchor }
    }

    /// How far apart the windows are.
    const fn step(&self) -> Parameter {
        Parameter { index: 0, argument: self.shape.step() }
    }
}

impl Scalar for HopWindows {
    /// The windows of all rows, unless step, size or anchor are known at execution only.
    type Plan = Option<Hop>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Hop>> {
        let precision = self.timestamp.precision();
        let length = |parameter| known_length(arguments, parameter, precision);
        let (step, size) = (length(self.step())?, length(SIZE)?);
        let anchor = anchor_ticks(arguments, self.anchor, self.timestamp)?;
        let Some(((step, _), (size, _))) = step.zip(size) else { return Ok(None) };
        // Too many windows are refused even while the anchor is unknown.
        let hop = Hop::new(self.shape, precision, step, size, anchor.unwrap_or_default())?;
        Ok(anchor.map(|_| hop))
    }

    fn execute(&self, plan: Option<&Option<Hop>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.read(TICKS, TS);
        let hops = match plan.and_then(Option::as_ref) {
            Some(hop) => Hops::One(hop),
            None => Hops::Rows {
                shape: self.shape,
                steps: input.intervals(self.step())?,
                sizes: input.intervals(SIZE)?,
                anchors: anchors(input, self.anchor, self.timestamp)?,
            },
        };
        output.null_where_any_is(input);
        let (lists, validity) = output.lists_and_validity();
        let windows = count_windows(&hops, precision, ts, validity, lists)?;
        let (lists, [starts, ends]) = output.records(windows, Room::Expansion)?;
        Ok(write_windows(&hops, precision, ts, lists, starts, ends)?)
    }
}
