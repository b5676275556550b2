//! `time_bucket_rolling(window_start, pane_start, pane_end, pane, kind)`: an aggregate that makes a list of windows of the
//! panes of a key, one that ends with each pane; `time_bucket_trailing`, the scalar function that says where such a window
//! starts; and for the one window that ends at a time `time_bucket_window_start` and `time_bucket_window_end`, and
//! `time_bucket_stored`, which refuses a pane of another width. [`kernel::Rolling`] has the arithmetic.

use super::bound::{check_bound, write_finite};
use super::grids::{Buckets, Clocked, known_length};
use super::number::{Number, unit};
use super::overloads::signature;
use super::pane_column::{PaneColumn, structure};
use super::types::{Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Aggregate, Arguments, BOOLEANS, Chunk, Field, Fields, Groups, Output, Parameter, Registry, Scalar,
    Signature, States, TICKS,
};
use kernel::{Civil, Edge, Interval, Pane, Precision, Rolling, Timed, Value, Whole, is_valid, order};
use std::marker::PhantomData;

/// Registers both.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let rolled = Timestamp::ALL
        .into_iter()
        .try_fold(registry.aggregate(c"time_bucket_rolling"), |overloads, timestamp| {
            overloads.with(rolled::<f64>(timestamp))?.with(rolled::<Whole>(timestamp))
        })?;
    rolled.register()?;
    let trailing = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        let types = [Type::Any, Type::Any, ts, ts, Type::Text, Type::Any];
        Some((signature(types, ts)?, Trailing { timestamp }))
    });
    registry.scalars(c"time_bucket_trailing", trailing)?;
    for (name, edge) in [(c"time_bucket_window_start", Edge::Start), (c"time_bucket_window_end", Edge::End)] {
        let windows = Timestamp::ALL.into_iter().filter_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            let types = [Type::Any, ts, Type::Any, Type::Any, Type::Text, Type::Any];
            Some((signature(types, ts)?, WindowAt { edge, timestamp }))
        });
        registry.scalars(name, windows)?;
    }
    let stored = Timestamp::ALL.into_iter().filter_map(|timestamp| {
        let ts = Type::Timestamp(timestamp);
        let types = [Type::Text, Type::Any, ts, ts, Type::Text, Type::Any];
        Some((signature(types, Type::Boolean)?, Stored { timestamp }))
    });
    registry.scalars(c"time_bucket_stored", stored)
}

/// Windows of panes, as they are known at bind.
#[derive(Clone)]
struct Windows {
    buckets: Buckets,
    /// A pane's.
    width: Interval,
    /// Panes in a window.
    panes: u64,
    lookback: i128,
}

impl Windows {
    /// `None` while something of them is unknown.
    #[inline(never)]
    fn of(
        arguments: &Arguments<'_>,
        timestamp: Timestamp,
        lookback: Parameter,
        grid: Clocked,
    ) -> Result<Option<Self>> {
        let precision = timestamp.precision();
        let length = |parameter| known_length(arguments, parameter, precision);
        let lengths = length(lookback)?.zip(length(grid.width)?);
        if let Some(((value, back), (unit, each))) = lengths
            && back % each != 0
        {
            let (argument, divisor) = (lookback.argument, grid.width.argument);
            return Err(kernel::Error::NotMultiple { argument, value, divisor, unit }.into());
        }
        let buckets = grid.buckets(arguments, timestamp)?;
        Ok(lengths.zip(buckets).map(|(((_, lookback), (width, each)), buckets)| Self {
            buckets,
            width,
            panes: u64::try_from(lookback / each).unwrap_or(u64::MAX),
            lookback,
        }))
    }
}

/// What is said of a pane that is no bucket.
#[cold]
#[inline(never)]
fn not_stored(macro_name: &str, width: Interval, precision: Precision, (start, end): (i64, i64)) -> Error {
    let [start, end] = [start, end].map(|tick| Civil { tick, precision });
    let line = format!(
        "{macro_name}: the stored pane from {start} to {end} is not of width {width}; give width, zone and origin as the store has them"
    );
    Error::Refused { line }
}

/// Where the window starts that ends with a pane and is so many panes long; a pane that is no bucket is refused.
struct Trailing {
    timestamp: Timestamp,
}

impl Trailing {
    const LOOKBACK: Parameter = Parameter { index: 0, argument: Argument::Lookback };
    const GRID: Clocked = Clocked {
        width: Parameter { index: 1, argument: Argument::Width },
        zone: Parameter { index: 4, argument: Argument::Zone },
    };
    const START: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const END: Parameter = Parameter { index: 3, argument: Argument::Ts };
}

