//! Moments and rolling windows against exact sums of whole numbers, which share no code with them.

use crate::{Moments, Pane, Rolling, Timed, Value, Whole, order};
use proptest::prelude::*;

/// Count, sum and `n * sum of squares - square of the sum` of numbers, exactly.
fn exact(values: &[i64]) -> (i64, i128, i128) {
    let n = values.len() as i128;
    let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
    let squares: i128 = values.iter().map(|&value| i128::from(value) * i128::from(value)).sum();
    (n as i64, sum, n * squares - sum * sum)
}

fn pane<V: Value>(values: &[i64], of: impl Fn(i64) -> V) -> Pane<V> {
    let mut moments = Moments::default();
    for &value in values {
        moments.push(of(value));
    }
    moments.finish()
}

/// Whether the moments of some values are those: the mean within 1e-12, squares within 1e-9.
fn agrees<V: Value>(pane: &Pane<V>, values: &[i64], offset: f64) -> Result<(), TestCaseError> {
    let (n, sum, spread) = exact(values);
    prop_assert_eq!(pane.n, n);
    if n == 0 {
        prop_assert_eq!((pane.mean(), pane.var_samp()), (None, None));
        return Ok(());
    }
    let mean = offset + sum as f64 / n as f64;
    prop_assert!((pane.mean().unwrap() - mean).abs() <= 1e-12 * mean.abs().max(1e-9), "{pane:?} {mean}");
    let m2 = spread as f64 / n as f64;
    prop_assert!((pane.m2 - m2).abs() <= 1e-9 * m2, "{pane:?} {m2}");
    Ok(())
}

fn some_values() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![-1_000..1_000i64, Just(7), (1i64 << 40)..(1i64 << 40) + 3], 0..40)
}

/// Panes with ascending starts; gaps, and panes without values.
fn some_panes() -> impl Strategy<Value = Vec<(i64, Vec<i64>)>> {
    let pane = (1..4i64, prop::collection::vec(-50..50i64, 0..4));
    prop::collection::vec(pane, 0..60).prop_map(|panes| {
        let mut start = -40;
        panes
            .into_iter()
            .map(|(step, values)| {
                (
                    {
                        start += step;
                        start
                    },
                    values,
                )
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn values_have_their_moments(values in some_values()) {
        agrees(&pane(&values, |value| value as f64), &values, 0.0)?;
        agrees(&pane(&values, |value| Whole::new(value.into())), &values, 0.0)?;
        if let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) {
            let doubles = pane(&values, |value| value as f64);
            prop_assert_eq!((doubles.min, doubles.max), (*min as f64, *max as f64));
            let wholes = pane(&values, |value| Whole::new(value.into()));
            prop_assert_eq!((wholes.min, wholes.max), (Whole::new((*min).into()), Whole::new((*max).into())));
            prop_assert_eq!(wholes.sum.digits(), Some(exact(&values).1));
        }
    }

    #[test]
    fn distances_survive_far_from_zero(values in prop::collection::vec(0..100i64, 1..40)) {
        // Every one of these doubles is exact, and so is every number of units.
        agrees(&pane(&values, |value| (1i64 << 52) as f64 + value as f64), &values, (1i64 << 52) as f64)?;
        agrees(&pane(&values, |value| Whole::new((1i128 << 100) + i128::from(value))), &values, (1i128 << 100) as f64)?;
    }

    #[test]
    fn merging_is_aggregating_all(parts in prop::collection::vec(some_values(), 0..6)) {
        let all = parts.concat();
        let mut merged = Moments::default();
        for part in &parts {
            merged.merge(&pane(part, |value| value as f64));
        }
        agrees(&merged.finish(), &all, 0.0)?;
    }

    #[test]
    fn a_window_is_its_own_values(panes in some_panes(), lookback in 1..30i128, far in prop_oneof![Just(0.0), Just(1e18), Just(f64::INFINITY), Just(f64::NAN)]) {
        // A far value in the first pane is in some windows and in none of the others.
        let mut timed: Vec<Timed<f64>> = panes.iter().map(|(start, values)| {
            let since = start + 1 - lookback as i64;
            Timed { since, start: *start, end: start + 1, pane: pane(values, |value| value as f64) }
        }).collect();
        if let Some(Timed { pane: first, .. }) = timed.first_mut() {
            let mut moments = Moments::default();
            moments.merge(first);
            moments.merge(&{ let mut one = Moments::default(); one.push(far); one.finish() });
            *first = moments.finish();
        }
        let mut seen = 0;
        let mut outcome = Ok(());
        Rolling::default().roll(&timed, |last, count, window| {
            let inside: Vec<_> = (0..=last).filter(|&index| i128::from(panes[last].0 - panes[index].0) < lookback).collect();
            if (last, count) != (seen, inside.len()) {
                outcome = Err(TestCaseError::fail("another window"));
            }
            seen += 1;
            if !inside.contains(&0) {
                let values: Vec<_> = inside.iter().flat_map(|&index| panes[index].1.clone()).collect();
                outcome = outcome.clone().and(agrees(&window, &values, 0.0));
            }
        });
        outcome?;
        prop_assert_eq!(seen, panes.len());
    }

    #[test]
    fn order_merges_what_starts_together(panes in some_panes(), seed in any::<u64>()) {
        let mut parts: Vec<Timed<Whole>> = Vec::new();
        for (start, values) in &panes {
            for value in values {
                let pane = pane(&[*value], |value| Whole::new(value.into()));
                parts.push(Timed { since: *start, start: *start, end: start + 1, pane });
            }
        }
        let len = parts.len().max(1);
        for index in 0..parts.len() {
            parts.swap(index, (seed.rotate_left(index as u32) % len as u64) as usize);
        }
        order(&mut parts);
        let whole: Vec<_> = panes.iter().filter(|(_, values)| !values.is_empty()).collect();
        prop_assert_eq!(parts.len(), whole.len());
        for (part, (want, values)) in parts.iter().zip(whole) {
            prop_assert_eq!(part.start, *want);
            agrees(&part.pane, values, 0.0)?;
        }
    }
}

#[test]
fn a_sum_that_leaves_the_range_is_lost() {
    let mut moments = Moments::default();
    for _ in 0..3 {
        moments.push(Whole::new(Whole::LARGEST));
    }
    moments.push(Whole::new(-Whole::LARGEST));
    assert_eq!(moments.finish().sum.digits(), None);
}

#[test]
fn panes_without_values_cost_no_more_than_others() {
    // Looking for values among a million empty panes of one window anew for each would take minutes.
    let empty = |start| Timed { since: 0, start, end: start + 1, pane: Moments::default().finish() };
    let panes: Vec<Timed<f64>> = (0..1_000_000).map(empty).collect();
    let mut windows = 0;
    Rolling::default().roll(&panes, |_, _, _| windows += 1);
    assert_eq!(windows, panes.len());
}
