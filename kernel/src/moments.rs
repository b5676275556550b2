//! Moments: count, sum, extremes and the sum of squares about the mean, which merge.
//!
//! Squares are taken about a centre that is one of the values (or near the mean of some of them), never about zero,
//! and moved to the mean at the end: Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for
//! Computing Sample Variances" (1979). Sums have twice the precision of a double, or are exact integers, so that means
//! that lie close together keep their distance. Nothing but the values added has any influence.
//!
//! [`Value`] is what the two kinds of numbers differ in: doubles, and integers (or decimals by their units).

use crate::twofold::Twofold;

/// A number that moments are taken of.
pub trait Value: Copy + std::fmt::Debug + Send + 'static {
    /// Where sums of it are kept.
    type Sum: Copy + Default + std::fmt::Debug + Send;

    /// The value of nothing at all.
    const NONE: Self;

    /// Adds a value to a sum.
    fn add(sum: &mut Self::Sum, value: Self);
    /// Adds a sum to a sum.
    fn join(sum: &mut Self::Sum, other: Self::Sum);
    /// How far it lies beyond a centre, rounded.
    fn beyond(self, centre: Self) -> f64;
    /// The sum of the distances of `n` values from a centre.
    fn distances(sum: Self::Sum, n: i64, centre: Self) -> Twofold;
    /// A value near the mean of `n > 0` values.
    fn centre(sum: Self::Sum, n: i64) -> Self;
    /// The mean of `n > 0` values.
    fn mean(sum: Self::Sum, n: i64) -> f64;
    /// Whether it comes before another one; NaN comes last.
    fn is_before(self, other: Self) -> bool;
}

impl Value for f64 {
    type Sum = Twofold;

    const NONE: Self = 0.0;

    #[inline]
    fn add(sum: &mut Twofold, value: Self) {
        sum.add(value);
    }

    #[inline]
    fn join(sum: &mut Twofold, other: Twofold) {
        sum.join(other);
    }

    #[inline]
    fn beyond(self, centre: Self) -> f64 {
        self - centre
    }

    #[inline]
    fn distances(sum: Twofold, n: i64, centre: Self) -> Twofold {
        let mut distances = sum;
        distances.join(-Twofold::product(n as f64, centre));
        distances.settled()
    }

    #[inline]
    fn centre(sum: Twofold, n: i64) -> Self {
        let mean = Self::mean(sum, n);
        // Nothing is near a mean that is not finite, and no variance is left to be computed.
        if mean.is_finite() { mean } else { 0.0 }
    }

    #[inline]
    fn mean(sum: Twofold, n: i64) -> f64 {
        let n = n as f64;
        let rounded = sum.round();
        if rounded.is_finite() { sum.over(n).round() } else { rounded / n }
    }

    #[inline]
    fn is_before(self, other: Self) -> bool {
        self < other || (other.is_nan() && !self.is_nan())
    }
}

/// A whole number of some unit. It is aligned to 8 bytes, so that a vector of 128-bit integers can be read as a slice of
/// these wherever an engine keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, packed(8))]
pub struct Whole(i128);

impl Whole {
    /// What stands for a sum that left the range. No value is as large.
    const LOST: i128 = i128::MAX;
    /// The largest number of 38 digits.
    pub const LARGEST: i128 = 10i128.pow(38) - 1;

    /// The number.
    #[must_use]
    #[inline]
    pub const fn new(value: i128) -> Self {
        Self(value)
    }

    /// What `new` was given.
    #[must_use]
    #[inline]
    pub const fn get(self) -> i128 {
        self.0
    }

    /// The number, if it has no more than 38 digits.
    #[must_use]
    #[inline]
    pub fn digits(self) -> Option<i128> {
        let value = self.0;
        (-Self::LARGEST..=Self::LARGEST).contains(&value).then_some(value)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let is_lost = a == Self::LOST || b == Self::LOST;
        Self(if is_lost { Self::LOST } else { a.checked_add(b).unwrap_or(Self::LOST) })
    }
}

/// `value` as a number of twice the precision; `as` alone is slow for numbers that rarely need it.
#[inline]
fn twofold(value: i128) -> Twofold {
    let high = i64::try_from(value).map_or_else(|_| value as f64, |value| value as f64);
    let missing = value.saturating_sub(high as i128);
    Twofold { high, low: i64::try_from(missing).map_or_else(|_| missing as f64, |missing| missing as f64) }
}

impl Value for Whole {
    type Sum = Self;

    const NONE: Self = Self(0);

    #[inline]
    fn add(sum: &mut Self, value: Self) {
        *sum = sum.plus(value);
    }

    #[inline]
    fn join(sum: &mut Self, other: Self) {
        *sum = sum.plus(other);
    }

    #[inline]
    fn beyond(self, centre: Self) -> f64 {
        let (value, centre) = (self.0, centre.0);
        value.checked_sub(centre).map_or(value as f64 - centre as f64, |distance| twofold(distance).high)
    }

