//! `time_bucket`, `time_bucket_start`, `time_bucket_end` and `time_bucket_hop` with a time zone: buckets by its wall clock.

use super::bucket::FUNCTIONS;
use super::overloads::{anchor_ticks, anchors, signature};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Constant, Output, Parameter, Registry, Room, Scalar, TICKS};
use foldhash::fast::FixedState;
use kernel::{
    Edge, LocalBuckets, LocalHops, LocalRows, RowGrids, Zone, bucket_local_rows, count_local_windows,
    is_valid, local_hop, write_local_windows,
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
        let instants = Timestamp::ALL.into_iter().filter(|timestamp| timestamp.is_instant());
        let overloads = instants.flat_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            [None, Some(Type::Any)].into_iter().filter_map(move |anchor| {
                let parameters = [Type::Interval, ts, Type::Text].into_iter().chain(anchor);
                Some((signature(parameters, ts)?, LocalBucket { edge, timestamp }))
            })
        });
        registry.scalars(name, overloads)?;
        // Without these DuckDB 1.5 would make a local time an instant by the session's time zone.
        let locals = Timestamp::ALL.into_iter().filter(|timestamp| !timestamp.is_instant());
        let refused = locals.filter_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            Some((signature([Type::Interval, ts, Type::Text, Type::Any], ts)?, ZoneOfLocal))
        });
        registry.scalars(name, refused)?;
    }
    let instants = Timestamp::ALL.into_iter().filter(|timestamp| timestamp.is_instant());
    let hops = instants.flat_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        [None, Some(Type::Any)].into_iter().filter_map(move |anchor| {
            let parameters = [Type::Interval, Type::Interval, ts, Type::Text].into_iter().chain(anchor);
            Some((signature(parameters, Type::Windows(timestamp))?, LocalHop { timestamp }))
        })
    });
    registry.scalars(c"time_bucket_hop", hops)
}

/// An overload that takes a zone and an origin beside a local time in order to refuse them.
struct ZoneOfLocal;

impl Scalar for ZoneOfLocal {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        anchor_ticks(arguments, Parameter { argument: Argument::Anchor, ..ZONE }, Timestamp::Micros).map(drop)
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}

