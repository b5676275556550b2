//! A bucket grid: all points `anchor + k * width`.

/// Which edge of the bucket is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The inclusive start, the greatest grid point that is not later than the timestamp.
    Start,
    /// The exclusive end, the start of the next bucket.
    End,
}

/// A grid that is known to be legal: its width is positive. Widths beyond `i64` are legal too; then every timestamp
/// lies in one of at most two buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    width: i128,
    /// The smallest grid point that is not negative.
    anchor: i128,
    /// For widths of up to 64 bits, which are all that a loop meets.
    divisor: Option<Divisor>,
}

impl Grid {
    /// The grid of `width` ticks through `anchor`, or `None` unless the width is positive.
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::Grid;
    /// let weeks = Grid::new(7, 4).unwrap(); // in days, through Monday, 1970-01-05
    /// assert_eq!(weeks.start(3), -3);
    /// assert_eq!(weeks.end(3), 4);
    /// assert!(Grid::new(0, 4).is_none());
    /// ```
    #[must_use]
    pub fn new(width: i128, anchor: i128) -> Option<Self> {
        if width <= 0 {
            return None;
        }
        let anchor = anchor.rem_euclid(width);
        let divisor = u64::try_from(width).ok().map(|width| Divisor::new(width, anchor as u64));
        Some(Self { width, anchor, divisor })
    }

    /// The distance between two neighbouring points, in ticks.
    #[must_use]
    pub const fn width(&self) -> i128 {
        self.width
    }

    /// The start of the bucket that holds `ts`: exact, and possibly below every `i64`.
    #[must_use]
    #[inline]
    pub fn start(&self, ts: i64) -> i128 {
        let past_start = match &self.divisor {
            Some(divisor) => i128::from(divisor.ticks_past_start(ts)),
            None => (i128::from(ts) - self.anchor).rem_euclid(self.width),
        };
        i128::from(ts) - past_start
    }

    /// The greatest grid point that is not greater than `tick`, whatever that is.
    pub(crate) fn floor(&self, tick: i128) -> i128 {
        match i64::try_from(tick) {
            Ok(tick) => self.start(tick),
            Err(_) => tick - (tick - self.anchor).rem_euclid(self.width),
        }
    }

    /// The exclusive end of the bucket that holds `ts`: exact, and possibly above every `i64`.
    #[must_use]
    #[inline]
    pub fn end(&self, ts: i64) -> i128 {
        self.start(ts) + self.width
    }

    /// The start or the end.
    #[must_use]
    #[inline]
    pub fn edge(&self, edge: Edge, ts: i64) -> i128 {
        match edge {
            Edge::Start => self.start(ts),
            Edge::End => self.end(ts),
        }
    }

    /// The start or the end where an `i64` holds it, as fast as one row at a time can be.
    #[inline]
    pub(crate) fn edge_tick(&self, edge: Edge, ts: i64) -> Option<i64> {
        let Some(divisor) = &self.divisor else { return i64::try_from(self.edge(edge, ts)).ok() };
        let past_start = divisor.ticks_past_start(ts);
        match edge {
            Edge::Start => ts.checked_sub_unsigned(past_start),
            Edge::End => ts.checked_add_unsigned(divisor.width - past_start),
        }
    }

    pub(crate) const fn divisor(&self) -> Option<&Divisor> {
        self.divisor.as_ref()
    }
}

/// Division by a width without a division: a multiplication by its reciprocal, then one correction.
///
/// With `inverse = floor((2^64 - 1) / width)` the estimate `q = floor(n * inverse / 2^64)` of `n / width` is either
/// right or one too small for every 64-bit `n`: `2^64 - inverse * width` lies in `1..=width`, so the estimate loses
/// less than `n / 2^64 < 1` before it is floored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Divisor {
    width: u64,
    inverse: u64,
    /// How far the lowest `i64`, counted as zero by [`Self::ticks_past_start`], lies beyond a grid point.
    bias: u64,
}

impl Divisor {
    fn new(width: u64, anchor: u64) -> Self {
        let lowest = (1_u64 << 63) % width;
        // anchor + lowest modulo width; both are below the width, but their sum may need 65 bits.
        let below_width = width - anchor;
        let bias = if lowest >= below_width { lowest - below_width } else { lowest + anchor };
        Self { width, inverse: u64::MAX / width, bias }
    }

    pub(crate) const fn width(&self) -> u64 {
        self.width
    }

    /// How many of `ticks` are left after whole widths.
    #[inline(always)]
    pub(crate) fn rest(&self, ticks: u64) -> u64 {
        let quotient = ((u128::from(ticks) * u128::from(self.inverse)) >> 64) as u64;
        let rest = ticks.wrapping_sub(quotient.wrapping_mul(self.width));
        if rest >= self.width { rest - self.width } else { rest }
    }

    /// How many ticks `ts` lies past its bucket's start, for every `i64`.
    #[inline(always)]
    pub(crate) fn ticks_past_start(&self, ts: i64) -> u64 {
        let remainder = self.rest((ts as u64) ^ (1 << 63));
        let past_start = remainder.wrapping_sub(self.bias);
        if remainder < self.bias { past_start.wrapping_add(self.width) } else { past_start }
    }
}
