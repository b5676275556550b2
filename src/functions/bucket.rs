//! `time_bucket`, `time_bucket_start` and `time_bucket_end`.

use super::types::Timestamp::{self, InstantMicros, InstantNanos, Micros, Millis, Nanos, Seconds};
use super::types::Type;
use crate::error::{Argument, Error, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Registry, Scalar, Signature};
use crate::kernel::{Anchors, Civil, Edge, Grid, RowGrids, bucket_rows, bucket_slice};
use std::ffi::CStr;

/// The names and what each returns.
const FUNCTIONS: [(&CStr, Edge); 3] =
    [(c"time_bucket", Edge::Start), (c"time_bucket_start", Edge::Start), (c"time_bucket_end", Edge::End)];

const LOCAL: &[Timestamp] = &[Seconds, Millis, Micros, Nanos];
const INSTANT: &[Timestamp] = &[InstantMicros, InstantNanos];

/// Each type of timestamp, and the types of origin that it takes. Every pair is an overload of its own, so that the
/// engine never has to cast a timestamp to match its origin.
const TIMESTAMPS: [(Timestamp, &[Timestamp]); 6] = [
    (Seconds, LOCAL),
    (Millis, LOCAL),
    (Micros, LOCAL),
    (Nanos, LOCAL),
    (InstantMicros, INSTANT),
    (InstantNanos, INSTANT),
];

/// The third arguments with which a DATE is refused; without these overloads the engine would cast it.
const WITH_DATE: [Type; 8] = [
    Type::Interval,
    Type::Date,
    Type::Timestamp(Seconds),
    Type::Timestamp(Millis),
    Type::Timestamp(Micros),
    Type::Timestamp(Nanos),
    Type::Timestamp(InstantMicros),
    Type::Timestamp(InstantNanos),
];

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<()> {
    for (name, edge) in FUNCTIONS {
        let buckets = TIMESTAMPS.iter().flat_map(|&(timestamp, origins)| {
            let origins = origins.iter().map(|&origin| Anchor::Origin(origin));
            let anchors = [Anchor::Epoch, Anchor::Offset].into_iter().chain(origins);
            anchors.map(move |anchor| Bucket { name, edge, timestamp, anchor })
        });
        registry.scalars(name, buckets.filter_map(|bucket| Some((bucket.signature()?, bucket))))?;
        let thirds = std::iter::once(None).chain(WITH_DATE.map(Some));
        registry.scalars(
            name,
            thirds.filter_map(|third| Some((DateRefused::signature(third)?, DateRefused { name }))),
        )?;
    }
    Ok(())
}

fn signature(ts: Type, third: Option<Type>) -> Option<Signature> {
    let parameters = [Some(Type::Interval), Some(ts), third].into_iter().flatten();
    Some(Signature {
        parameters: parameters.map(Type::logical).collect::<Option<_>>()?,
        result: ts.logical()?,
    })
}

/// What a third argument says about the grid.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    Epoch,
    Offset,
    Origin(Timestamp),
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
        let third = match self.anchor {
            Anchor::Epoch => None,
            Anchor::Offset => Some(Type::Interval),
            Anchor::Origin(origin) => Some(Type::Timestamp(origin)),
        };
        signature(Type::Timestamp(self.timestamp), third)
    }

    /// The ticks of the constant anchor.
    fn anchor(&self, arguments: &Arguments) -> Result<Option<i128>> {
        let precision = self.timestamp.precision();
        match self.anchor {
            Anchor::Epoch => Ok(Some(0)),
            Anchor::Offset => {
                let offset = arguments.interval(ANCHOR, Argument::Offset)?;
                known(offset, Argument::Offset)?.map(|offset| precision.offset_ticks(offset)).transpose()
            }
            Anchor::Origin(origin) => {
                let ticks = if origin.is_instant() {
                    arguments.instant_ticks(ANCHOR, Argument::Origin, origin.id())?
                } else {
                    arguments.local_ticks(ANCHOR, Argument::Origin, origin.precision())?
                };
                let ticks = known(ticks, Argument::Origin)?;
                ticks.map(|ticks| precision.origin_ticks(ticks, origin.precision())).transpose()
            }
        }
    }
}

/// The constant's value, `None` while it is unknown; an error when it is NULL.
fn known<T>(constant: Constant<T>, argument: Argument) -> Result<Option<T>> {
    match constant {
        Constant::Value(value) => Ok(Some(value)),
        Constant::Null => Err(Error::Null { argument }),
        Constant::Unknown => Ok(None),
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
        let anchor = self.anchor(arguments)?;
        Ok(width.zip(anchor).and_then(|(width, anchor)| Grid::new(width, anchor)))
    }

    fn execute(&self, plan: Option<&Option<Grid>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.ticks(TS);
        output.null_where_any_is(input);
        let (out, validity) = output.ticks_and_validity();
        if let Some(grid) = plan.and_then(Option::as_ref) {
            bucket_slice(grid, precision, self.edge, ts, validity, out).map_err(|error| Error::OutOfRange {
                edge: self.edge,
                value: Civil { tick: ts[error.row], precision },
            })
        } else {
            let anchors = match self.anchor {
                Anchor::Epoch => Anchors::Epoch,
                Anchor::Offset => Anchors::Offset(input.intervals(ANCHOR)),
                Anchor::Origin(origin) => Anchors::Origin(input.ticks(ANCHOR), origin.precision()),
            };
            let grids = RowGrids { widths: input.intervals(WIDTH), anchors };
            bucket_rows(&grids, precision, self.edge, ts, validity, out)
        }
    }
}

/// An overload that takes a DATE in order to refuse it. It is also what the engine picks for an untyped NULL, which
/// gives NULL.
struct DateRefused {
    name: &'static CStr,
}

impl DateRefused {
    fn signature(third: Option<Type>) -> Option<Signature> {
        signature(Type::Date, third)
    }
}

impl Scalar for DateRefused {
    type Plan = ();

    fn name(&self) -> &'static CStr {
        self.name
    }

    fn bind(&self, arguments: &Arguments) -> Result<()> {
        if arguments.is_untyped_null(TS) { Ok(()) } else { Err(Error::Date) }
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}