/// An overload that buckets by a wall clock.
struct LocalBucket {
    edge: Edge,
    timestamp: Timestamp,
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
    type Plan = Option<Arc<LocalBuckets>>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        let precision = self.timestamp.precision();
        let width = arguments.known_interval(WIDTH)?;
        // Each is checked even while another is unknown.
        width.map(|width| precision.length_ticks(WIDTH.argument, width)).transpose()?;
        let zone = known_zone(arguments, ZONE)?;
        let anchor = anchor_ticks(arguments, ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let Some(((width, anchor), zone)) = width.zip(anchor).zip(zone) else { return Ok(None) };
        let grid = precision.grid(WIDTH.argument, width, anchor)?;
        Ok(Some(Arc::new(LocalBuckets::new(zone, grid, precision))))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.read(TICKS, TS);
        output.null_where_any_is(input);
        let (out, validity) = output.write(TICKS);
        if let Some(buckets) = plan.and_then(Option::as_ref) {
            return buckets
                .slice(self.edge, ts, validity, out)
                .map_err(|out_of_range| out_of_range.error(self.edge, precision, ts).into());
        }
        let anchors = anchors(input, ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let grids = RowGrids { widths: input.intervals(WIDTH)?, anchors };
        with_zones(input, ZONE, validity, |zones, known, until| {
            let rows = LocalRows { grids, zones, known };
            Ok(bucket_local_rows(&rows, precision, self.edge, &ts[..until], validity, &mut out[..until])?)
        })
    }
}

/// An overload for windows of local buckets.
struct LocalHop {
    timestamp: Timestamp,
}

impl LocalHop {
    const SLIDE: Parameter = Parameter { index: 0, argument: Argument::Slide };
    const SIZE: Parameter = Parameter { index: 1, argument: Argument::Size };
    const TS: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const ZONE: Parameter = Parameter { index: 3, argument: Argument::Zone };
    const ANCHOR: Parameter = Parameter { index: 4, argument: Argument::Anchor };

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
    /// The buckets of all rows and how many make a window, unless something is known at execution only.
    type Plan = Option<(Arc<LocalBuckets>, u64)>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        let precision = self.timestamp.precision();
        let length = |parameter: Parameter| {
            let length = arguments.known_interval(parameter)?;
            length.map(|length| precision.length_ticks(parameter.argument, length)).transpose()?;
            Ok::<_, Error>(length)
        };
        let (slide, size) = (length(Self::SLIDE)?, length(Self::SIZE)?);
        let count = slide.zip(size).map(|(slide, size)| local_hop(precision, slide, size)).transpose()?;
        let zone = known_zone(arguments, Self::ZONE)?;
        let anchor = anchor_ticks(arguments, Self::ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let Some((((slide, count), anchor), zone)) = slide.zip(count).zip(anchor).zip(zone) else {
            return Ok(None);
        };
        let grid = precision.grid(Argument::Slide, slide, anchor)?;
        Ok(Some((Arc::new(LocalBuckets::new(zone, grid, precision)), count)))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.null_where_any_is(input);
        if let Some((buckets, count)) = plan.and_then(Option::as_ref) {
            return self.write(&LocalHops::One(buckets, *count), input, input.len(), output);
        }
        let validity = output.lists_and_validity().1.map(<[u64]>::to_vec);
        let anchors = anchors(input, Self::ANCHOR, reading(self.timestamp)).map_err(anchor_error)?;
        let (slides, sizes) = (input.intervals(Self::SLIDE)?, input.intervals(Self::SIZE)?);
        with_zones(input, Self::ZONE, validity.as_deref(), |zones, known, until| {
            let hops = LocalHops::Rows { slides, sizes, anchors, zones, known };
            self.write(&hops, input, until, output)
        })
    }
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
    by_name: HashMap<Box<[u8]>, u16, FixedState>,
    zones: Vec<Arc<Zone>>,
    /// The zone of each row of a chunk.
    rows: Vec<u16>,
}

impl Met {
    /// More names than there are, in any one way to write each; offsets to the second are met no more often than that.
    const MOST: usize = 4_096;

    fn place(&mut self, name: &[u8]) -> Result<u16> {
        if let Some(place) = self.by_name.get(name) {
            return Ok(*place);
        }
        let zone = zone_of(&String::from_utf8_lossy(name))?;
        let place = self.zones.len() as u16;
        self.zones.push(zone);
        self.by_name.insert(name.into(), place);
        Ok(place)
    }
}

/// Looks up the zone of each valid row, and hands `run` where each stands, among which zones, and how many rows that is: all,
/// or those before one whose name is unknown. That row's error comes after `run`'s.
pub(super) fn with_zones(
    input: &Chunk<'_>,
    parameter: Parameter,
    validity: Option<&[u64]>,
    run: impl FnOnce(&[u16], &[Arc<Zone>], usize) -> Result<()>,
) -> Result<()> {
    thread_local! {
        static MET: RefCell<Met> = RefCell::default();
    }
    MET.with_borrow_mut(|met| {
        // A chunk adds no more names than it has rows, so that places fit their type.
        if met.zones.len() > Met::MOST {
            *met = Met::default();
        }
        let name = input.bytes(parameter);
        let mut rows = std::mem::take(&mut met.rows);
        rows.clear();
        let mut unknown = Ok(());
        for row in 0..input.len() {
            let place = if is_valid(validity, row) { met.place(name(row)) } else { Ok(0) };
            match place {
                Ok(place) => rows.push(place),
                Err(error) => {
                    unknown = Err(error);
                    break;
                }
            }
        }
        let result = run(&rows, &met.zones, rows.len());
        met.rows = rows;
        result.and(unknown)
    })
}