impl Scalar for Trailing {
    type Plan = Option<Windows>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Windows>> {
        Windows::of(arguments, self.timestamp, Self::LOOKBACK, Self::GRID)
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let windows = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        let precision = self.timestamp.precision();
        let (starts, ends) = (input.read(TICKS, Self::START), input.read(TICKS, Self::END));
        output.null_where_any_is(input);
        let (out, validity) = output.write(TICKS);
        for (row, out) in out.iter_mut().enumerate().filter(|(row, _)| is_valid(validity, *row)) {
            let (start, end) = (starts[row], ends[row]);
            let (is_whole, first) = match &windows.buckets {
                // Wherever the grid lies, since the window is so long in any case.
                Buckets::Plain(grid) => {
                    (i128::from(end) - i128::from(start) == grid.width(), i128::from(end) - windows.lookback)
                }
                Buckets::Local(buckets) => {
                    let is_whole = buckets.bucket(start) == (start.into(), end.into());
                    (is_whole, buckets.start_before(start, windows.panes - 1))
                }
            };
            if !is_whole {
                return Err(not_stored("rolling_panes", windows.width, precision, (start, end)));
            }
            let value = Civil { tick: end, precision };
            *out = precision
                .finite(first)
                .ok_or(kernel::Error::WindowOutOfRange { argument: Argument::Ts, value })?;
        }
        Ok(())
    }
}

/// An edge of the window that is so many panes long and ends at a time, or where the pane starts that holds it.
struct WindowAt {
    edge: Edge,
    timestamp: Timestamp,
}

impl WindowAt {
    const AT: Parameter = Parameter { index: 0, argument: Argument::At };
    const LOOKBACK: Parameter = Parameter { index: 2, argument: Argument::Lookback };
    const GRID: Clocked = Clocked {
        width: Parameter { index: 3, argument: Argument::Width },
        zone: Parameter { index: 4, argument: Argument::Zone },
    };
}

impl Scalar for WindowAt {
    type Plan = Option<Windows>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Windows>> {
        check_bound(arguments, Self::AT, self.timestamp)?;
        arguments.value(Self::AT)?.known(Argument::At)?;
        Windows::of(arguments, self.timestamp, Self::LOOKBACK, Self::GRID)
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let windows = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        let precision = self.timestamp.precision();
        write_finite(input, output, Self::AT, Edge::Start, self.timestamp, &|tick| {
            let end = windows.buckets.bucket(tick).0;
            let edge = match (self.edge, &windows.buckets) {
                (Edge::End, _) => Some(end),
                (Edge::Start, Buckets::Plain(_)) => Some(end - windows.lookback),
                (Edge::Start, Buckets::Local(buckets)) => {
                    precision.finite(end).map(|end| buckets.start_before(end, windows.panes))
                }
            };
            let value = Civil { tick, precision };
            Ok(edge
                .and_then(|edge| precision.finite(edge))
                .ok_or(kernel::Error::WindowOutOfRange { argument: Argument::At, value })?)
        })
    }
}

/// Whether panes are of the width and on the grid that a macro was given: true, or a refusal in the macro's name.
struct Stored {
    timestamp: Timestamp,
}

impl Stored {
    const MACRO: Parameter = Parameter { index: 0, argument: Argument::Message };
    const START: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const END: Parameter = Parameter { index: 3, argument: Argument::Ts };
    const GRID: Clocked = Clocked {
        width: Parameter { index: 1, argument: Argument::Width },
        zone: Parameter { index: 4, argument: Argument::Zone },
    };
}

impl Scalar for Stored {
    type Plan = Option<(Buckets, Interval)>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Self::Plan> {
        let width = arguments.known_interval(Self::GRID.width)?;
        Ok(Self::GRID.buckets(arguments, self.timestamp)?.zip(width))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let (buckets, width) = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        let (starts, ends) = (input.read(TICKS, Self::START), input.read(TICKS, Self::END));
        let validity = [Self::START, Self::END].map(|bound| input.validity(bound));
        let macro_name = input.texts(Self::MACRO);
        for row in (0..input.len()).filter(|&row| validity.iter().all(|mask| is_valid(*mask, row))) {
            let (start, end) = (starts[row], ends[row]);
            if buckets.bucket(start) != (start.into(), end.into()) {
                let precision = self.timestamp.precision();
                return Err(not_stored(macro_name(row), *width, precision, (start, end)));
            }
        }
        output.write(BOOLEANS).0.fill(1);
        Ok(())
    }
}

/// `time_bucket_rolling` for one type of timestamp.
struct Rolled<V>(PhantomData<fn() -> V>);

/// The panes of a key, and the digits after the point.
struct Key<V: Value> {
    panes: Vec<Timed<V>>,
    scale: u8,
}

impl<V: Value> Default for Key<V> {
    fn default() -> Self {
        Self { panes: Vec::new(), scale: 0 }
    }
}

