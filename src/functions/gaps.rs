//! What `gapfill` stands on: `time_bucket_order`, `time_bucket_previous`, `time_bucket_next` and `time_bucket_pieces`
//! over the rows of a key, and `time_bucket_range`, the buckets between two times.
//!
//! A key's rows are lists, one for each column. A row is its number in them, from 1 on, and 0 is none.

use super::grids::{Buckets, Clocked};
use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{Arguments, Chunk, Output, Parameter, Registry, Room, Scalar, TICKS};
use kernel::{
    Civil, List, Ordered, Precision, is_valid, next_known, order_rows, previous_known, starts_between,
};

/// Registers them all.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let orders = Timestamp::ALL
        .into_iter()
        .filter_map(|timestamp| Some((signature([Type::Times(timestamp)], Type::Integers)?, Order)));
    registry.scalars(c"time_bucket_order", orders)?;
    let of_order = || signature([Type::Integers, Type::Any], Type::Integers);
    registry.scalars(c"time_bucket_previous", of_order().map(|types| (types, Neighbour(previous))))?;
    registry.scalars(c"time_bucket_next", of_order().map(|types| (types, Neighbour(next))))?;
    let pieces = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        let types = [Type::Times(timestamp), Type::Integers, ts, ts, Type::Interval];
        Some((signature(types, Type::Pieces(timestamp))?, Pieces { timestamp }))
    });
    registry.scalars(c"time_bucket_pieces", pieces)?;
    let ranges = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        let types = [Type::Any, ts, ts, Type::Text, Type::Any];
        Some((signature(types, Type::Times(timestamp))?, Range { timestamp }))
    });
    registry.scalars(c"time_bucket_range", ranges)
}

/// The numbers of rows in the order of their times; rows without one are left out.
struct Order;

impl Order {
    const TIMES: Parameter = Parameter { index: 0, argument: Argument::Times };
}

impl Scalar for Order {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let times = input.word_lists(Self::TIMES);
        let len = |row| {
            let (times, known) = times(row);
            (0..times.len()).filter(|&index| known.has(index)).count() as u64
        };
        let total = List::lay_out(output.lists_and_validity().0, |row| -> Result<_> { Ok(len(row)) })?;
        let (lists, rows) = output.words(total, Room::Rows)?;
        for (row, list) in lists.iter().enumerate() {
            let (times, known) = times(row);
            order_rows(times, |index| known.has(index), &mut rows[list.range()]);
        }
        Ok(())
    }
}

/// For each place of an order, a row that has a value.
type Neighbours = fn(&[i64], &dyn Fn(usize) -> bool, &mut [i64]);

fn previous(rows: &[i64], is_known: &dyn Fn(usize) -> bool, out: &mut [i64]) {
    previous_known(rows, is_known, out);
}

fn next(rows: &[i64], is_known: &dyn Fn(usize) -> bool, out: &mut [i64]) {
    next_known(rows, is_known, out);
}

/// The rows with a value up to each place of an order, or after it.
struct Neighbour(Neighbours);

impl Neighbour {
    const ORDER: Parameter = Parameter { index: 0, argument: Argument::Rows };
    const VALUES: Parameter = Parameter { index: 1, argument: Argument::Values };
}

impl Scalar for Neighbour {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let orders = input.word_lists(Self::ORDER);
        let values = input.known_elements(Self::VALUES);
        let total =
            List::lay_out(output.lists_and_validity().0, |row| Ok::<_, Error>(orders(row).0.len() as u64))?;
        let (lists, out) = output.words(total, Room::Rows)?;
        for (row, list) in lists.iter().enumerate() {
            let known = values.as_ref().map(|values| values(row));
            let is_known = |index| known.is_some_and(|known| known.has(index));
            self.0(orders(row).0, &is_known, &mut out[list.range()]);
        }
        Ok(())
    }
}

/// The stretches between the rows of a key within a range, of no more than [`Pieces::WIDTHS`] buckets each.
struct Pieces {
    timestamp: Timestamp,
}

impl Pieces {
    const TIMES: Parameter = Parameter { index: 0, argument: Argument::Times };
    const ORDER: Parameter = Parameter { index: 1, argument: Argument::Rows };
    const SINCE: Parameter = Parameter { index: 2, argument: Argument::Since };
    const UNTIL: Parameter = Parameter { index: 3, argument: Argument::Until };
    const WIDTH: Parameter = Parameter { index: 4, argument: Argument::Width };

    /// Buckets in the longest piece: with a whole chunk of such pieces, the lists of their buckets take 4 MB.
    const WIDTHS: i128 = 256;

    /// More buckets a key than this are refused: they come from a mistaken unit rather than from a question.
    const MOST: i128 = 100_000_000;

