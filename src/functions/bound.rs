//! `time_bucket_since`, `time_bucket_until`, `time_bucket_floor`, `time_bucket_ceil` and `time_bucket_within`: bounds as the
//! macros compare them, never rounded to the other side.
//!
//! The first two are ends of a range that has to be finite. The next two are compared with timestamps, so that a bound beyond
//! what their type holds is before or after all of them.

use super::grids::{Buckets, Clocked};
use super::overloads::signature;
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, BOOLEANS, Chunk, Constant, DAYS, INTEGERS, Output, Parameter, Registry, Scalar, TICKS, TypeId,
};
use kernel::{Civil, Edge, Interval, Precision, is_valid};
use libduckdb_sys as sys;

/// Registers all of them.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    for (name, edge) in [(c"time_bucket_since", Edge::Start), (c"time_bucket_until", Edge::End)] {
        let bounds = Timestamp::ALL.into_iter().filter_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            Some((signature([Type::Any, ts], ts)?, Bound { edge, timestamp }))
        });
        registry.scalars(name, bounds)?;
    }
    for (name, edge) in [(c"time_bucket_floor", Edge::Start), (c"time_bucket_ceil", Edge::End)] {
        let compared = Timestamp::ALL.into_iter().flat_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            let forms: [&[Type]; 3] = [&[], &[Type::Any], &[Type::Any, Type::Text, Type::Any]];
            forms.into_iter().filter_map(move |more| {
                let types = [Type::Any, ts].into_iter().chain(more.iter().copied());
                Some((signature(types, ts)?, Compared { edge, timestamp }))
            })
        });
        registry.scalars(name, compared)?;
        let others = [2, 3, 5].map(|count| signature(std::iter::repeat_n(Type::Any, count), Type::Boolean));
        registry.scalars(name, others.into_iter().flatten().map(|types| (types, NoTimestamps(TS))))?;
    }
    let lengths = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        let types = signature([Type::Any, ts, ts], Type::Boolean)?;
        Some((types, Within { timestamp }))
    });
    registry.scalars(c"time_bucket_within", lengths)?;
    let micros = signature([Type::Text, Type::Text, Type::Any], Type::Integer);
    registry.scalars(c"time_bucket_length", micros.map(|types| (types, Length)))
}

/// A bound of any precision as a tick of the type of the second argument, which is not read: the last that is not later, or the
/// first that is not earlier.
struct Bound {
    edge: Edge,
    timestamp: Timestamp,
}

impl Bound {
    const fn bound(&self) -> Parameter {
        let argument = match self.edge {
            Edge::Start => Argument::Since,
            Edge::End => Argument::Until,
        };
        Parameter { index: 0, argument }
    }
}

impl Scalar for Bound {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        check_bound(arguments, self.bound(), self.timestamp)
    }

    fn execute(&self, _: Option<&()>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.null_where(input, self.bound());
        let (out, validity) = output.write(TICKS);
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            // The bare word NULL is no bound.
            *out = finite_tick(input, self.bound(), self.edge, self.timestamp, row)?.unwrap_or_default();
        }
        Ok(())
    }
}

/// A row's bound, which is no NULL, as a tick of its own precision; `None` for what is no bound.
fn own_tick(input: &Chunk<'_>, bound: Parameter, row: usize) -> Result<Option<Civil>> {
    let id = input.type_id(bound);
    if let Some(of) = Timestamp::of_id(id) {
        return Ok(Some(Civil { tick: input.read(TICKS, bound)[row], precision: of.precision() }));
    }
    if !is_date(id) {
        return Ok(None);
    }
    // In seconds, which hold every DATE.
    let precision = Precision::Second;
    let tick = precision.date_ticks(input.read(DAYS, bound)[row])? as i64;
    Ok(Some(Civil { tick, precision }))
}

const fn is_date(id: TypeId) -> bool {
    id == sys::DUCKDB_TYPE_DUCKDB_TYPE_DATE
}

