//! Where windows of panes lie. `time_bucket_trailing` says where the window starts that ends with a pane;
//! `time_bucket_window_start`, `_end`, `_panes` and `_holds` say the same and more of the one that ends at a time; and
//! `time_bucket_stored` refuses a pane of another width.

use super::bound::{check_bound, finite_tick};
use super::grids::{Buckets, Clocked, known_length};
use super::overloads::{anchor_ticks, no_clock, signature};
use super::types::{Timestamp, Type};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Arguments, BOOLEANS, Chunk, Constant, INTEGERS, Output, Parameter, Registry, Scalar, TICKS,
};
use kernel::{Civil, Edge, Grid, Interval, Precision, is_valid};
use std::borrow::Cow;

/// Registers them all.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
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

/// Refuses a pane that is no bucket.
fn require_stored(
    macro_name: &str,
    buckets: &Buckets,
    width: Interval,
    precision: Precision,
    (start, end): (i64, i64),
) -> Result<()> {
    match buckets.bucket(start) == (start.into(), end.into()) {
        true => Ok(()),
        false => Err(not_stored(macro_name, width, precision, (start, end))),
    }
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
            let [start, end] = [start, end].map(|tick| Civil { tick, precision });
            let line = format!(
                "window_at: the stored pane from {start} to {end} has no length; make the store with pane_rows"
            );
            return Err(Error::Refused { line });
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
        anchor_ticks(arguments, grid.anchor(), self.timestamp)?;
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
            Ending::Windows(windows) => Ok(Some(Cow::Borrowed(windows))),
            &Ending::OfPanes(value, lookback) => {
                let of_pane = |pane| self.windows_of((value, lookback), pane).map(Cow::Owned);
                pane(Self::PANE, row).map(of_pane).transpose()
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
                        require_stored(
                            "window_at",
                            &windows.buckets,
                            windows.width,
                            precision,
                            (start, end),
                        )?;
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
            let (pane, precision) = ((starts[row], ends[row]), self.timestamp.precision());
            require_stored(macro_name(row), buckets, *width, precision, pane)?;
        }
        output.write(BOOLEANS).0.fill(1);
        Ok(())
    }
}
