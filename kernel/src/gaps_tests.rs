//! Gaps, neighbours and lines, against rules that share no code with them.

use crate::{
    Fraction, Grid, Ordered, Precision, next_known, order_rows, previous_known, sessions, starts_between,
};
use proptest::prelude::*;

/// `numerator / denominator` rounded to the nearest whole number, halves away from zero.
fn rounded(numerator: i128, denominator: i128) -> i128 {
    let away = |value: i128| (2 * value + denominator) / (2 * denominator);
    if numerator < 0 { -away(-numerator) } else { away(numerator) }
}

proptest! {
    #[test]
    fn a_range_falls_into_pieces_that_follow_the_rows(
        mut times in prop::collection::btree_set(-50..50_i64, 0..12).prop_map(Vec::from_iter).prop_shuffle(),
        since in -60..60_i64,
        len in 0..80_i64,
        most in 1..30_u64,
        unknown in any::<u16>(),
    ) {
        times.push(0); // never known: the order leaves it out
        let last = times.len() - 1;
        let is_known = |index: usize| index != last && unknown >> index & 1 == 0;
        let mut rows = vec![0; times.len()];
        let known = order_rows(&times, is_known, &mut rows);
        let rows = &rows[..known];
        let ordered = Ordered { times: &times, rows };
        let until = since + len;
        let pieces: Vec<_> = ordered.pieces(since, until, most).collect();
        // They cover the range once, each is no longer than `most`, and its row is the last one up to its start.
        prop_assert_eq!(pieces.first().map_or(until, |piece| piece.since), since.min(until));
        prop_assert_eq!(pieces.last().map_or(since, |piece| piece.until), until);
        prop_assert!(pieces.windows(2).all(|pair| pair[0].until == pair[1].since));
        for piece in pieces {
            prop_assert!(piece.since < piece.until && (piece.until - piece.since) as u64 <= most);
            let before = (0..times.len()).filter(|&index| is_known(index) && times[index] <= piece.since);
            let row = before.max_by_key(|&index| times[index]).map_or(0, |index| index as i64 + 1);
            prop_assert_eq!(if piece.place == 0 { 0 } else { rows[piece.place as usize - 1] }, row);
            let inside = |index: usize| piece.since < times[index] && times[index] < piece.until;
            let has_row = (0..times.len()).any(|index| is_known(index) && inside(index));
            prop_assert!(!has_row);
        }
    }

    #[test]
    fn neighbours_are_the_nearest_rows_with_a_value(values in prop::collection::vec(any::<bool>(), 0..40)) {
        let rows: Vec<_> = (1..=values.len() as i64).rev().collect();
        let (mut previous, mut next) = (vec![0; rows.len()], vec![0; rows.len()]);
        previous_known(&rows, |index| values[index], &mut previous);
        next_known(&rows, |index| values[index], &mut next);
        for (place, (previous, next)) in previous.into_iter().zip(next).enumerate() {
            let known = |row: &&i64| values[**row as usize - 1];
            prop_assert_eq!(previous, rows[..=place].iter().rev().find(known).copied().unwrap_or(0));
            prop_assert_eq!(next, rows[place + 1..].iter().find(known).copied().unwrap_or(0));
        }
    }

    #[test]
    fn sessions_end_where_no_row_follows_within_the_gap(
        times in prop::collection::vec(prop_oneof![20 => -300..300_i64, 1 => Just(i64::MAX), 1 => Just(-i64::MAX)], 1..40),
        gap in 1..40_i128,
    ) {
        let mut rows = vec![0; times.len()];
        order_rows(&times, |_| true, &mut rows);
        let mut next = 0;
        sessions(Ordered { times: &times, rows: &rows }, gap, |places, first, last| {
            assert_eq!(places.start, next);
            next = places.end;
            let of_session: Vec<_> = rows[places].iter().map(|&row| i128::from(times[row as usize - 1])).collect();
            assert_eq!((of_session[0], of_session[of_session.len() - 1]), (first.into(), last.into()));
            assert!(of_session.windows(2).all(|pair| pair[1] - pair[0] < gap));
            assert!(rows.get(next).is_none_or(|&row| i128::from(times[row as usize - 1]) - i128::from(last) >= gap));
            Ok(())
        }).unwrap();
        prop_assert_eq!(next, times.len());
    }

    #[test]
    fn starts_are_the_grid_points_of_the_range(
        width in 1..50_i128, anchor in -99..99_i128, since in -500..500_i64, len in -5..200_i64,
    ) {
        let grid = Grid::new(width, anchor).unwrap();
        let points: Vec<_> =
            (since..since + len).filter(|&ts| (i128::from(ts) - anchor).rem_euclid(width) == 0).collect();
        let (first, count) = starts_between(&grid, since, since + len).unwrap();
        prop_assert_eq!(count, points.len() as u64);
        prop_assert!(points.is_empty() || points[0] == first);
    }

    #[test]
    fn a_line_is_exact(
        from in any::<i64>(), to in any::<i64>(), start in any::<i64>(), whole in 1..u64::MAX, part in any::<u64>(),
    ) {
        let whole = whole.min(i64::MAX.abs_diff(start)).max(1);
        let (start, part) = (start.min(i64::MAX - 1), part % (whole + 1));
        let end = start.wrapping_add(whole as i64);
        prop_assume!(end > start);
        let fraction = Fraction::new(start, end, start.wrapping_add(part as i64)).unwrap();
        // With numbers of 31 bits the product fits an `i128` with the denominator.
        let (from, to) = (i128::from(from >> 33), i128::from(to >> 33));
        let (whole, part) = (i128::from(whole), i128::from(part));
        prop_assert_eq!(fraction.between(from, to), rounded(from * whole + (to - from) * part, whole));
    }
}

#[test]
fn a_line_spans_the_widest_numbers() {
    let half = Fraction::new(i64::MIN, i64::MAX - 1, -1).unwrap();
    assert_eq!(half.between(i128::MIN, i128::MAX), -1); // -0.5, away from zero
    assert_eq!(half.between(i128::MAX, i128::MIN), -1);
    assert_eq!(half.between(0, i128::MAX), i128::MAX / 2 + 1);
    assert_eq!(half.between_f64(-1e308, 1.5e308), 2.5e307);
    assert_eq!(half.between_f64(0.1, 0.1), 0.1);
    assert!(Fraction::new(0, 10, 11).is_none() && Fraction::new(5, 5, 5).is_none());
}

#[test]
fn bounds_go_to_the_side_that_keeps_them_exact() {
    let [second, nanosecond] = [Precision::Second, Precision::Nanosecond];
    assert_eq!(second.floor_of(-1, nanosecond), -1);
    assert_eq!(second.ceil_of(-1, nanosecond), 0);
    assert_eq!(second.floor_of(1_999_999_999, nanosecond), 1);
    assert_eq!(second.ceil_of(1_000_000_001, nanosecond), 2);
    assert_eq!(nanosecond.ceil_of(-3, second), -3_000_000_000);
    assert_eq!(second.ceil_of(i64::MAX, nanosecond), i128::from(i64::MAX));
}
