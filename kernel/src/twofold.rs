//! Numbers of twice the precision of a double, for sums that must not lose what rounding takes.
//!
//! A number is the sum of two doubles of which the second is what the first could not hold. Additions and products
//! follow Knuth (TAOCP 2, 4.2.2) and Dekker (Numerische Mathematik 18, 1971), without branches.

/// The sum of two doubles, `low` being small beside `high`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twofold {
    /// The number, rounded but for the last bits.
    pub high: f64,
    /// What is missing there. NaN where `high` is not finite.
    pub low: f64,
}

impl Twofold {
    /// Adds a double.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let (high, low) = two_sum(self.high, value);
        self.high = high;
        self.low += low;
    }

    /// Adds another number.
    #[inline]
    pub fn join(&mut self, other: Self) {
        self.add(other.high);
        self.low += other.low;
    }

    /// The nearest double, or the infinity or NaN that a plain sum would give; NaN without a sign.
    #[must_use]
    #[inline]
    pub fn round(self) -> f64 {
        let sum = if self.high.is_finite() { self.high + self.low } else { self.high };
        if sum.is_nan() { f64::NAN } else { sum }
    }

    /// The nearest double, and what is missing there; nothing is missing where that is not finite.
    #[must_use]
    #[inline]
    pub fn split(self) -> (f64, f64) {
        let high = self.round();
        if high.is_finite() { (high, (self.high - high) + self.low) } else { (high, 0.0) }
    }

    /// The same number with a low part that is small beside the high one again, which a difference may leave large.
    #[must_use]
    #[inline]
    pub fn settled(self) -> Self {
        let (high, low) = two_sum(self.high, self.low);
        Self { high, low }
    }

    /// The product of two doubles.
    #[must_use]
    #[inline]
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        let low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low;
        // Halving overflows before the product does.
        Self { high, low: if low.is_finite() { low } else { 0.0 } }
    }

    /// The square of a settled number.
    #[must_use]
    #[inline]
    pub fn square(self) -> Self {
        let mut square = Self::product(self.high, self.high);
        square.low += 2.0 * self.high * self.low;
        square
    }

    /// This divided by a double.
    #[must_use]
    #[inline]
    pub fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let back = Self::product(high, divisor);
        Self { high, low: ((self.high - back.high) - back.low + self.low) / divisor }
    }
}

impl std::ops::Neg for Twofold {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

/// `a + b`, rounded, and what rounding took.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_there = sum - a;
    (sum, (a - (sum - b_there)) + (b - b_there))
}

/// A double as the sum of two of 26 bits each, whose products are exact.
#[inline]
fn halves(value: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = SPLITTER * value;
    let high = scaled - (scaled - value);
    (high, value - high)
}

#[cfg(test)]
mod tests {
    use super::Twofold;

    #[test]
    fn a_sum_keeps_what_a_double_loses() {
        let mut sum = Twofold::default();
        for value in [1e16, 1.0, -1e16, 1e-3] {
            sum.add(value);
        }
        assert_eq!(sum.round(), 1.001);
        assert_eq!(Twofold { high: 1e16, low: 1.0 }.split(), (1e16, 1.0));
    }

    #[test]
    fn a_product_is_exact() {
        // (2^27 + 1)^2 = 2^54 + 2^28 + 1
        let product = Twofold::product(134_217_729.0, 134_217_729.0);
        assert_eq!((product.high, product.low), (18_014_398_777_917_440.0, 1.0));
        assert_eq!(Twofold { high: 1.0, low: 0.0 }.over(3.0).low, 2.0f64.powi(-54) / 3.0);
    }

    #[test]
    fn infinity_is_itself() {
        let mut sum = Twofold::default();
        sum.add(f64::INFINITY);
        sum.add(1.0);
        assert_eq!(sum.split(), (f64::INFINITY, 0.0));
        sum.add(f64::NEG_INFINITY);
        assert!(sum.round().is_nan());
    }
}
