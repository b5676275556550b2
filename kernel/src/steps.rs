//! Ticks at equal steps: the bounds of windows, panes and series.

use crate::Precision;

/// `len` ticks, `step` apart, all of them finite timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    first: i64,
    /// Modulo 2^64, which is exact: every tick fits an `i64`.
    step: i64,
    len: u64,
}

impl Steps {
    /// The ticks `first`, `first + step` and so on, or `None` when one of them is no finite timestamp of this
    /// precision. The step may have either sign.
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::{Precision, Steps};
    /// let mut out = [0; 2];
    /// Steps::new(Precision::Second, 90, -30, 4).unwrap().write(1, &mut out);
    /// assert_eq!(out, [60, 30]);
    /// assert!(Steps::new(Precision::Nanosecond, 0, 1 << 62, 3).is_none());
    /// ```
    #[must_use]
    pub fn new(precision: Precision, first: i128, step: i128, len: u64) -> Option<Self> {
        let distance = step.checked_mul(i128::from(len.saturating_sub(1)))?;
        let last = first.checked_add(distance)?;
        let start = precision.finite(first)?;
        precision.finite(last)?;
        // Nanoseconds use the ticks below the sentinel of -infinity too, so steps may jump over it or hit it.
        let sentinel = i128::from(Precision::INFINITIES[0]);
        let between = first.min(last) < sentinel && sentinel < first.max(last);
        if between && (sentinel - first) % step == 0 {
            return None;
        }
        Some(Self { first: start, step: step as i64, len })
    }

    /// How many ticks.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes the ticks from index `from` on, as many as `out` has room for.
    #[inline]
    pub fn write(&self, from: u64, out: &mut [i64]) {
        let first = self.first.wrapping_add(self.step.wrapping_mul(from as i64));
        for (index, out) in out.iter_mut().enumerate() {
            *out = first.wrapping_add(self.step.wrapping_mul(index as i64));
        }
    }
}
