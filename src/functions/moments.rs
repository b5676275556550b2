//! Aggregate functions over moments, and the windows that roll over them; [`kernel::Moments`] has the arithmetic.
//!
//! | function | of | gives |
//! |---|---|---|
//! | `time_bucket_moments(x)` | the values of a pane | a pane |
//! | `time_bucket_merge(pane, kind)` | panes | the pane of them all, with `avg` and `var_samp` |
//! | `time_bucket_rolling(lookback, width, pane_start, pane, kind)` | the panes of a key | a list of windows |
//!
//! A pane is `STRUCT(n, sum, residue, min, max, m2)`, and `kind` is its sum, by whose type the form is chosen: each
//! function has a form for FLOAT and DOUBLE, whose sums are doubles with a residue, and one for all other numbers, whose
//! sums are exact. An aggregate function of the C API has one result type whatever the scale of a DECIMAL, so that the
//! latter gives units: `1.25` of a `DECIMAL(9, 2)` as `125`. The macros multiply by the unit.

use super::types::{Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, Error, LoadError, Result};
use crate::ffi::{
    Aggregate, AggregateOverloads, Chunk, Column, Doubles, Field, Fields, Groups, LogicalType, Numbers,
    Parameter, Registry, Signature, States, TICKS, Wholes,
};
use kernel::{
    Civil, Interval, Moments, Pane, Precision, Rolling, Timed, Twofold, Value, Whole, is_valid, order,
};
use std::ffi::CStr;
use std::marker::PhantomData;

/// Registers the functions.
pub(super) fn register(registry: &Registry) -> std::result::Result<(), LoadError> {
    let doubles = [Type::Double, Type::Single].map(of_values::<f64>);
    let moments = doubles.into_iter().try_fold(registry.aggregate(MOMENTS), AggregateOverloads::with)?;
    moments.with(of_values::<Whole>(Type::Any))?.register()?;
    registry.aggregate(MERGE).with(of_panes::<f64>())?.with(of_panes::<Whole>())?.register()?;
    let rolled =
        Timestamp::ALL.into_iter().try_fold(registry.aggregate(ROLLING), |overloads, timestamp| {
            overloads.with(rolling::<f64>(timestamp))?.with(rolling::<Whole>(timestamp))
        })?;
    rolled.register()
}

/// The two kinds of numbers, as columns.
trait Number: Value {
    /// The type of a column of sums, minima and maxima in results.
    const TYPE: Type;
    /// The type of a sum in parameters, which tells the overloads apart.
    const PARAMETER: Type;
    /// A column of them.
    type Column<'a>: Copy;

    fn column<'a>(numbers: Numbers<'a>) -> Option<(Self::Column<'a>, u8)>;
    fn at(column: Self::Column<'_>, row: usize) -> Self;
    /// A sum as it is stored: the number and the residue.
    fn split(sum: Self::Sum) -> Result<(Self, f64)>;
    fn sum(number: Self, residue: f64) -> Self::Sum;
    /// The number, if a column holds it.
    fn checked(self) -> Result<Self>;
    /// Where to write them.
    fn take<'a>(fields: &mut Fields<'a>, index: usize) -> Field<'a, Self>;
}

impl Number for f64 {
    const TYPE: Type = Type::Double;
    const PARAMETER: Type = Type::Double;
    type Column<'a> = Doubles<'a>;

    fn column<'a>(numbers: Numbers<'a>) -> Option<(Doubles<'a>, u8)> {
        match numbers {
            Numbers::Doubles(column) => Some((column, 0)),
            Numbers::Wholes(..) => None,
        }
    }

    fn at(column: Doubles<'_>, row: usize) -> Self {
        column.at(row)
    }

    fn split(sum: Twofold) -> Result<(Self, f64)> {
        Ok(sum.split())
    }

    fn sum(number: Self, residue: f64) -> Twofold {
        Twofold { high: number, low: residue }
    }

    fn checked(self) -> Result<Self> {
        Ok(self)
    }

    fn take<'a>(fields: &mut Fields<'a>, index: usize) -> Field<'a, Self> {
        fields.take(index)
    }
}

impl Number for Whole {
    const TYPE: Type = Type::Decimal;
    const PARAMETER: Type = Type::Any;
    type Column<'a> = Wholes<'a>;

    fn column<'a>(numbers: Numbers<'a>) -> Option<(Wholes<'a>, u8)> {
        match numbers {
            Numbers::Wholes(column, scale) => Some((column, scale)),
            Numbers::Doubles(_) => None,
        }
    }

    fn at(column: Wholes<'_>, row: usize) -> Self {
        column.at(row)
    }

    fn split(sum: Self) -> Result<(Self, f64)> {
        Ok((sum.checked()?, 0.0))
    }

    fn sum(number: Self, _: f64) -> Self {
        number
    }

    fn checked(self) -> Result<Self> {
        self.digits().map(Self::new).ok_or(Error::Digits)
    }

    fn take<'a>(fields: &mut Fields<'a>, index: usize) -> Field<'a, Self> {
        fields.take(index)
    }
}

