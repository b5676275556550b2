//! `time_bucket`, `time_bucket_start` and `time_bucket_end`.

use super::overloads::{Anchor, DateRefused, anchored, known, signature, with_date};
use super::types::{Timestamp, Type};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Registry, Scalar, Signature};
use kernel::{Edge, Grid, RowGrids, bucket_rows, bucket_slice};
use std::ffi::CStr;

/// The names and what each returns.
const FUNCTIONS: [(&CStr, Edge); 3] =
    [(c"time_bucket", Edge::Start), (c"time_bucket_start", Edge::Start), (c"time_bucket_end", Edge::End)];

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, edge) in FUNCTIONS {
        let bucket = |timestamp, anchor| Bucket { name, edge, timestamp, anchor };
        let buckets = anchored().map(|(timestamp, anchor)| bucket(timestamp, anchor));
        registry.scalars(name, buckets.filter_map(|bucket| Some((bucket.signature()?, bucket))))?;
        let refused = with_date().filter_map(|anchor| {
            let result = anchor.origin().map_or(Type::Date, Type::Timestamp);
            let signature = signature([Some(Type::Interval), Some(Type::Date), anchor.parameter()], result)?;
            Some((signature, DateRefused { like: bucket(Timestamp::Micros, anchor), ts: TS }))
        });
        registry.scalars(name, refused)?;
    }
    Ok(())
}

/// An overload that buckets.
struct Bucket {
    name: &'static CStr,
    edge: Edge,
    timestamp: Timestamp,
    anchor: Anchor,
}

/// Where each argument stands.
const WIDTH: usize = 0;
const TS: usize = 1;
const ANCHOR: usize = 2;

impl Bucket {
    fn signature(&self) -> Option<Signature> {
        let ts = Type::Timestamp(self.timestamp);
        signature([Some(Type::Interval), Some(ts), self.anchor.parameter()], ts)
    }
}

impl Scalar for Bucket {
    /// The one grid of all rows, unless width or anchor are known at execution only.
    type Plan = Option<Grid>;

    fn name(&self) -> &'static CStr {
        self.name
    }

    fn bind(&self, arguments: &Arguments) -> Result<Option<Grid>> {
        let width = known(arguments.interval(WIDTH, Argument::Width)?, Argument::Width)?;
        let width = width.map(|width| self.timestamp.precision().width_ticks(width)).transpose()?;
        let anchor = self.anchor.ticks(arguments, ANCHOR, self.timestamp.precision())?;
        Ok(width.zip(anchor).and_then(|(width, anchor)| Grid::new(width, anchor)))
    }

    fn execute(&self, plan: Option<&Option<Grid>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.ticks(TS);
        output.null_where_any_is(input);
        let (out, validity) = output.ticks_and_validity();
        if let Some(grid) = plan.and_then(Option::as_ref) {
            bucket_slice(grid, precision, self.edge, ts, validity, out)
                .map_err(|out_of_range| out_of_range.error(self.edge, precision, ts).into())
        } else {
            let anchors = self.anchor.of_rows(input, ANCHOR);
            let grids = RowGrids { widths: input.intervals(WIDTH), anchors };
            Ok(bucket_rows(&grids, precision, self.edge, ts, validity, out)?)
        }
    }
}
