//! `time_bucket_rolling(window_start, pane_start, pane_end, pane, kind)`: an aggregate that makes a list of windows of the
//! panes of a key, one that ends with each pane; `time_bucket_trailing`, the scalar function that says where such a window
//! starts; `time_bucket_window_start`, `_end`, `_panes` and `_holds` say the same of the one window that ends at a time, and
//! `time_bucket_stored` refuses a pane of another width. [`kernel::Rolling`] has the arithmetic.

use super::bound::{check_bound, finite_tick};
use super::grids::{Buckets, Clocked, known_length};
use super::number::{Number, unit};
use super::overloads::{anchor_ticks, no_clock, signature};
use super::pane_column::{PaneColumn, structure};
use super::types::{Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Aggregate, Arguments, BOOLEANS, Chunk, Constant, Field, Fields, Groups, INTEGERS, Output, Parameter,
    Registry, Scalar, Signature, States, TICKS,
};
use kernel::{Civil, Edge, Grid, Interval, Pane, Precision, Rolling, Timed, Value, Whole, is_valid, order};
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
    let said = [
        (c"time_bucket_window_start", Said::Start),
        (c"time_bucket_window_end", Said::End),
        (c"time_bucket_window_panes", Said::Panes),
        (c"time_bucket_window_holds", Said::Holds),
    ];
    for (name, said) in said {
        let windows = Timestamp::ALL.into_iter().filter_map(|timestamp| {
            let ts = Type::Timestamp(timestamp);
            let (held, result): (&[_], _) = match said {
                Said::Start | Said::End => (&[], ts),
                Said::Panes => (&[], Type::Integer),
                Said::Holds => (&[ts, ts], Type::Boolean),
            };
            let first = [Type::Any, ts, ts].into_iter().chain(held.iter().copied());
            let types = first.chain([Type::Any, Type::Any, Type::Text, Type::Any]);
            Some((signature(types, result)?, WindowAt { said, timestamp }))
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

/// What is said of the window of a lookback that ends with the last pane up to a time. Which panes there are is known by their
/// width, zone and origin, or without a width by one of them.
struct WindowAt {
    said: Said,
    timestamp: Timestamp,
}

#[derive(Clone, Copy)]
enum Said {
    /// Where it starts.
    Start,
    /// Where it ends.
    End,
    /// How many panes long it is, NULL while there is none to know it by.
    Panes,
    /// Whether it holds a pane, which has to be one of those panes.
    Holds,
}

/// What is known at bind.
#[derive(Clone)]
enum Ending {
    Windows(Windows),
    /// The lookback alone.
    OfPanes(Interval, i128),
}

impl WindowAt {
    const AT: Parameter = Parameter { index: 0, argument: Argument::At };
    const PANE: [Parameter; 2] =
        [Parameter { index: 1, argument: Argument::Ts }, Parameter { index: 2, argument: Argument::Ts }];
    const HELD: [Parameter; 2] =
        [Parameter { index: 3, argument: Argument::Ts }, Parameter { index: 4, argument: Argument::Ts }];

    /// What follows the panes.
    const fn lookback(&self) -> Parameter {
        let index = if matches!(self.said, Said::Holds) { 5 } else { 3 };
        Parameter { index, argument: Argument::Lookback }
    }

    const fn grid(&self) -> Clocked {
        let width = Parameter { index: self.lookback().index + 1, argument: Argument::Width };
        Clocked { width, zone: Parameter { index: width.index + 1, argument: Argument::Zone } }
    }

    /// The windows of panes of which one is known.
    fn windows_of(&self, (value, lookback): (Interval, i128), [start, end]: [i64; 2]) -> Result<Windows> {
        let precision = self.timestamp.precision();
        let ticks = i128::from(end) - i128::from(start);
        let grid =
            Grid::new(ticks, start.into()).zip(Interval::from_nanos(ticks * precision.nanos_per_tick()));
        let Some((grid, width)) = grid else {
            return Err(not_stored("window_at", value, precision, (start, end)));
        };
        if lookback % ticks != 0 {
            let (argument, divisor) = (Argument::Lookback, Argument::Width);
            return Err(kernel::Error::NotMultiple { argument, value, divisor, unit: width }.into());
        }
        let panes = u64::try_from(lookback / ticks).unwrap_or(u64::MAX);
        Ok(Windows { buckets: Buckets::Plain(grid), width, panes, lookback })
    }

    /// Both edges of the window that ends at a tick.
    fn edges(&self, windows: &Windows, tick: i64) -> Result<[i64; 2]> {
        let precision = self.timestamp.precision();
        let finite = |edge| {
            let value = Civil { tick, precision };
            let out_of_range = kernel::Error::WindowOutOfRange { argument: Argument::At, value };
            precision.finite(edge).ok_or(out_of_range)
        };
        let end = finite(windows.buckets.bucket(tick).0)?;
        let start = match &windows.buckets {
            Buckets::Plain(_) => i128::from(end) - windows.lookback,
            Buckets::Local(buckets) => buckets.start_before(end, windows.panes),
        };
        Ok([finite(start)?, end])
    }
}

impl Scalar for WindowAt {
    type Plan = Option<Ending>;

    fn bind(&self, arguments: &Arguments<'_>) -> Result<Option<Ending>> {
        check_bound(arguments, Self::AT, self.timestamp)?;
        arguments.value(Self::AT)?.known(Argument::At)?;
        let grid = self.grid();
        if !matches!(arguments.value(grid.width)?, Constant::Null) {
            let windows = Windows::of(arguments, self.timestamp, self.lookback(), grid)?;
            return Ok(windows.map(Ending::Windows));
        }
        if !no_clock(arguments, grid.zone)? {
            let line =
                "window_at: a zone needs the width of its buckets; give width, such as INTERVAL '1 day'";
            return Err(Error::Refused { line: line.to_owned() });
        }
        let anchor = Parameter { index: grid.zone.index + 1, argument: Argument::Anchor };
        anchor_ticks(arguments, anchor, self.timestamp)?;
        let lookback = known_length(arguments, self.lookback(), self.timestamp.precision())?;
        Ok(lookback.map(|(value, ticks)| Ending::OfPanes(value, ticks)))
    }

    fn execute(&self, plan: Option<&Self::Plan>, input: &Chunk<'_>, output: &mut Output<'_>) -> Result<()> {
        let ending = plan.and_then(Option::as_ref).ok_or(Error::NotConstant)?;
        let precision = self.timestamp.precision();
        let at = |row| finite_tick(input, Self::AT, Edge::Start, self.timestamp, row);
        let is_given = |row| is_valid(input.validity(Self::AT), row);
        let pane = |parameters: [Parameter; 2], row: usize| {
            let has = parameters.iter().all(|&parameter| is_valid(input.validity(parameter), row));
            has.then(|| parameters.map(|parameter| input.read(TICKS, parameter)[row]))
        };
        let windows = |row| match ending {
            Ending::Windows(windows) => Ok(Some(windows.clone())),
            &Ending::OfPanes(value, lookback) => {
                pane(Self::PANE, row).map(|pane| self.windows_of((value, lookback), pane)).transpose()
            }
        };
        for row in 0..input.len() {
            let Some(tick) = is_given(row).then(|| at(row)).transpose()?.flatten() else {
                output.set_null(row);
                continue;
            };
            match self.said {
                Said::Holds => {
                    let mut held = true;
                    if let Some([start, end]) = pane(Self::HELD, row)
                        && let Some(windows) = windows(row)?
                    {
                        if windows.buckets.bucket(start) != (start.into(), end.into()) {
                            return Err(not_stored("window_at", windows.width, precision, (start, end)));
                        }
                        let [since, until] = self.edges(&windows, tick)?;
                        held = (since..until).contains(&start);
                    }
                    output.write(BOOLEANS).0[row] = held.into();
                }
                Said::Panes => match windows(row)? {
                    Some(windows) => output.write(INTEGERS).0[row] = windows.panes as i64,
                    None => output.set_null(row),
                },
                Said::Start | Said::End => {
                    let edges = match (windows(row)?, ending) {
                        (Some(windows), _) => self.edges(&windows, tick)?,
                        // Nothing is stored, and so nothing says where a pane ends.
                        (None, &Ending::OfPanes(_, lookback)) => {
                            let start = precision.finite(i128::from(tick) - lookback);
                            [start.unwrap_or(Precision::INFINITIES[0]), tick]
                        }
                        (None, Ending::Windows(_)) => [tick; 2],
                    };
                    output.write(TICKS).0[row] = edges[usize::from(matches!(self.said, Said::End))];
                }
            }
        }
        Ok(())
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
