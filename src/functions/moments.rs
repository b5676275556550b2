//! Aggregate functions of moments: `time_bucket_moments(x)`, the pane of some values; `time_bucket_merge(pane, kind)`, the pane
//! of some panes; and `time_bucket_window(pane, kind)`, what is said of a window of them. [`kernel::Moments`] has the arithmetic.
//!
//! `kind` is a pane's sum: its type chooses the form, that for doubles or that for all other numbers, which counts in units.

use super::number::{Number, numbers, unit};
use super::pane_column::{PaneColumn, PaneFields, pane_fields, structure};
use super::types::Type;
use crate::error::{Argument, LoadError, Result};
use crate::ffi::{Aggregate, AggregateOverloads, Chunk, Groups, Parameter, Registry, Signature, States};
use kernel::{Moments, Value, Whole, is_valid};
use std::marker::PhantomData;

/// Registers them.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    let doubles = [Type::Double, Type::Float].map(of_values::<f64>);
    let moments = registry.aggregate(c"time_bucket_moments");
    let moments = doubles.into_iter().try_fold(moments, AggregateOverloads::with)?;
    moments.with(of_values::<Whole>(Type::Any))?.register()?;
    let merged = registry.aggregate(c"time_bucket_merge");
    merged.with(of_panes::<f64>(false))?.with(of_panes::<Whole>(false))?.register()?;
    let windows = registry.aggregate(c"time_bucket_window");
    windows.with(of_panes::<f64>(true))?.with(of_panes::<Whole>(true))?.register()
}

/// The only argument, or the first one.
const VALUE: Parameter = Parameter { index: 0, argument: Argument::Value };

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
                let state = states.next(row);
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

/// `time_bucket_merge` and `time_bucket_window`.
struct OfPanes<V> {
    /// Whether the result is what is said of a window.
    is_window: bool,
    values: PhantomData<fn() -> V>,
}

fn of_panes<V: Number>(is_window: bool) -> Option<(Signature, OfPanes<V>)> {
    let parameters = [Type::Any, V::PARAMETER].map(Type::logical).into_iter().collect::<Option<_>>()?;
    let result = match is_window {
        false => structure(pane_fields::<V>())?,
        true => structure([
            (c"n", Type::Integer),
            (c"sum", V::SHOWN),
            (c"min", V::SHOWN),
            (c"max", V::SHOWN),
            (c"avg", Type::Double),
            (c"var_samp", Type::Double),
        ])?,
    };
    Some((Signature { parameters, rest: None, result }, OfPanes { is_window, values: PhantomData }))
}

impl<V: Number> Aggregate for OfPanes<V> {
    type State = Scaled<V>;

    fn update(&self, input: &Chunk<'_>, states: &mut States<'_, Scaled<V>>) -> Result<()> {
        let panes = PaneColumn::<V>::of(input.column(VALUE))?;
        for row in 0..input.len() {
            let state = states.next(row);
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
        if !self.is_window {
            let mut panes = PaneFields::of(&mut fields);
            return (0..states.len()).try_for_each(|row| {
                let state = states.at(row);
                panes.write(row, &state.moments.finish(), unit(state.scale))
            });
        }
        let mut n = fields.take::<i64>(0);
        let mut numbers = [1, 2, 3].map(|index| V::take_shown(&mut fields, index));
        let (mut avg, mut var_samp) = (fields.take::<f64>(4), fields.take::<f64>(5));
        for row in 0..states.len() {
            let &mut Scaled { ref moments, scale } = states.at(row);
            let (pane, unit) = (moments.finish(), unit(scale));
            n.set(row, Some(pane.n));
            if pane.n > 0 {
                let found = [V::split(pane.sum)?.0, pane.min.checked()?, pane.max.checked()?];
                found.into_iter().zip(&mut numbers).for_each(|(found, shown)| found.show(shown, row, scale));
            } else {
                numbers.iter_mut().for_each(|shown| V::show_none(shown, row));
            }
            avg.set(row, pane.mean().map(|mean| mean * unit));
            var_samp.set(row, pane.var_samp().map(|variance| variance * unit * unit));
        }
        Ok(())
    }
}