/// A row's bound, which is no NULL and of any precision, as the last tick of the timestamps that is not later, or the first that
/// is not earlier; `None` for what is no bound. One that is infinite or out of their range is refused.
#[inline(never)]
pub(super) fn finite_tick(
    input: &Chunk<'_>,
    bound: Parameter,
    edge: Edge,
    timestamp: Timestamp,
    row: usize,
) -> Result<Option<i64>> {
    let Some(value) = own_tick(input, bound, row)? else { return Ok(None) };
    let Civil { tick, precision: of } = value;
    let (argument, precision) = (bound.argument, timestamp.precision());
    if Precision::is_infinite(tick) {
        return Err(kernel::Error::Infinite { argument, value }.into());
    }
    let exact = match edge {
        Edge::Start => precision.floor_of(tick, of),
        Edge::End => precision.ceil_of(tick, of),
    };
    let tick = precision.finite(exact).ok_or(kernel::Error::WindowOutOfRange { argument, value })?;
    Ok(Some(tick))
}

/// The argument whose type the others go by.
const TS: Parameter = Parameter { index: 1, argument: Argument::Ts };

/// An overload that takes what are no timestamps there, in order to refuse it in words.
pub(super) struct NoTimestamps(pub(super) Parameter);

impl Scalar for NoTimestamps {
    type Plan = ();

    fn bind(&self, arguments: &Arguments<'_>) -> Result<()> {
        if is_date(arguments.own_type_id(self.0)?) {
            return Err(Error::Date);
        }
        let value = "a value of another type".to_owned();
        Err(Error::NotTimestamp { argument: self.0.argument, value })
    }

    fn execute(&self, _: Option<&()>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.all_null();
        Ok(())
    }
}

/// Whether a bound can be compared with timestamps of this type. NULL can.
pub(super) fn check_bound(
    arguments: &Arguments<'_>,
    parameter: Parameter,
    timestamp: Timestamp,
) -> Result<()> {
    let argument = parameter.argument;
    let (id, value) = (arguments.type_id(parameter)?, arguments.value(parameter)?);
    if matches!(value, Constant::Null) {
        return Ok(());
    }
    let shown = || match &value {
        Constant::Value(given) => given.text(),
        _ => "a column".to_owned(),
    };
    match Timestamp::of_id(id) {
        Some(bound) if bound.is_instant() == timestamp.is_instant() => Ok(()),
        None if is_date(id) && !timestamp.is_instant() => Ok(()),
        None if !is_date(id) => Err(Error::NotTimestamp { argument, value: shown() }),
        _ => Err(Error::OtherType { argument, value: shown(), other: Argument::Ts }),
    }
}

/// A bound of any precision in the type of the second argument, which is not read: a tick, or with width, zone and origin the
/// edge of a bucket, not later than it (floor) or not earlier (ceil). A lookback alone asks for a tick that is at least twice as
/// far off, which is before the windows of any clock. It is infinite where the type does not reach.
struct Compared {
    edge: Edge,
    timestamp: Timestamp,
}

/// What is known at bind.
#[derive(Clone)]
enum Points {
    Ticks { margin: i128 },
    Buckets(Buckets),
}

impl Compared {
    const BOUND: Parameter = Parameter { index: 0, argument: Argument::Bound };
    const MARGIN: Parameter = Parameter { index: 2, argument: Argument::Lookback };
    const GRID: Clocked = Clocked {
        width: Parameter { index: 2, argument: Argument::Width },
        zone: Parameter { index: 3, argument: Argument::Zone },
    };

    fn point(&self, points: &Points, tick: i64, of: Precision) -> i64 {
        let precision = self.timestamp.precision();
        let exact = match self.edge {
            Edge::Start => precision.floor_of(tick, of),
            Edge::End => precision.ceil_of(tick, of),
        };
        let point = match (points, precision.finite(exact), self.edge) {
            (_, None, _) => exact,
            (Points::Ticks { margin }, _, Edge::Start) => exact - margin,
            (Points::Ticks { margin }, _, Edge::End) => exact + margin,
            (Points::Buckets(buckets), Some(tick), Edge::Start) => buckets.bucket(tick).0,
            (Points::Buckets(buckets), Some(tick), Edge::End) => match buckets.bucket(tick) {
                (start, _) if start == exact => start,
                (_, end) => end,
            },
        };
        precision.finite(point).unwrap_or(Precision::INFINITIES[usize::from(point > 0)])
    }
}