/// The numbers of an argument, and the digits after the point.
fn numbers<'a, V: Number>(input: &Chunk<'a>, parameter: Parameter) -> Result<(V::Column<'a>, u8)> {
    input.column(parameter).numbers().and_then(V::column).ok_or(Error::NotNumber)
}

/// What a unit with this many digits after the point is worth.
fn unit(scale: u8) -> f64 {
    10f64.powi(-i32::from(scale))
}

/// The name and type of each field of a pane.
fn pane_fields<V: Number>() -> [(&'static CStr, Type); 6] {
    [
        (c"n", Type::Integer),
        (c"sum", V::TYPE),
        (c"residue", Type::Double),
        (c"min", V::TYPE),
        (c"max", V::TYPE),
        (c"m2", Type::Double),
    ]
}

/// A struct, or `None` where the running engine lacks a type.
fn structure<const N: usize>(fields: [(&CStr, Type); N]) -> Option<LogicalType> {
    let types: Vec<_> = fields.iter().map(|(_, field)| field.logical()).collect::<Option<_>>()?;
    let mut types = types.iter();
    Some(LogicalType::structure(fields.map(|(name, _)| (name, types.next().expect("a type for each")))))
}

/// Where the panes of a key or group are written.
struct PaneFields<'a, V> {
    n: Field<'a, i64>,
    sum: Field<'a, V>,
    residue: Field<'a, f64>,
    min: Field<'a, V>,
    max: Field<'a, V>,
    m2: Field<'a, f64>,
}

impl<'a, V: Number> PaneFields<'a, V> {
    fn of(fields: &mut Fields<'a>) -> Self {
        Self {
            n: fields.take(0),
            sum: V::take(fields, 1),
            residue: fields.take(2),
            min: V::take(fields, 3),
            max: V::take(fields, 4),
            m2: fields.take(5),
        }
    }

    fn write(&mut self, row: usize, pane: &Pane<V>, unit: f64) -> Result<()> {
        let (sum, residue) = V::split(pane.sum)?;
        let of_values = |value: V| (pane.n > 0).then(|| value.checked()).transpose();
        self.n.set(row, Some(pane.n));
        self.sum.set(row, (pane.n > 0).then_some(sum));
        self.residue.set(row, (pane.n > 0).then_some(residue));
        self.min.set(row, of_values(pane.min)?);
        self.max.set(row, of_values(pane.max)?);
        self.m2.set(row, (pane.n > 0).then_some(pane.m2 * unit * unit));
        Ok(())
    }
}

/// Moments, and the digits after the point.
struct Scaled<V: Value> {
    moments: Moments<V>,
    scale: u8,
}

impl<V: Value> Default for Scaled<V> {
    fn default() -> Self {
        Self { moments: Moments::default(), scale: 0 }
    }
}

impl<V: Value> Scaled<V> {
    fn join(&mut self, other: &Self) {
        let pane = other.moments.finish();
        if pane.n > 0 {
            self.moments.merge(&pane);
            self.scale = other.scale;
        }
    }
}

/// The only argument, or the first one.
const VALUE: Parameter = Parameter { index: 0, argument: Argument::Value };

const MOMENTS: &CStr = c"time_bucket_moments";

/// `time_bucket_moments`.
struct OfValues<V>(PhantomData<fn() -> V>);

fn of_values<V: Number>(parameter: Type) -> Option<(Signature, OfValues<V>)> {
    let parameters = vec![parameter.logical()?];
    Some((
        Signature { parameters, rest: None, result: structure(pane_fields::<V>())? },
        OfValues(PhantomData),
    ))
}

impl<V: Number> Aggregate for OfValues<V> {
    type State = Scaled<V>;

    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Scaled<V>>) -> Result<()> {
        let (column, scale) = numbers::<V>(input, VALUE)?;
        let validity = input.validity(VALUE);
        for row in 0..input.len() {
            if is_valid(validity, row) {
                let state = states.at(row);
                state.moments.push(V::at(column, row));
                state.scale = scale;
            }
        }
        Ok(())
    }

    fn combine(&self, from: &Scaled<V>, into: &mut Scaled<V>) -> Result<()> {
        into.join(from);
        Ok(())
    }

    fn finalize(&self, states: &mut States<'_, Scaled<V>>, output: Groups<'_>) -> Result<()> {
        let mut fields = PaneFields::of(&mut output.structs());
        for row in 0..states.len() {
            let state = states.at(row);
            fields.write(row, &state.moments.finish(), unit(state.scale))?;
        }
        Ok(())
    }
}

