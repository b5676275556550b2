//! The grid of a call that takes a zone and an origin in every case, as those do that macros stand on: the zone 'none' means
//! that there is no wall clock, but a grid of the timestamps themselves.

use super::local::{anchor_error, known_zone, reading};
use super::overloads::{anchor_ticks, no_clock};
use super::types::Timestamp;
use crate::error::{Argument, Error, Result};
use crate::ffi::{Arguments, Constant, Parameter};
use kernel::{Grid, Interval, LocalBuckets, Precision};
use std::sync::Arc;

/// Where a call has what says which grid.
#[derive(Clone, Copy)]
pub(super) struct Clocked {
    /// The width.
    pub(super) width: Parameter,
    /// The zone; the anchor follows it.
    pub(super) zone: Parameter,
}

/// What goes by timestamps, for the zone 'none', or what goes by a wall clock.
#[derive(Clone)]
pub(super) enum Clock<P, L> {
    Plain(P),
    Local(L),
}

/// A grid of timestamps, or of readings of a zone's wall clock.
pub(super) type Buckets = Clock<Grid, Arc<LocalBuckets>>;

/// A width, slide or other length and its ticks, once the one value of all rows is known to be legal; `None` while it is unknown.
pub(super) fn known_length(
    arguments: &Arguments<'_>,
    parameter: Parameter,
    precision: Precision,
) -> Result<Option<(Interval, i128)>> {
    let length = arguments.known_interval(parameter)?;
    let ticks = length.map(|length| precision.length_ticks(parameter.argument, length)).transpose()?;
    Ok(length.zip(ticks))
}

impl Clocked {
    /// The buckets, `None` while something of them is unknown.
    pub(super) fn buckets(self, arguments: &Arguments<'_>, timestamp: Timestamp) -> Result<Option<Buckets>> {
        let precision = timestamp.precision();
        let width = known_length(arguments, self.width, precision)?;
        if no_clock(arguments, self.zone)? {
            let anchor = anchor_ticks(arguments, self.anchor(), timestamp)?;
            let Some(((width, _), anchor)) = width.zip(anchor) else { return Ok(None) };
            return Ok(Some(Buckets::Plain(precision.grid(self.width.argument, width, anchor)?)));
        }
        if !timestamp.is_instant() {
            return match arguments.value(self.zone)? {
                Constant::Value(zone) => Err(Error::ZoneOfLocal { value: format!("'{}'", zone.text()) }),
                Constant::Null => Err(Error::Null { argument: Argument::Zone }),
                Constant::Unknown => Ok(None),
            };
        }
        Ok(self.local(arguments, timestamp)?.map(|buckets| Buckets::Local(Arc::new(buckets))))
    }

    /// The buckets of instants by a wall clock, `None` while something of them is unknown.
    pub(super) fn local(
        self,
        arguments: &Arguments<'_>,
        timestamp: Timestamp,
    ) -> Result<Option<LocalBuckets>> {
        let precision = timestamp.precision();
        // Each is checked even while another is unknown.
        let width = known_length(arguments, self.width, precision)?;
        let zone = known_zone(arguments, self.zone)?;
        let anchor = anchor_ticks(arguments, self.anchor(), reading(timestamp)).map_err(anchor_error)?;
        let Some((((width, _), anchor), zone)) = width.zip(anchor).zip(zone) else { return Ok(None) };
        let grid = precision.grid(self.width.argument, width, anchor)?;
        Ok(Some(LocalBuckets::new(zone, grid, precision)))
    }

    /// The anchor.
    pub(super) const fn anchor(self) -> Parameter {
        Parameter { index: self.zone.index + 1, argument: Argument::Anchor }
    }
}

impl Buckets {
    /// The bucket that holds a finite tick: its start and its end.
    pub(super) fn bucket(&self, tick: i64) -> (i128, i128) {
        match self {
            Self::Plain(grid) => (grid.start(tick), grid.end(tick)),
            Self::Local(buckets) => buckets.bucket(tick),
        }
    }
}
