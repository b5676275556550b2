//! `time_bucket_sessions`: the session of each of a key's rows.

use super::bound::NoTimestamps;
use super::grids::known_length;
use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Room, Scalar};
use kernel::{Civil, List, Ordered, Precision, is_valid, order_rows, sessions};

/// Registers an overload for each type of timestamp.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let overloads = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let types = [Type::Times(timestamp), Type::Any];
        Some((signature(types, Type::NumberedWindows(timestamp))?, Sessions { timestamp }))
    });
    registry.scalars(c"time_bucket_sessions", overloads)?;
    let others = signature([Type::Any, Type::Any], Type::NumberedWindows(Timestamp::Micros));
    registry.scalars(
        c"time_bucket_sessions",
        others.map(|types| (types, NoTimestamps(Parameter { argument: Argument::Ts, ..Sessions::TIMES }))),
    )
}

/// The rows in the order of their times, each with where its session starts and ends; rows without a time are left out.
struct Sessions {
    timestamp: Timestamp,
}

impl Sessions {
    const TIMES: Parameter = Parameter { index: 0, argument: Argument::Times };
    const GAP: Parameter = Parameter { index: 1, argument: Argument::Gap };
}

impl Scalar for Sessions {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        known_length(arguments, Self::GAP, self.timestamp.precision()).map(drop)
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        let (times, gaps) = (input.word_lists(Self::TIMES), input.intervals(Self::GAP)?);
        output.null_where_any_is(input);
        let (lists, validity) = output.lists_and_validity();
        let total = List::lay_out(lists, |row| -> Result<_> {
            let ((times, known), has_list) = (times(row), is_valid(validity, row));
            Ok((0..times.len()).filter(|&index| has_list && known.has(index)).count() as u64)
        })?;
        let (lists, [rows, starts, ends]) = output.records(total, Room::Rows)?;
        for (row, list) in lists.iter().enumerate().filter(|(_, list)| list.length > 0) {
            let (rows, starts, ends) =
                (&mut rows[list.range()], &mut starts[list.range()], &mut ends[list.range()]);
            let gap = precision.length_ticks(Argument::Gap, gaps[row])?;
            let (times, known) = times(row);
            order_rows(times, |index| known.has(index), rows);
            sessions(Ordered { times, rows }, gap, |places, first, last| {
                let end = if Precision::is_infinite(last) {
                    Some(last)
                } else {
                    precision.finite(i128::from(last) + gap)
                };
                let value = Civil { tick: last, precision };
                starts[places.clone()].fill(first);
                ends[places]
                    .fill(end.ok_or(kernel::Error::WindowOutOfRange { argument: Argument::Ts, value })?);
                Ok(())
            })?;
        }
        Ok(())
    }
}