impl<V> Rolled<V> {
    const WINDOW_START: Parameter = Parameter { index: 0, argument: Argument::Since };
    const START: Parameter = Parameter { index: 1, argument: Argument::Ts };
    const END: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const PANE: Parameter = Parameter { index: 3, argument: Argument::Pane };
}

fn rolled<V: Number>(timestamp: Timestamp) -> Option<(Signature, Rolled<V>)> {
    let ts = Type::Timestamp(timestamp);
    let parameters =
        [ts, ts, ts, Type::Any, V::PARAMETER].into_iter().map(Type::logical).collect::<Option<_>>()?;
    let result = structure([
        (WINDOW_START, ts),
        (WINDOW_END, ts),
        (c"panes", Type::Integer),
        (c"n", Type::Integer),
        (c"sum", V::TYPE),
        (c"min", V::TYPE),
        (c"max", V::TYPE),
        (c"avg", Type::Double),
        (c"var_samp", Type::Double),
    ])?;
    Some((Signature { parameters, rest: None, result: result.list() }, Rolled(PhantomData)))
}

impl<V: Number> Aggregate for Rolled<V> {
    type State = Key<V>;

    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Key<V>>) -> Result<()> {
        let panes = PaneColumn::<V>::of(input.column(Self::PANE))?;
        let times = [Self::WINDOW_START, Self::START, Self::END];
        let (validity, [since, start, end]) =
            (times.map(|time| input.validity(time)), times.map(|time| input.read(TICKS, time)));
        for row in 0..input.len() {
            if validity.iter().all(|&validity| is_valid(validity, row)) {
                let key = states.next(row);
                let (since, start, end) = (since[row], start[row], end[row]);
                key.panes.push(Timed { since, start, end, pane: panes.at(row) });
                key.scale = panes.scale;
            }
        }
        Ok(())
    }

    fn combine(&self, from: &Key<V>, into: &mut Key<V>) -> Result<()> {
        if !from.panes.is_empty() {
            into.panes.extend_from_slice(&from.panes);
            into.scale = from.scale;
        }
        Ok(())
    }

    fn finalize(&self, states: &mut States<'_, Key<V>>, output: Groups<'_>) -> Result<()> {
        for index in 0..states.len() {
            order(&mut states.at(index).panes);
        }
        let lens: Vec<_> = (0..states.len()).map(|index| states.at(index).panes.len()).collect();
        let mut fields = WindowFields::<V>::of(&mut output.lists(lens.into_iter())?);
        let mut rolling = Rolling::default();
        for index in 0..states.len() {
            let Key { panes, scale } = states.at(index);
            fields.roll(&mut rolling, panes, unit(*scale))?;
        }
        Ok(())
    }
}

/// Where windows are written.
struct WindowFields<'a, V> {
    start: Field<'a, i64>,
    end: Field<'a, i64>,
    panes: Field<'a, i64>,
    n: Field<'a, i64>,
    sum: Field<'a, V>,
    min: Field<'a, V>,
    max: Field<'a, V>,
    avg: Field<'a, f64>,
    var_samp: Field<'a, f64>,
    /// The next one to write.
    next: usize,
}

impl<'a, V: Number> WindowFields<'a, V> {
    fn of(fields: &mut Fields<'a>) -> Self {
        Self {
            start: fields.take(0),
            end: fields.take(1),
            panes: fields.take(2),
            n: fields.take(3),
            sum: fields.take(4),
            min: fields.take(5),
            max: fields.take(6),
            avg: fields.take(7),
            var_samp: fields.take(8),
            next: 0,
        }
    }

    /// Writes the windows of a key, one for each of its panes.
    fn roll(&mut self, rolling: &mut Rolling<V>, panes: &[Timed<V>], unit: f64) -> Result<()> {
        let mut outcome = Ok(());
        rolling.roll(panes, |last, count, pane| {
            if let Err(error) = self.write(self.next + last, &panes[last], count, &pane, unit) {
                outcome = Err(error);
            }
        });
        self.next += panes.len();
        outcome
    }

    #[inline]
    fn write(&mut self, row: usize, last: &Timed<V>, count: usize, pane: &Pane<V>, unit: f64) -> Result<()> {
        let is_some = pane.n > 0;
        self.start.set(row, Some(last.since));
        self.end.set(row, Some(last.end));
        self.panes.set(row, Some(count as i64));
        self.n.set(row, Some(pane.n));
        self.sum.set(row, is_some.then(|| V::split(pane.sum).map(|(sum, _)| sum)).transpose()?);
        self.min.set(row, is_some.then(|| pane.min.checked()).transpose()?);
        self.max.set(row, is_some.then(|| pane.max.checked()).transpose()?);
        self.avg.set(row, pane.mean().map(|mean| mean * unit));
        self.var_samp.set(row, pane.var_samp().map(|variance| variance * unit * unit));
        Ok(())
    }
}