impl Scalar for Compared {
    type Plan = Option<Points>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Points>> {
        check_bound(arguments, Self::BOUND, self.timestamp)?;
        match arguments.len() {
            2 => Ok(Some(Points::Ticks { margin: 0 })),
            3 => {
                let margin = arguments.known_interval(Self::MARGIN)?;
                let ticks = |margin| self.timestamp.precision().floor_length(Self::MARGIN.argument, margin);
                Ok(margin.map(ticks).transpose()?.map(|ticks| Points::Ticks { margin: 2 * ticks + 1 }))
            }
            _ => Ok(Self::GRID.buckets(arguments, self.timestamp)?.map(Points::Buckets)),
        }
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        output.null_where(input, Self::BOUND);
        let (out, validity) = output.write(TICKS);
        let mut rows = out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)).peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let points = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        for (row, out) in rows {
            // The bare word NULL is no bound.
            if let Some(Civil { tick, precision }) = own_tick(input, Self::BOUND, row)? {
                *out = self.point(points, tick, precision);
            }
        }
        Ok(())
    }
}

/// Whether one time is later than another by no more than a length.
struct Within {
    timestamp: Timestamp,
}

impl Within {
    const LENGTH: Parameter = Parameter { index: 0, argument: Argument::MaxGap };
    const FROM: Parameter = Parameter { index: 1, argument: Argument::From };
    const TO: Parameter = Parameter { index: 2, argument: Argument::Until };

    fn ticks(&self, length: Interval) -> Result<i128> {
        Ok(self.timestamp.precision().floor_length(Argument::MaxGap, length)?)
    }
}

impl Scalar for Within {
    type Plan = Option<i128>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<i128>> {
        match arguments.interval(Self::LENGTH)? {
            Constant::Value(length) => self.ticks(length).map(Some),
            Constant::Null | Constant::Unknown => Ok(None),
        }
    }

    fn execute(&self, plan: Option<&Option<i128>>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (lengths, from, to) =
            (input.intervals(Self::LENGTH)?, input.read(TICKS, Self::FROM), input.read(TICKS, Self::TO));
        output.null_where_any_is(input);
        let (out, validity) = output.write(BOOLEANS);
        if let Some(&most) = plan.and_then(Option::as_ref) {
            for (out, (&from, &to)) in out.iter_mut().zip(from.iter().zip(to)) {
                *out = u8::from(i128::from(to) - i128::from(from) <= most);
            }
            return Ok(());
        }
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            *out = u8::from(i128::from(to[row]) - i128::from(from[row]) <= self.ticks(lengths[row])?);
        }
        Ok(())
    }
}

/// The microseconds of a length that a macro was given, NULL for none; a refusal in the macro's name of anything else.
struct Length;

impl Scalar for Length {
    /// `None` while it is unknown.
    type Plan = Option<Option<i64>>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        let parameter = |index| Parameter { index, argument: Argument::Message };
        let given = match arguments.value(parameter(2))? {
            Constant::Value(given) => given,
            Constant::Null => return Ok(Some(None)),
            Constant::Unknown => return Ok(None),
        };
        if let Some(Some(nanos @ 0..)) = given.interval(Argument::Message).ok().map(Interval::fixed_nanos) {
            return Ok(Some(i64::try_from(nanos / 1000).ok()));
        }
        let [of, argument] = [0, 1].map(|index| arguments.value(parameter(index)));
        let (Constant::Value(of), Constant::Value(argument)) = (of?, argument?) else {
            return Err(Error::NotConstant);
        };
        let (of, argument, given) = (of.text(), argument.text(), given.text());
        let line =
            format!("{of}: {argument} must be a fixed length such as INTERVAL '15 minutes', not '{given}'");
        Err(Error::Refused { line })
    }

    fn execute(&self, plan: Option<&Self::Plan>, _: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        match plan.and_then(Option::as_ref).ok_or(Error::NotConstant)? {
            Some(micros) => output.write(INTEGERS).0.fill(*micros),
            None => output.all_null(),
        }
        Ok(())
    }
}
