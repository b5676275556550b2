//! Inputs that libFuzzer can reach every path with: few bytes choose a shape, the rest are values near its edges.
#![allow(dead_code, reason = "each target uses some of this")]

use arbitrary::{Arbitrary, Result, Unstructured};
use time_bucket::kernel::{Edge, Interval, Precision};

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Unit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl Unit {
    pub fn precision(self) -> Precision {
        match self {
            Self::Second => Precision::Second,
            Self::Millisecond => Precision::Millisecond,
            Self::Microsecond => Precision::Microsecond,
            Self::Nanosecond => Precision::Nanosecond,
        }
    }
}

pub fn edge(end: bool) -> Edge {
    if end { Edge::End } else { Edge::Start }
}

/// The bucket's edge in plain arithmetic; `None` when it is no finite timestamp.
pub fn oracle(precision: Precision, width: i128, anchor: i128, end: bool, ts: i64) -> Option<i64> {
    if ts == i64::MAX || ts == -i64::MAX {
        return Some(ts);
    }
    // The anchor may lie anywhere in i128, so it is reduced before it is subtracted.
    let start = i128::from(ts) - (i128::from(ts) - anchor.rem_euclid(width)).rem_euclid(width);
    let edge = if end { start.checked_add(width)? } else { start };
    let (low, high) = match precision {
        Precision::Second => (-9_223_372_022_400, 9_223_372_036_854),
        Precision::Millisecond => (-9_223_372_022_400_000, 9_223_372_036_854_775),
        Precision::Microsecond => (-9_223_372_022_400_000_000, i128::from(i64::MAX) - 1),
        Precision::Nanosecond => (i128::from(i64::MIN), i128::from(i64::MAX) - 1),
    };
    (low <= edge && edge <= high && edge != i128::from(-i64::MAX)).then_some(edge as i64)
}

/// Timestamps: around a base with steps of some size, or anywhere, a few infinities and range ends among them.
#[derive(Debug)]
pub struct Column {
    pub ts: Vec<i64>,
    pub validity: Option<Vec<u64>>,
}

impl<'a> Arbitrary<'a> for Column {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let base = i64::arbitrary(u)?;
        let step = 1_i64 << u.int_in_range(0..=62)?;
        // Blocks are 2,048 rows, words 64, short runs 16: a few rows are repeated until such borders are crossed.
        let len = match u.int_in_range(0..=5)? {
            0 => u.int_in_range(0..=20)?,
            1 => u.int_in_range(60..=70)?,
            2 => u.int_in_range(2_040..=2_060)?,
            3 => u.int_in_range(4_090..=4_100)?,
            _ => u.int_in_range(0..=300)?,
        };
        let mut seeds = Vec::new();
        for _ in 0..u.int_in_range(1..=24)? {
            seeds.push(match u.int_in_range(0..=9)? {
                0 => i64::arbitrary(u)?,
                1 => i64::MAX,
                2 => -i64::MAX,
                3 => i64::MAX - i64::from(u8::arbitrary(u)?),
                4 => i64::MIN + i64::from(u8::arbitrary(u)?),
                5 => i64::from(i8::arbitrary(u)?),
                _ => base.wrapping_add(i64::from(i16::arbitrary(u)?).wrapping_mul(step)),
            });
        }
        let drift = if bool::arbitrary(u)? { i64::from(i8::arbitrary(u)?) } else { 0 };
        let ts = (0..len).map(|row| {
            let seed = seeds[row % seeds.len()];
            if seed == i64::MAX || seed == -i64::MAX {
                seed
            } else {
                seed.wrapping_add(drift.wrapping_mul(row as i64))
            }
        });
        let ts: Vec<i64> = ts.collect();
        let words = ts.len().div_ceil(64);
        let validity = match u.int_in_range(0..=3)? {
            0 => None,
            1 => Some(vec![u64::MAX; words]),
            2 => Some(vec![u64::arbitrary(u)?; words]),
            _ => {
                let some: [u64; 3] = Arbitrary::arbitrary(u)?;
                Some((0..words).map(|word| some[word % 3]).collect())
            }
        };
        Ok(Self { ts, validity })
    }
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct AnyInterval {
    months: i8,
    days: i32,
    micros: i64,
    shape: u8,
}

impl AnyInterval {
    /// Mostly a width that is legal, of every magnitude.
    pub fn interval(self) -> Interval {
        let Self { months, days, micros, shape } = self;
        match shape % 8 {
            0 => Interval { months: i32::from(months), days, micros },
            1 => Interval { months: 0, days, micros },
            2 => Interval { months: 0, days: days.saturating_abs(), micros: 0 },
            3 => Interval { months: 0, days: 0, micros: micros % 1_000 * 1_000_000 },
            4 => Interval { months: 0, days: 0, micros: micros % 100_000 * 1_000 },
            5 => Interval { months: 0, days: 0, micros: micros % 10_000_000_000 },
            6 => Interval { months: 0, days: 1, micros: -(micros % 86_400) * 1_000_000 },
            _ => Interval { months: 0, days: 0, micros: 1 << (micros & 62) },
        }
    }
}
