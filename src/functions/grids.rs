//! The grid of a call that takes a zone and an origin in every case, as those do that macros stand on: the zone 'none' means
//! that there is no wall clock, but a grid of the timestamps themselves.

use super::local::{anchor_error, known_zone, reading};
use super::overloads::{anchor_ticks, no_clock};
use super::types::Timestamp;
use crate::error::{Argument, Error, Result};
use crate::ffi::{Arguments, Constant, Parameter};
use kernel::{Grid, LocalBuckets};
use std::sync::Arc;

/// Where a call has what says which grid.
#[derive(Clone, Copy)]
pub(super) struct Clocked {
    /// The width.
    pub(super) width: Parameter,
    /// The zone; the anchor follows it.
    pub(super) zone: Parameter,
}

/// A grid of timestamps, or of readings of a zone's wall clock.
#[derive(Clone)]
pub(super) enum Buckets {
    Plain(Grid),
    Local(Arc<LocalBuckets>),
}

impl Clocked {
    /// The buckets, `None` while something of them is unknown.
    pub(super) fn buckets(self, arguments: &Arguments<'_>, timestamp: Timestamp) -> Result<Option<Buckets>> {
        let precision = timestamp.precision();
        let width = arguments.known_interval(self.width)?;
        // Each is checked even while another is unknown.
        width.map(|width| precision.length_ticks(self.width.argument, width)).transpose()?;
        let anchor = Parameter { index: self.zone.index + 1, argument: Argument::Anchor };
        if no_clock(arguments, self.zone)? {
            let anchor = anchor_ticks(arguments, anchor, timestamp)?;
            let Some((width, anchor)) = width.zip(anchor) else { return Ok(None) };
            return Ok(Some(Buckets::Plain(precision.grid(self.width.argument, width, anchor)?)));
        }
        if !timestamp.is_instant() {
            return match arguments.value(self.zone)? {
                Constant::Value(zone) => Err(Error::ZoneOfLocal { value: format!("'{}'", zone.text()) }),
                Constant::Null => Err(Error::Null { argument: Argument::Zone }),
                Constant::Unknown => Ok(None),
            };
        }
        let zone = known_zone(arguments, self.zone)?;
        let anchor = anchor_ticks(arguments, anchor, reading(timestamp)).map_err(anchor_error)?;
        let Some(((width, anchor), zone)) = width.zip(anchor).zip(zone) else { return Ok(None) };
        let grid = precision.grid(self.width.argument, width, anchor)?;
        Ok(Some(Buckets::Local(Arc::new(LocalBuckets::new(zone, grid, precision)))))
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
