//! `time_bucket`, `time_bucket_start` and `time_bucket_end`.

use super::grids::known_length;
use super::overloads::{DUCKDBS, anchor_ticks, anchors, register as register_overloads, register_zoned};
use super::types::{Timestamp, Type};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Scalar, TICKS};
use kernel::{Edge, Grid, RowGrids, bucket_rows, bucket_slice};
use std::ffi::CStr;

/// The names and what each returns.
pub(super) const FUNCTIONS: [(&CStr, Edge); 3] =
    [(DUCKDBS, Edge::Start), (c"time_bucket_start", Edge::Start), (c"time_bucket_end", Edge::End)];

const WIDTH: Parameter = Parameter { index: 0, argument: Argument::Width };
const TS: Parameter = Parameter { index: 1, argument: Argument::Ts };
const ANCHOR: Parameter = Parameter { index: 2, argument: Argument::Anchor };

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, edge) in FUNCTIONS {
        register_overloads(registry, name, &[WIDTH], Type::Timestamp, |timestamp| {
            Bucket::new(edge, timestamp, ANCHOR)
        })?;
        register_zoned(registry, name, 1, false, Type::Timestamp, |timestamp| {
            Bucket::new(edge, timestamp, ANCHOR)
        })?;
    }
    Ok(())
}

/// An overload that buckets.
pub(super) struct Bucket {
    edge: Edge,
    timestamp: Timestamp,
    anchor: Parameter,
}

impl Bucket {
    /// One whose anchor stands there, if it is given.
    pub(super) const fn new(edge: Edge, timestamp: Timestamp, anchor: Parameter) -> Self {
        Self { edge, timestamp, anchor }
    }
}

impl Scalar for Bucket {
    /// The one grid of all rows, unless width or anchor are known at execution only.
    type Plan = Option<Grid>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Grid>> {
        let precision = self.timestamp.precision();
        // Each is checked even while the other is unknown.
        let width = known_length(arguments, WIDTH, precision)?;
        let anchor = anchor_ticks(arguments, self.anchor, self.timestamp)?;
        let known = width.zip(anchor);
        Ok(known.map(|((width, _), anchor)| precision.grid(WIDTH.argument, width, anchor)).transpose()?)
    }

    fn execute(&self, plan: Option<&Option<Grid>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.read(TICKS, TS);
        output.null_where_any_is(input);
        let (out, validity) = output.write(TICKS);
        if let Some(grid) = plan.and_then(Option::as_ref) {
            bucket_slice(grid, precision, self.edge, ts, validity, out)
                .map_err(|out_of_range| out_of_range.error(self.edge, precision, ts).into())
        } else {
            let anchors = anchors(input, self.anchor, self.timestamp)?;
            let grids = RowGrids { widths: input.intervals(WIDTH)?, anchors };
            Ok(bucket_rows(&grids, precision, self.edge, ts, validity, out)?)
        }
    }
}