    #[inline]
    fn distances(sum: Self, n: i64, centre: Self) -> Twofold {
        let (sum, centre) = (sum.0, centre.0);
        let exact = i128::from(n).checked_mul(centre).and_then(|shift| sum.checked_sub(shift));
        exact.map_or_else(|| Twofold { high: sum as f64 - n as f64 * centre as f64, low: 0.0 }, twofold)
    }

    #[inline]
    fn centre(sum: Self, n: i64) -> Self {
        let sum = sum.0;
        Self(i64::try_from(sum).map_or_else(|_| sum / i128::from(n), |sum| (sum / n).into()))
    }

    #[inline]
    fn mean(sum: Self, n: i64) -> f64 {
        twofold(sum.0).over(n as f64).round()
    }

    #[inline]
    fn is_before(self, other: Self) -> bool {
        let (a, b) = (self.0, other.0);
        a < b
    }
}

/// The moments of some values.
#[derive(Debug, Clone, Copy)]
pub struct Pane<V: Value> {
    /// How many values.
    pub n: i64,
    /// Their sum.
    pub sum: V::Sum,
    /// The least of them; NaN counts as the greatest.
    pub min: V,
    /// The greatest of them.
    pub max: V,
    /// The sum of their squared distances from their mean; NaN when one of them is not finite.
    pub m2: f64,
}

impl<V: Value> Pane<V> {
    /// The mean, if there are values.
    #[must_use]
    #[inline]
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| V::mean(self.sum, self.n))
    }

    /// The sample variance, if there are two values.
    #[must_use]
    #[inline]
    pub fn var_samp(&self) -> Option<f64> {
        (self.n > 1).then(|| self.m2 / (self.n - 1) as f64)
    }
}

/// Moments in the making.
#[derive(Debug, Clone, Copy)]
pub struct Moments<V: Value> {
    n: i64,
    sum: V::Sum,
    min: V,
    max: V,
    centre: V,
    /// Of distances from the centre.
    squares: Twofold,
}

impl<V: Value> Default for Moments<V> {
    fn default() -> Self {
        Self::about(V::NONE)
    }
}

impl<V: Value> Moments<V> {
    /// Of nothing yet, with squares about this centre: a value near those that will come.
    #[must_use]
    #[inline]
    pub fn about(centre: V) -> Self {
        let (n, sum, squares) = (0, V::Sum::default(), Twofold::default());
        Self { n, sum, min: V::NONE, max: V::NONE, centre, squares }
    }

    /// Adds a value. The first one is the centre.
    #[inline]
    pub fn push(&mut self, value: V) {
        if self.n == 0 {
            (self.min, self.max, self.centre) = (value, value, value);
        }
        self.n += 1;
        V::add(&mut self.sum, value);
        let distance = value.beyond(self.centre);
        self.squares.add(distance * distance);
        self.min = if value.is_before(self.min) { value } else { self.min };
        self.max = if self.max.is_before(value) { value } else { self.max };
    }

    /// Adds the values of a pane, without moving the centre.
    #[inline]
    pub fn absorb(&mut self, pane: &Pane<V>) {
        if pane.n <= 0 {
            return;
        }
        let distance = V::distances(pane.sum, pane.n, self.centre).round();
        self.squares.add(pane.m2);
        self.squares.add(distance * distance / pane.n as f64);
        self.extend(pane.n, pane.sum, pane.min, pane.max);
    }

    /// Adds the values of a pane; the mean of the first one is the centre.
    #[inline]
    pub fn merge(&mut self, pane: &Pane<V>) {
        if self.n == 0 && pane.n > 0 {
            self.centre = V::centre(pane.sum, pane.n);
        }
        self.absorb(pane);
    }

    /// Adds the values of other moments about the same centre.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        if other.n > 0 {
            self.squares.join(other.squares);
            self.extend(other.n, other.sum, other.min, other.max);
        }
    }

    #[inline]
    fn extend(&mut self, n: i64, sum: V::Sum, min: V, max: V) {
        V::join(&mut self.sum, sum);
        self.min = if self.n == 0 || min.is_before(self.min) { min } else { self.min };
        self.max = if self.n == 0 || self.max.is_before(max) { max } else { self.max };
        self.n += n;
    }

    /// The moments, with squares about the mean.
    #[must_use]
    #[inline]
    pub fn finish(&self) -> Pane<V> {
        let Self { n, sum, min, max, .. } = *self;
        Pane { n, sum, min, max, m2: self.m2() }
    }

    #[inline]
    fn m2(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let mut squares = self.squares;
        squares.join(-V::distances(self.sum, self.n, self.centre).square().over(self.n as f64));
        let m2 = squares.round();
        // Rounding may leave less than nothing; NaN stays.
        if m2 < 0.0 { 0.0 } else { m2 }
    }
}
