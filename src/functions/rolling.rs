//! `time_bucket_rolling(window_start, pane_start, pane_end, pane, kind)`: an aggregate that makes a list of windows of the
//! panes of a key, one that ends with each pane. [`kernel::Rolling`] has the arithmetic.

use super::number::{Number, unit};
use super::pane_column::{PaneColumn, structure};
use super::types::{Timestamp, Type, WINDOW_END, WINDOW_START};
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Aggregate, Chunk, Field, Fields, Groups, Parameter, Registry, Signature, States, TICKS};
use kernel::{Pane, Rolling, Timed, Value, Whole, is_valid, order};
use std::marker::PhantomData;

/// Registers an overload for each type of timestamp and kind of pane.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let rolled = Timestamp::ALL
        .into_iter()
        .try_fold(registry.aggregate(c"time_bucket_rolling"), |overloads, timestamp| {
            overloads.with(rolled::<f64>(timestamp))?.with(rolled::<Whole>(timestamp))
        })?;
    rolled.register()
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
