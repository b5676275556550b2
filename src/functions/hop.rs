//! `time_bucket_hop`.

use super::overloads::{Anchor, DateRefused, anchored, known, signature, with_date};
use super::types::Timestamp::{self, Micros};
use super::types::Type;
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Registry, Scalar, Signature};
use kernel::{Hop, Hops, count_windows, write_windows};
use std::ffi::CStr;

const NAME: &CStr = c"time_bucket_hop";

/// Where each argument stands.
const SLIDE: usize = 0;
const SIZE: usize = 1;
const TS: usize = 2;
const ANCHOR: usize = 3;

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let hops = anchored().map(|(timestamp, anchor)| HopWindows { timestamp, anchor });
    registry.scalars(NAME, hops.filter_map(|hop| Some((hop.signature()?, hop))))?;
    let refused = with_date().filter_map(|anchor| {
        let parameters = [Some(Type::Interval), Some(Type::Interval), Some(Type::Date), anchor.parameter()];
        let result = Type::Windows(anchor.origin().unwrap_or(Micros));
        Some((
            signature(parameters, result)?,
            DateRefused { like: HopWindows { timestamp: Micros, anchor }, ts: TS },
        ))
    });
    registry.scalars(NAME, refused)
}

/// An overload for one type of timestamp.
struct HopWindows {
    timestamp: Timestamp,
    anchor: Anchor,
}

impl HopWindows {
    fn signature(&self) -> Option<Signature> {
        let ts = Type::Timestamp(self.timestamp);
        let parameters = [Some(Type::Interval), Some(Type::Interval), Some(ts), self.anchor.parameter()];
        signature(parameters, Type::Windows(self.timestamp))
    }
}

impl Scalar for HopWindows {
    /// The windows of all rows, unless slide, size or anchor are known at execution only.
    type Plan = Option<Hop>;

    fn name(&self) -> &'static CStr {
        NAME
    }

    fn bind(&self, arguments: &Arguments) -> Result<Option<Hop>> {
        let precision = self.timestamp.precision();
        let length = |index, argument| {
            let length = known(arguments.interval(index, argument)?, argument)?;
            length.map(|length| precision.length_ticks(argument, length)).transpose()?;
            Ok::<_, Error>(length)
        };
        let (slide, size) = (length(SLIDE, Argument::Slide)?, length(SIZE, Argument::Size)?);
        let anchor = self.anchor.ticks(arguments, ANCHOR, precision)?;
        let Some((slide, size)) = slide.zip(size) else { return Ok(None) };
        // Too many windows are refused even while the anchor is unknown.
        let hop = Hop::new(precision, slide, size, anchor.unwrap_or_default())?;
        Ok(anchor.map(|_| hop))
    }

    fn execute(&self, plan: Option<&Option<Hop>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let ts = input.ticks(TS);
        let hops = match plan.and_then(Option::as_ref) {
            Some(hop) => Hops::One(hop),
            None => Hops::Rows {
                slides: input.intervals(SLIDE),
                sizes: input.intervals(SIZE),
                anchors: self.anchor.of_rows(input, ANCHOR),
            },
        };
        output.null_where_any_is(input);
        let (lists, validity) = output.lists_and_validity();
        let windows = count_windows(&hops, precision, ts, validity, lists)?;
        let (lists, starts, ends) = output.windows(windows)?;
        Ok(write_windows(&hops, precision, ts, lists, starts, ends)?)
    }
}