/// A column of panes.
struct PaneColumn<'a, V: Number> {
    n: &'a [i64],
    sum: V::Column<'a>,
    residue: &'a [f64],
    min: V::Column<'a>,
    max: V::Column<'a>,
    m2: &'a [f64],
    /// Of the fields, and of the panes themselves.
    validity: ([Option<&'a [u64]>; 6], Option<&'a [u64]>),
    all_valid: bool,
    /// Digits after the point.
    scale: u8,
    /// How many units make one.
    units: f64,
}

impl<'a, V: Number> PaneColumn<'a, V> {
    fn of(column: Column<'a>) -> Result<Self> {
        let columns = column.fields().ok_or(Error::NotPane)?;
        let [n, sum, residue, min, max, m2] = columns;
        let numbers = |column: Column<'a>| column.numbers().and_then(V::column).ok_or(Error::NotPane);
        let (sum, scale) = numbers(sum)?;
        let validity = (columns.map(Column::validity), column.validity());
        Ok(Self {
            n: n.integers().ok_or(Error::NotPane)?,
            sum,
            residue: residue.doubles().ok_or(Error::NotPane)?,
            min: numbers(min)?.0,
            max: numbers(max)?.0,
            m2: m2.doubles().ok_or(Error::NotPane)?,
            validity,
            all_valid: validity.1.is_none() && validity.0.iter().all(Option::is_none),
            scale,
            units: 10f64.powi(scale.into()),
        })
    }

    /// The pane of a row, in units; one without values where something of it is NULL.
    #[inline]
    fn at(&self, row: usize) -> Pane<V> {
        let is_whole = self.all_valid || {
            let (fields, own) = self.validity;
            is_valid(own, row) && fields.iter().all(|&field| is_valid(field, row))
        };
        if !is_whole || self.n[row] <= 0 {
            return Moments::default().finish();
        }
        Pane {
            n: self.n[row],
            sum: V::sum(V::at(self.sum, row), self.residue[row]),
            min: V::at(self.min, row),
            max: V::at(self.max, row),
            m2: self.m2[row] * self.units * self.units,
        }
    }
}

const MERGE: &CStr = c"time_bucket_merge";

/// `time_bucket_merge`.
struct OfPanes<V>(PhantomData<fn() -> V>);

fn of_panes<V: Number>() -> Option<(Signature, OfPanes<V>)> {
    let parameters = [Type::Any, V::PARAMETER].map(Type::logical).into_iter().collect::<Option<_>>()?;
    let [n, sum, residue, min, max, m2] = pane_fields::<V>();
    let result =
        structure([n, sum, residue, min, max, m2, (c"avg", Type::Double), (c"var_samp", Type::Double)])?;
    Some((Signature { parameters, rest: None, result }, OfPanes(PhantomData)))
}

impl<V: Number> Aggregate for OfPanes<V> {
    type State = Scaled<V>;

    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Scaled<V>>) -> Result<()> {
        let panes = PaneColumn::<V>::of(input.column(VALUE))?;
        for row in 0..input.len() {
            let state = states.at(row);
            state.moments.merge(&panes.at(row));
            state.scale = panes.scale;
        }
        Ok(())
    }

    fn combine(&self, from: &Scaled<V>, into: &mut Scaled<V>) -> Result<()> {
        into.join(from);
        Ok(())
    }

    fn finalize(&self, states: &mut States<'_, Scaled<V>>, output: Groups<'_>) -> Result<()> {
        let mut fields = output.structs();
        let mut panes = PaneFields::of(&mut fields);
        let (mut avg, mut var_samp) = (fields.take::<f64>(6), fields.take::<f64>(7));
        for row in 0..states.len() {
            let state = states.at(row);
            let (pane, unit) = (state.moments.finish(), unit(state.scale));
            panes.write(row, &pane, unit)?;
            avg.set(row, pane.mean().map(|mean| mean * unit));
            var_samp.set(row, pane.var_samp().map(|variance| variance * unit * unit));
        }
        Ok(())
    }
}

const ROLLING: &CStr = c"time_bucket_rolling";

/// `time_bucket_rolling` for one type of timestamp.
struct Rolled<V> {
    timestamp: Timestamp,
    kind: PhantomData<fn() -> V>,
}

/// The panes of a key.
struct Key<V: Value> {
    lookback: Interval,
    width: Interval,
    scale: u8,
    panes: Vec<Timed<V>>,
}

impl<V: Value> Default for Key<V> {
    fn default() -> Self {
        Self { lookback: Interval::default(), width: Interval::default(), scale: 0, panes: Vec::new() }
    }
}

