//! `time_bucket_series` and `time_bucket_cover`.

use super::local::{anchor_error, reading, zone_of};
use super::table::{ORIGIN, columns, interval, origin_ticks, parameters, ticks_of};
use super::types::{STALENESS, Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Bound, INTEGERS, INTERVALS, Parameter, Registry, Rows, TICKS, Table, TableArguments};
use kernel::{Cover, LocalBuckets, LocalSeries, Series};
use std::ffi::CStr;

/// Registers both.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    if let Some(parameters) = parameters(3, &[(ORIGIN, Type::Any), (SeriesOf::ZONE, Type::Text)]) {
        registry.table(c"time_bucket_series", &parameters, SeriesOf)?;
    }
    if let Some(parameters) = parameters(4, &[(ORIGIN, Type::Any)]) {
        registry.table(c"time_bucket_cover", &parameters, CoverOf)?;
    }
    Ok(())
}

/// The buckets of a range.
struct SeriesOf;

impl SeriesOf {
    const WIDTH: Parameter = Parameter { index: 0, argument: Argument::Width };
    const FROM: Parameter = Parameter { index: 1, argument: Argument::From };
    const UNTIL: Parameter = Parameter { index: 2, argument: Argument::Until };
    const ZONE: &CStr = c"zone";
}

/// The buckets of a grid, or of a zone's wall clock.
enum Buckets {
    Plain(Series),
    Local(LocalSeries),
}

impl Table for SeriesOf {
    type Plan = Buckets;

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Buckets>> {
        let value = interval(arguments, Self::WIDTH)?;
        let from = arguments.required(Self::FROM)?;
        let until = arguments.required(Self::UNTIL)?;
        let (from, timestamp) = ticks_of(&from, Argument::From, &Timestamp::ALL, Argument::From)?;
        let (until, _) = ticks_of(&until, Argument::Until, &[timestamp], Argument::From)?;
        let precision = timestamp.precision();
        let (plan, len) = if let Some(zone) = arguments.named(Self::ZONE) {
            if zone.is_null() {
                return Err(Error::Null { argument: Argument::Zone });
            }
            if !timestamp.is_instant() {
                return Err(Error::ZoneOfLocalRange { value: zone.text() });
            }
            let zone = zone_of(&zone.text())?;
            let anchor = origin_ticks(arguments, reading(timestamp), Argument::From).map_err(anchor_error)?;
            let grid = precision.grid(Argument::Width, value, anchor)?;
            let series = LocalSeries::new(&LocalBuckets::new(zone, grid, precision), from, until)?;
            let len = series.len();
            (Buckets::Local(series), len)
        } else {
            let anchor = origin_ticks(arguments, timestamp, Argument::From)?;
            let series =
                Series::new(&precision.grid(Argument::Width, value, anchor)?, precision, from, until)?;
            (Buckets::Plain(series), series.len())
        };
        let ts = Type::Timestamp(timestamp);
        Ok(Bound { plan, len, columns: columns([(WINDOW_START, ts), (WINDOW_END, ts)]) })
    }

    fn write(&self, buckets: &Buckets, rows: &mut Rows<'_>) -> Result<()> {
        let from = rows.from();
        match buckets {
            Buckets::Plain(series) => {
                let (starts, ends) = series.bounds();
                starts.write(from, rows.write(TICKS, WINDOW_START));
                ends.write(from, rows.write(TICKS, WINDOW_END));
            }
            Buckets::Local(series) => {
                series.write_starts(from, rows.write(TICKS, WINDOW_START));
                series.write_ends(from, rows.write(TICKS, WINDOW_END));
            }
        }
        Ok(())
    }
}

/// The stored windows that make up a lookback.
struct CoverOf;

impl CoverOf {
    const AT: Parameter = Parameter { index: 0, argument: Argument::At };
    const LOOKBACK: Parameter = Parameter { index: 1, argument: Argument::Lookback };
    const SIZE: Parameter = Parameter { index: 2, argument: Argument::Size };
    const SLIDE: Parameter = Parameter { index: 3, argument: Argument::Slide };

    const ALIGNED_END: &CStr = c"aligned_end";
    const WINDOWS: &CStr = c"windows";
}

impl Table for CoverOf {
    type Plan = Cover;

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Cover>> {
        let at = arguments.required(Self::AT)?;
        let (at, timestamp) = ticks_of(&at, Argument::At, &Timestamp::ALL, Argument::At)?;
        let lookback = interval(arguments, Self::LOOKBACK)?;
        let size = interval(arguments, Self::SIZE)?;
        let slide = interval(arguments, Self::SLIDE)?;
        let anchor = origin_ticks(arguments, timestamp, Argument::At)?;
        let plan = Cover::new(timestamp.precision(), at, lookback, size, slide, anchor)?;
        let ts = Type::Timestamp(timestamp);
        let columns = columns([
            (WINDOW_START, ts),
            (WINDOW_END, ts),
            (Self::ALIGNED_END, ts),
            (STALENESS, Type::Interval),
            (Self::WINDOWS, Type::Integer),
        ]);
        Ok(Bound { plan, len: plan.windows().len(), columns })
    }

    fn write(&self, cover: &Cover, rows: &mut Rows<'_>) -> Result<()> {
        let ((starts, ends), from) = (cover.windows().bounds(), rows.from());
        starts.write(from, rows.write(TICKS, WINDOW_START));
        ends.write(from, rows.write(TICKS, WINDOW_END));
        rows.write(TICKS, Self::ALIGNED_END).fill(cover.aligned_end());
        rows.write(INTERVALS, STALENESS).fill(cover.staleness());
        rows.write(INTEGERS, Self::WINDOWS).fill(cover.windows().len() as i64);
        Ok(())
    }
}
