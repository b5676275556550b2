//! `time_bucket_series` and `time_bucket_cover`.

use super::table::{columns, interval, origin_ticks, parameters, ticks_of};
use super::types::{Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Bound, Registry, Rows, Table, TableArguments};
use kernel::{Cover, Series};
use std::ffi::CStr;

/// Registers both.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    if let Some(parameters) = parameters(3, &[(SeriesOf::ORIGIN, Type::Any)]) {
        registry.table(&parameters, SeriesOf)?;
    }
    if let Some(parameters) = parameters(4, &[]) {
        registry.table(&parameters, CoverOf)?;
    }
    Ok(())
}

const SERIES: &CStr = c"time_bucket_series";

/// The buckets of a range.
struct SeriesOf;

impl SeriesOf {
    const WIDTH: usize = 0;
    const FROM: usize = 1;
    const UNTIL: usize = 2;
    const ORIGIN: &CStr = c"origin";
}

impl Table for SeriesOf {
    type Plan = Series;

    fn name(&self) -> &'static CStr {
        SERIES
    }

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Series>> {
        let value = interval(arguments, Self::WIDTH, Argument::Width)?;
        let from = arguments.required(Self::FROM, Argument::From)?;
        let until = arguments.required(Self::UNTIL, Argument::Until)?;
        let (from, timestamp) = ticks_of(&from, Argument::From, &Timestamp::ALL, Argument::From)?;
        let (until, _) = ticks_of(&until, Argument::Until, &[timestamp], Argument::From)?;
        let precision = timestamp.precision();
        let origin = arguments.named(Self::ORIGIN);
        let origin = origin.map(|origin| origin_ticks(&origin, timestamp, Argument::From)).transpose()?;
        let grid = precision.grid(Argument::Width, value, origin.unwrap_or_default())?;
        let plan = Series::new(&grid, precision, from, until)?;
        let ts = Type::Timestamp(timestamp);
        Ok(Bound { plan, len: plan.len(), columns: columns([(WINDOW_START, ts), (WINDOW_END, ts)]) })
    }

    fn write(&self, series: &Series, rows: &mut Rows<'_>) -> Result<()> {
        let ((starts, ends), from) = (series.bounds(), rows.from());
        starts.write(from, rows.ticks(0));
        ends.write(from, rows.ticks(1));
        Ok(())
    }
}

const COVER: &CStr = c"time_bucket_cover";

/// The stored windows that make up a lookback.
struct CoverOf;

impl CoverOf {
    const AT: usize = 0;
    const LOOKBACK: usize = 1;
    const SIZE: usize = 2;
    const SLIDE: usize = 3;
}

impl Table for CoverOf {
    type Plan = Cover;

    fn name(&self) -> &'static CStr {
        COVER
    }

    fn bind(&self, arguments: &TableArguments) -> Result<Bound<Cover>> {
        let at = arguments.required(Self::AT, Argument::At)?;
        let (at, timestamp) = ticks_of(&at, Argument::At, &Timestamp::ALL, Argument::At)?;
        let lookback = interval(arguments, Self::LOOKBACK, Argument::Lookback)?;
        let size = interval(arguments, Self::SIZE, Argument::Size)?;
        let slide = interval(arguments, Self::SLIDE, Argument::Slide)?;
        let plan = Cover::new(timestamp.precision(), at, lookback, size, slide)?;
        let ts = Type::Timestamp(timestamp);
        let columns = columns([
            (WINDOW_START, ts),
            (WINDOW_END, ts),
            (c"aligned_end", ts),
            (c"staleness", Type::Interval),
            (c"windows", Type::Integer),
        ]);
        Ok(Bound { plan, len: plan.len(), columns })
    }

    fn write(&self, cover: &Cover, rows: &mut Rows<'_>) -> Result<()> {
        let ((starts, ends), from) = (cover.bounds(), rows.from());
        starts.write(from, rows.ticks(0));
        ends.write(from, rows.ticks(1));
        rows.ticks(2).fill(cover.aligned_end());
        rows.intervals(3).fill(cover.staleness());
        rows.integers(4).fill(cover.len() as i64);
        Ok(())
    }
}