    fn check(&self, since: i64, until: i64, width: i128, ordered: Ordered<'_>) -> Result<()> {
        let civil = |tick| Civil { tick, precision: self.timestamp.precision() };
        let line = if (i128::from(until) - i128::from(since)) / width > Self::MOST {
            let (since, until) = (civil(since), civil(until));
            format!(
                "gapfill: more than 100 million buckets from '{since}' to '{until}'; use a greater width or a shorter range"
            )
        } else if let Some(time) = ordered.twice() {
            let time = civil(time);
            format!(
                "gapfill: two rows of one key are in the bucket of '{time}'; GROUP BY the keys and the bucket first"
            )
        } else {
            return Ok(());
        };
        Err(Error::Refused { line })
    }
}

impl Scalar for Pieces {
    type Plan = ();

    fn bind(&self, _: &Arguments<'_>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (times, orders) = (input.word_lists(Self::TIMES), input.word_lists(Self::ORDER));
        let (since, until) = (input.read(TICKS, Self::SINCE), input.read(TICKS, Self::UNTIL));
        let widths = input.intervals(Self::WIDTH)?;
        let precision = self.timestamp.precision();
        let ordered = |row| Ordered { times: times(row).0, rows: orders(row).0 };
        let has_range = [Self::SINCE, Self::UNTIL, Self::WIDTH].map(|parameter| input.validity(parameter));
        let has_range = |row| has_range.iter().all(|validity| is_valid(*validity, row));
        let pieces = |row: usize| -> Result<_> {
            let width = precision.length_ticks(Argument::Width, widths[row])?;
            let most = u64::try_from(width * Self::WIDTHS).unwrap_or(u64::MAX);
            Ok((width, ordered(row).pieces(since[row], until[row], most)))
        };
        let total = List::lay_out(output.lists_and_validity().0, |row| -> Result<_> {
            if !has_range(row) {
                return Ok(0);
            }
            let (width, pieces) = pieces(row)?;
            self.check(since[row], until[row], width, ordered(row))?;
            Ok(pieces.count() as u64)
        })?;
        let (lists, [places, from, to]) = output.records(total, Room::Rows)?;
        for (row, list) in lists.iter().enumerate().filter(|(_, list)| list.length > 0) {
            for (index, piece) in list.range().zip(pieces(row)?.1) {
                (places[index], from[index], to[index]) = (piece.place, piece.since, piece.until);
            }
        }
        Ok(())
    }
}

/// The starts of the buckets in `[since, until)`.
struct Range {
    timestamp: Timestamp,
}

impl Range {
    const GRID: Clocked = Clocked {
        width: Parameter { index: 0, argument: Argument::Width },
        zone: Parameter { index: 3, argument: Argument::Zone },
    };
    const SINCE: Parameter = Parameter { index: 1, argument: Argument::Since };
    const UNTIL: Parameter = Parameter { index: 2, argument: Argument::Until };

    /// The first start, how many there are, and of buckets without a clock how far each is from the next.
    fn starts(&self, buckets: &Buckets, since: i64, until: i64) -> Result<(i64, u64, Option<i64>)> {
        let precision = self.timestamp.precision();
        for (argument, tick) in [(Argument::Since, since), (Argument::Until, until)] {
            if Precision::is_infinite(tick) {
                return Err(kernel::Error::Infinite { argument, value: Civil { tick, precision } }.into());
            }
        }
        let value = Civil { tick: until, precision };
        let out_of_range = kernel::Error::WindowOutOfRange { argument: Argument::Until, value };
        match buckets {
            Buckets::Plain(grid) => {
                let (first, len) = starts_between(grid, since, until).ok_or(out_of_range)?;
                Ok((first, len, Some(grid.width() as i64)))
            }
            Buckets::Local(buckets) => {
                let (first, len) = buckets.starts_between(since, until).ok_or(out_of_range)?;
                Ok((first, len, None))
            }
        }
    }
}

impl Scalar for Range {
    /// The buckets of all rows, unless something of them is known at execution only.
    type Plan = Option<Buckets>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Buckets>> {
        Self::GRID.buckets(arguments, self.timestamp)
    }

    fn execute(
        &self,
        plan: Option<&Option<Buckets>>,
        input: &Chunk<'_>,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let buckets = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        let (since, until) = (input.read(TICKS, Self::SINCE), input.read(TICKS, Self::UNTIL));
        output.null_where_any_is(input);
        let (lists, validity) = output.lists_and_validity();
        let total = List::lay_out(lists, |row| -> Result<_> {
            Ok(if is_valid(validity, row) { self.starts(buckets, since[row], until[row])?.1 } else { 0 })
        })?;
        let (lists, starts) = output.words(total, Room::Expansion)?;
        for (row, list) in lists.iter().enumerate().filter(|(_, list)| list.length > 0) {
            let (mut start, _, width) = self.starts(buckets, since[row], until[row])?;
            for out in &mut starts[list.range()] {
                *out = start;
                start = match (width, buckets) {
                    // Modulo 2^64, which is exact up to the last one.
                    (Some(width), _) => start.wrapping_add(width),
                    (None, buckets) => buckets.bucket(start).1 as i64,
                };
            }
        }
        Ok(())
    }
}
