//! `time_bucket`, `time_bucket_start`, `time_bucket_end` and `time_bucket_hop` with a time zone: buckets by its wall clock.

use super::bucket::{Bucket, FUNCTIONS};
use super::grids::{Clock, Clocked, known_length};
use super::hop::{self, HopWindows};
use super::overloads::{anchor_ticks, anchors, no_clock, register_zoned};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Constant, Key, Output, Parameter, Registry, Room, Scalar, TICKS};
use foldhash::fast::FixedState;
use kernel::{
    Clocks, Edge, Grid, Hop, LocalBuckets, LocalHops, LocalRows, RowGrids, Shape, Zone, bucket_local_rows,
    count_local_windows, is_valid, local_hop, write_local_windows,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

const WIDTH: Parameter = Parameter { index: 0, argument: Argument::Width };
const TS: Parameter = Parameter { index: 1, argument: Argument::Ts };
const ZONE: Parameter = Parameter { index: 2, argument: Argument::Zone };
const ANCHOR: Parameter = Parameter { index: 3, argument: Argument::Anchor };

/// Registers all overloads that the running engine has the types for; one of them replaces DuckDB's own.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, edge) in FUNCTIONS {
        register_zoned(registry, name, 1, true, Type::Timestamp, |timestamp| LocalBucket {
            edge,
            timestamp,
        })?;
    }
    for (name, lengths, shape) in hop::FUNCTIONS {
        let windows = |timestamp| LocalHop { shape, timestamp };
        register_zoned(registry, name, lengths.len(), true, Type::Windows, windows)?;
    }
    Ok(())
}

/// An overload that buckets by a wall clock.
struct LocalBucket {
    edge: Edge,
    timestamp: Timestamp,
}

impl LocalBucket {
    /// The same without a clock.
    const fn plain(&self) -> Bucket {
        Bucket::new(self.edge, self.timestamp, ANCHOR)
    }
}

/// The type of the readings of a clock at instants of this type.
pub(super) const fn reading(timestamp: Timestamp) -> Timestamp {
    match timestamp {
        Timestamp::InstantNanos => Timestamp::Nanos,
        _ => Timestamp::Micros,
    }
}

/// An error about an anchor, in words for a zone's.
pub(super) fn anchor_error(error: Error) -> Error {
    match error {
        Error::OtherKind { .. } => Error::InstantOriginOfZone,
        Error::ZoneOfLocal { value } => Error::NotAnchor { value },
        other => other,
    }
}

impl Scalar for LocalBucket {
    /// The buckets of all rows, unless width, zone or anchor are known at execution only.
    type Plan = Clock<Option<Grid>, Option<Arc<LocalBuckets>>>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        if no_clock(arguments, ZONE)? {
            return self.plain().bind(arguments).map(Clock::Plain);
        }
        let buckets = Clocked { width: WIDTH, zone: ZONE }.local(arguments, self.timestamp)?;
        Ok(Clock::Local(buckets.map(Arc::new)))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let plan = match plan {
            Some(Clock::Plain(plan)) => return self.plain().execute(Some(plan), input, output),
            Some(Clock::Local(plan)) => plan.as_ref(),
            None => None,
        };
        let precision = self.timestamp.precision();
        let ts = input.read(TICKS, TS);
        output.null_where_any_is(input);
        let (out, validity) = output.write(TICKS);
        if let Some(buckets) = plan {
            return buckets
                .slice(self.edge, ts, validity, out)
                .map_err(|out_of_range| out_of_range.error(self.edge, precision, ts).into());
        }
        let anchors = anchors(input, ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let grids = RowGrids { widths: input.intervals(WIDTH)?, anchors };
        with_zones(input, ZONE, validity, |zones, clocks, until| {
            let rows = LocalRows { grids, zones };
            Ok(bucket_local_rows(
                &rows,
                clocks,
                precision,
                self.edge,
                &ts[..until],
                validity,
                &mut out[..until],
            )?)
        })
    }
}