impl<V: Number> Rolled<V> {
    const LOOKBACK: Parameter = Parameter { index: 0, argument: Argument::Lookback };
    const WIDTH: Parameter = Parameter { index: 1, argument: Argument::Width };
    const PANE_START: Parameter = Parameter { index: 2, argument: Argument::Ts };
    const PANE: Parameter = Parameter { index: 3, argument: Argument::Pane };
}

fn rolling<V: Number>(timestamp: Timestamp) -> Option<(Signature, Rolled<V>)> {
    let ts = Type::Timestamp(timestamp);
    let parameters = [Type::Interval, Type::Interval, ts, Type::Any, V::PARAMETER].into_iter();
    let parameters = parameters.map(Type::logical).collect::<Option<_>>()?;
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
    Some((
        Signature { parameters, rest: None, result: result.list() },
        Rolled { timestamp, kind: PhantomData },
    ))
}

impl<V: Number> Aggregate for Rolled<V> {
    type State = Key<V>;

    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Key<V>>) -> Result<()> {
        let panes = PaneColumn::<V>::of(input.column(Self::PANE))?;
        let (lookbacks, widths) = (input.intervals(Self::LOOKBACK)?, input.intervals(Self::WIDTH)?);
        let starts = input.read(TICKS, Self::PANE_START);
        let validity = [Self::LOOKBACK, Self::WIDTH, Self::PANE_START].map(|index| input.validity(index));
        for row in 0..input.len() {
            if validity.iter().all(|&validity| is_valid(validity, row)) {
                let key = states.at(row);
                (key.lookback, key.width, key.scale) = (lookbacks[row], widths[row], panes.scale);
                key.panes.push((starts[row], panes.at(row)));
            }
        }
        Ok(())
    }

    fn combine(&self, from: &Key<V>, into: &mut Key<V>) -> Result<()> {
        if !from.panes.is_empty() {
            (into.lookback, into.width, into.scale) = (from.lookback, from.width, from.scale);
            into.panes.extend_from_slice(&from.panes);
        }
        Ok(())
    }

    fn finalize(&self, states: &mut States<'_, Key<V>>, output: Groups<'_>) -> Result<()> {
        let precision = self.timestamp.precision();
        for index in 0..states.len() {
            order(&mut states.at(index).panes);
        }
        let lens: Vec<_> = (0..states.len()).map(|index| states.at(index).panes.len()).collect();
        let mut windows = Windows::<V>::of(&mut output.lists(lens.into_iter())?);
        let mut rolling = Rolling::default();
        for index in 0..states.len() {
            windows.roll(&mut rolling, states.at(index), precision)?;
        }
        Ok(())
    }
}

/// Where windows are written.
struct Windows<'a, V> {
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

impl<'a, V: Number> Windows<'a, V> {
    fn of(fields: &mut Fields<'a>) -> Self {
        Self {
            start: fields.take(0),
            end: fields.take(1),
            panes: fields.take(2),
            n: fields.take(3),
            sum: V::take(fields, 4),
            min: V::take(fields, 5),
            max: V::take(fields, 6),
            avg: fields.take(7),
            var_samp: fields.take(8),
            next: 0,
        }
    }

    /// Writes the windows of a key, one for each of its panes.
    fn roll(&mut self, rolling: &mut Rolling<V>, key: &Key<V>, precision: Precision) -> Result<()> {
        if key.panes.is_empty() {
            return Ok(());
        }
        let lookback = precision.length_ticks(Argument::Lookback, key.lookback)?;
        let width = precision.length_ticks(Argument::Width, key.width)?;
        let unit = unit(key.scale);
        let mut outcome = Ok(());
        rolling.roll(&key.panes, lookback, |last, count, pane| {
            let row = self.next + last;
            let start = key.panes[last].0;
            if let Err(error) = self.write(row, (start, lookback, width), count, &pane, unit, precision) {
                outcome = Err(error);
            }
        });
        self.next += key.panes.len();
        outcome
    }

    #[inline]
    fn write(
        &mut self,
        row: usize,
        (tick, lookback, width): (i64, i128, i128),
        count: usize,
        pane: &Pane<V>,
        unit: f64,
        precision: Precision,
    ) -> Result<()> {
        let out_of_range = || {
            let value = Civil { tick, precision };
            Error::from(kernel::Error::WindowOutOfRange { argument: Argument::Ts, value })
        };
        let end = i128::from(tick) + width;
        let is_some = pane.n > 0;
        self.start.set(row, Some(precision.finite(end - lookback).ok_or_else(out_of_range)?));
        self.end.set(row, Some(precision.finite(end).ok_or_else(out_of_range)?));
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
