//! Inputs that libFuzzer can reach every path with: few bytes choose a shape, the rest are values near its edges. And
//! what arguments should come to, in plain `i128` arithmetic.
#![allow(dead_code, reason = "each target uses some of this")]

use arbitrary::{Arbitrary, Unstructured};
use kernel::{Anchors, Civil, Edge, Interval, Precision};
use kernel::{Argument, Error};

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

/// The smallest and the largest finite timestamp, typed in anew.
pub fn range(precision: Precision) -> (i64, i64) {
    match precision {
        Precision::Second => (-9_223_372_022_400, 9_223_372_036_854),
        Precision::Millisecond => (-9_223_372_022_400_000, 9_223_372_036_854_775),
        Precision::Microsecond => (-9_223_372_022_400_000_000, i64::MAX - 1),
        Precision::Nanosecond => (i64::MIN, i64::MAX - 1),
    }
}

pub fn is_infinite(ts: i64) -> bool {
    ts == i64::MAX || ts == -i64::MAX
}

/// `tick` as a finite timestamp.
pub fn finite(precision: Precision, tick: i128) -> Option<i64> {
    let (lowest, highest) = range(precision);
    i64::try_from(tick).ok().filter(|tick| (lowest..=highest).contains(tick) && !is_infinite(*tick))
}

/// The bucket's edge in plain arithmetic; `None` when it is no finite timestamp.
pub fn oracle(precision: Precision, width: i128, anchor: i128, end: bool, ts: i64) -> Option<i64> {
    if is_infinite(ts) {
        return Some(ts);
    }
    // The anchor may lie anywhere in i128, so it is reduced before it is subtracted.
    let start = i128::from(ts) - (i128::from(ts) - anchor.rem_euclid(width)).rem_euclid(width);
    finite(precision, if end { start.checked_add(width)? } else { start })
}

/// The nanoseconds of a tick.
pub fn tick_nanos(precision: Precision) -> i128 {
    match precision {
        Precision::Second => 1_000_000_000,
        Precision::Millisecond => 1_000_000,
        Precision::Microsecond => 1_000,
        Precision::Nanosecond => 1,
    }
}

fn whole(precision: Precision, nanos: i128) -> Option<i128> {
    let tick = tick_nanos(precision);
    (nanos % tick == 0).then_some(nanos / tick)
}

/// The length of an interval; `None` when it has months.
pub fn nanos(interval: Interval) -> Option<i128> {
    let micros = i128::from(interval.days) * 86_400_000_000 + i128::from(interval.micros);
    (interval.months == 0).then_some(micros * 1_000)
}

fn ticks(argument: Argument, value: Interval, precision: Precision) -> Result<i128, Error> {
    let nanos = nanos(value).ok_or(Error::Calendar { argument, value })?;
    whole(precision, nanos).ok_or(Error::IntervalNotWhole { argument, value, precision })
}

/// The ticks of a length, or what it is refused for.
pub fn length(argument: Argument, value: Interval, precision: Precision) -> Result<i128, Error> {
    if nanos(value).is_some_and(|nanos| nanos <= 0) {
        return Err(Error::NotPositive { argument, value });
    }
    ticks(argument, value, precision)
}

/// The ticks of a row's anchor, or what it is refused for.
pub fn anchor_ticks(anchors: Anchors<'_>, row: usize, precision: Precision) -> Result<i128, Error> {
    let infinite =
        |tick, precision| Error::Infinite { argument: Argument::Origin, value: Civil { tick, precision } };
    match anchors {
        Anchors::Epoch => Ok(0),
        Anchors::Offset(offsets) => ticks(Argument::Offset, offsets[row], precision),
        Anchors::Origin(origins, of) if is_infinite(origins[row]) => Err(infinite(origins[row], of)),
        Anchors::Origin(origins, of) => {
            let value = Civil { tick: origins[row], precision: of };
            whole(precision, i128::from(origins[row]) * tick_nanos(of))
                .ok_or(Error::OriginNotWhole { value, precision })
        }
        Anchors::Date(dates) => match dates[row] {
            i32::MAX => Err(infinite(i64::MAX, precision)),
            day if day == -i32::MAX => Err(infinite(-i64::MAX, precision)),
            day => Ok(i128::from(day) * 86_400_000_000_000 / tick_nanos(precision)),
        },
    }
}

/// Few anchors, of which each row of a column has one.
#[derive(Debug, Arbitrary)]
pub enum Anchor {
    Epoch,
    Offset([AnyInterval; 3]),
    Origin([i64; 3], Unit, i8),
    Date([i32; 3]),
}

/// An anchor a row.
pub enum AnchorColumn {
    Epoch,
    Offset(Vec<Interval>),
    Origin(Vec<i64>, Precision),
    Date(Vec<i32>),
}

impl Anchor {
    /// The anchors of rows that have picked these, modulo three.
    pub fn column(&self, picks: impl Iterator<Item = usize>) -> AnchorColumn {
        match self {
            Self::Epoch => AnchorColumn::Epoch,
            Self::Offset(some) => AnchorColumn::Offset(picks.map(|pick| some[pick % 3].interval()).collect()),
            Self::Origin(some, of, digits) => {
                // Rounded so that most are whole in a coarser type too.
                let round = 10_i64.pow(u32::from(digits.unsigned_abs() % 10));
                let scale = if *digits < 0 { round } else { 1 };
                let origins = picks.map(|pick| some[pick % 3] / round * scale);
                AnchorColumn::Origin(origins.collect(), of.precision())
            }
            Self::Date(some) => AnchorColumn::Date(picks.map(|pick| some[pick % 3]).collect()),
        }
    }
}

impl AnchorColumn {
    pub fn anchors(&self) -> Anchors<'_> {
        match self {
            Self::Epoch => Anchors::Epoch,
            Self::Offset(offsets) => Anchors::Offset(offsets),
            Self::Origin(origins, of) => Anchors::Origin(origins, *of),
            Self::Date(dates) => Anchors::Date(dates),
        }
    }
}

/// Width and anchor of a grid in ticks, of every magnitude.
#[derive(Debug, Arbitrary)]
pub struct AnyGrid {
    width: Width,
    anchor: i64,
    anchor_shift: u8,
}

impl AnyGrid {
    pub fn width(&self) -> i128 {
        self.width.0
    }

    pub fn anchor(&self) -> i128 {
        i128::from(self.anchor) << (self.anchor_shift % 32)
    }
}

#[derive(Debug)]
struct Width(i128);

impl<'a> Arbitrary<'a> for Width {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let bits = u.int_in_range(0..=100)?;
        let (mantissa, delta) = (u16::arbitrary(u)?, i8::arbitrary(u)?);
        Ok(Self(match u.int_in_range(0..=3)? {
            0 => i128::from(u64::arbitrary(u)?),
            1 => (1_i128 << bits) + i128::from(delta),
            2 => i128::from(mantissa) << bits.min(60),
            _ => i128::from(mantissa),
        }))
    }
}

/// Timestamps: around a base with steps of some size, or anywhere, a few infinities and range ends among them.
#[derive(Debug)]
pub struct Column {
    pub ts: Vec<i64>,
    pub validity: Option<Vec<u64>>,
}

impl<'a> Arbitrary<'a> for Column {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
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
            if is_infinite(seed) { seed } else { seed.wrapping_add(drift.wrapping_mul(row as i64)) }
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