/// An overload for windows of local buckets.
struct LocalHop {
    shape: Shape,
    timestamp: Timestamp,
}

impl LocalHop {
    const SIZE: Parameter = Parameter { index: 1, argument: Argument::Size };
    const TS: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const ZONE: Parameter = Parameter { index: 3, argument: Argument::Zone };
    const ANCHOR: Parameter = Parameter { index: 4, argument: Argument::Anchor };

    /// How far apart the windows are.
    const fn step(&self) -> Parameter {
        Parameter { index: 0, argument: self.shape.step() }
    }

    /// The same without a clock.
    const fn plain(&self) -> HopWindows {
        HopWindows::new(self.shape, self.timestamp, Self::ANCHOR)
    }

    fn write(
        &self,
        hops: &LocalHops<'_>,
        input: &Chunk<'_>,
        until: usize,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let (precision, ts) = (self.timestamp.precision(), &input.read(TICKS, Self::TS)[..until]);
        let (lists, validity) = output.lists_and_validity();
        let windows = count_local_windows(hops, precision, ts, validity, lists)?;
        let (lists, [starts, ends]) = output.records(windows, Room::Expansion)?;
        Ok(write_local_windows(hops, precision, ts, lists, starts, ends)?)
    }
}

impl Scalar for LocalHop {
    /// The windows of all rows, unless something is known at execution only.
    type Plan = Clock<Option<Hop>, Option<OneHop>>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        if no_clock(arguments, Self::ZONE)? {
            return self.plain().bind(arguments).map(Clock::Plain);
        }
        let precision = self.timestamp.precision();
        let length = |parameter| known_length(arguments, parameter, precision);
        let lengths = length(self.step())?.zip(length(Self::SIZE)?);
        let lengths = lengths.map(|((step, _), (size, _))| (step, size));
        let count = lengths.map(|(step, size)| local_hop(precision, self.shape, step, size)).transpose()?;
        let zone = known_zone(arguments, Self::ZONE)?;
        let anchor = anchor_ticks(arguments, Self::ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let Some((((lengths, count), anchor), zone)) = lengths.zip(count).zip(anchor).zip(zone) else {
            return Ok(Clock::Local(None));
        };
        let buckets = |parameter: Parameter, length| {
            let grid = precision.grid(parameter.argument, length, anchor)?;
            Ok::<_, Error>(Arc::new(LocalBuckets::new(Arc::clone(&zone), grid, precision)))
        };
        let step = buckets(self.step(), lengths.0)?;
        Ok(Clock::Local(Some(match self.shape {
            Shape::Hop => OneHop::Hop(step, count),
            Shape::Grow => OneHop::Grow(step, buckets(Self::SIZE, lengths.1)?),
        })))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let plan = match plan {
            Some(Clock::Plain(plan)) => return self.plain().execute(Some(plan), input, output),
            Some(Clock::Local(plan)) => plan.as_ref(),
            None => None,
        };
        output.null_where_any_is(input);
        match plan {
            Some(OneHop::Hop(buckets, count)) => {
                return self.write(&LocalHops::One(buckets, *count), input, input.len(), output);
            }
            Some(OneHop::Grow(step, size)) => {
                return self.write(&LocalHops::Grow(step, size), input, input.len(), output);
            }
            None if self.shape == Shape::Grow => return Err(Error::NotConstant),
            None => {}
        }
        let validity = output.lists_and_validity().1.map(<[u64]>::to_vec);
        let anchors = anchors(input, Self::ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let (slides, sizes) = (input.intervals(self.step())?, input.intervals(Self::SIZE)?);
        with_zones(input, Self::ZONE, validity.as_deref(), |zones, clocks, until| {
            let hops = LocalHops::Rows { slides, sizes, anchors, zones, clocks };
            self.write(&hops, input, until, output)
        })
    }
}

/// The windows of all rows.
#[derive(Clone)]
enum OneHop {
    /// The buckets, and how many make a window.
    Hop(Arc<LocalBuckets>, u64),
    /// The buckets of step and size.
    Grow(Arc<LocalBuckets>, Arc<LocalBuckets>),
}

/// The clock of a zone by its name.
pub(super) fn zone_of(name: &str) -> Result<Arc<Zone>> {
    let is_date = || {
        let mut parts = name.trim().splitn(3, '-');
        let mut is_number =
            || parts.next().is_some_and(|part| part.starts_with(|first: char| first.is_ascii_digit()));
        is_number() && is_number() && is_number()
    };
    zones::find(name).ok_or_else(|| match is_date() {
        true => Error::DateForZone { value: name.to_owned() },
        false => Error::UnknownZone { value: name.to_owned(), nearest: zones::nearest(name) },
    })
}

/// The one zone of all rows, `None` while it is unknown.
pub(super) fn known_zone(arguments: &Arguments<'_>, parameter: Parameter) -> Result<Option<Arc<Zone>>> {
    match arguments.value(parameter)? {
        Constant::Unknown => Ok(None),
        Constant::Null => Err(Error::Null { argument: parameter.argument }),
        Constant::Value(given) => zone_of(&given.text()).map(Some),
    }
}

/// The zones that a thread has met in columns, so that a row costs a look at its name and no lock.
#[derive(Default)]
struct Met {
    places: HashMap<Key, u16, FixedState>,
    clocks: Clocks,
    /// The zone of each row of a chunk.
    rows: Vec<u16>,
}

impl Met {
    /// More names than there are, in any one way to write each; offsets to the second are met no more often than that.
    const MOST: usize = 4_096;

