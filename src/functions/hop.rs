//! `time_bucket_hop`.

use super::overloads::{anchor_ticks, anchors, register as register_overloads};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Scalar};
use kernel::{Hop, Hops, count_windows, write_windows};

const SLIDE: Parameter = Parameter { index: 0, argument: Argument::Slide };
const SIZE: Parameter = Parameter { index: 1, argument: Argument::Size };
const TS: Parameter = Parameter { index: 2, argument: Argument::Ts };
const ANCHOR: Parameter = Parameter { index: 3, argument: Argument::Anchor };

/// Registers all overloads that the running engine has the types for.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let hop = |timestamp| HopWindows { timestamp };
    register_overloads(registry, c"time_bucket_hop", &[SLIDE, SIZE], Type::Windows, hop)
}

/// An overload for one type of timestamp.
struct HopWindows {
    timestamp: Timestamp,
}

impl Scalar for HopWindows {
    /// The windows of all rows, unless slide, size or anchor are known at execution only.
    type Plan = Option<Hop>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Hop>> {
        let precision = self.timestamp.precision();
        let length = |parameter: Parameter| {
            let length = arguments.known_interval(parameter)?;
            length.map(|length| precision.length_ticks(parameter.argument, length)).transpose()?;
            Ok::<_, Error>(length)
        };
        let (slide, size) = (length(SLIDE)?, length(SIZE)?);
        let anchor = anchor_ticks(arguments, ANCHOR, self.timestamp)?;
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
                slides: input.intervals(SLIDE)?,
                sizes: input.intervals(SIZE)?,
                anchors: anchors(input, ANCHOR, self.timestamp)?,
            },
        };
        output.null_where_any_is(input);
        let (lists, validity) = output.lists_and_validity();
        let windows = count_windows(&hops, precision, ts, validity, lists)?;
        let (lists, starts, ends) = output.windows(windows)?;
        Ok(write_windows(&hops, precision, ts, lists, starts, ends)?)
    }
}