    /// The place of a zone of which no row was met yet.
    #[cold]
    fn meet(&mut self, name: &str, key: Option<Key>) -> Result<u16> {
        let place = self.clocks.place(&zone_of(name)?) as u16;
        self.places.extend(key.map(|key| (key, place)));
        Ok(place)
    }
}

/// Looks up the zone of each valid row, and hands `run` where each stands, among which clocks, and how many rows that is: all,
/// or those before one whose name is unknown. That row's error comes after `run`'s.
pub(super) fn with_zones(
    input: &Chunk<'_>,
    parameter: Parameter,
    validity: Option<&[u64]>,
    run: impl FnOnce(&[u16], &mut Clocks, usize) -> Result<()>,
) -> Result<()> {
    thread_local! {
        static MET: RefCell<Met> = RefCell::default();
    }
    MET.with_borrow_mut(|met| {
        // A chunk adds no more names than it has rows, so that places fit their type.
        if met.places.len().max(met.clocks.len()) > Met::MOST {
            *met = Met::default();
        }
        let (key, name) = (input.keys(parameter), input.texts(parameter));
        let mut rows = std::mem::take(&mut met.rows);
        rows.clear();
        let mut unknown = Ok(());
        // All keys of some rows before the first is looked up: a processor waits for what it has just written in other pieces.
        let mut keys = [None; 64];
        'blocks: for from in (0..input.len()).step_by(keys.len()) {
            let block = from..input.len().min(from + keys.len());
            for (slot, row) in keys.iter_mut().zip(block.clone()) {
                *slot = if is_valid(validity, row) { key(row) } else { None };
            }
            for (found, row) in keys.iter().zip(block) {
                let place = match found.as_ref().and_then(|key| met.places.get(key)) {
                    Some(&place) => Ok(place),
                    None if is_valid(validity, row) => met.meet(name(row), *found),
                    None => Ok(0),
                };
                match place {
                    Ok(place) => rows.push(place),
                    Err(error) => {
                        unknown = Err(error);
                        break 'blocks;
                    }
                }
            }
        }
        let result = run(&rows, &mut met.clocks, rows.len());
        met.rows = rows;
        result.and(unknown)
    })
}
