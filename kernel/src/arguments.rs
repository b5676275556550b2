//! Arguments as ticks: what is legal for a width, an offset or an origin, and what is said when it isn't.

use crate::error::{Argument, Error, Result};
use crate::interval::NANOS_PER_DAY;
use crate::{Civil, Grid, Interval, Precision};

/// What anchors a grid. The three types say whether this is one value, a column of values, or only which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor<I, T, D> {
    /// The epoch.
    Epoch,
    /// The epoch plus an interval.
    Offset(I),
    /// A timestamp, whose precision may differ from that of the timestamps on the grid.
    Origin(T, Precision),
    /// Midnight of a DATE, in days from the epoch.
    Date(D),
}

impl Anchor<Interval, i64, i32> {
    /// The anchor's ticks.
    ///
    /// # Errors
    ///
    /// Those of [`Precision::offset_ticks`], [`Precision::origin_ticks`] and [`Precision::date_ticks`].
    pub fn ticks(self, precision: Precision) -> Result<i128> {
        match self {
            Self::Epoch => Ok(0),
            Self::Offset(offset) => precision.offset_ticks(offset),
            Self::Origin(origin, of) => precision.origin_ticks(origin, of),
            Self::Date(days) => precision.date_ticks(days),
        }
    }
}

impl Precision {
    /// The ticks of a length, such as a width or a window's size: fixed, positive and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`], [`Error::NotPositive`] or [`Error::IntervalNotWhole`], about `argument`.
    pub fn length_ticks(self, argument: Argument, value: Interval) -> Result<i128> {
        let ticks = self.interval_ticks(argument, value);
        match value.fixed_nanos() {
            Some(nanos) if nanos <= 0 => Err(Error::NotPositive { argument, value }),
            _ => ticks,
        }
    }

    /// The grid of a length, such as a width or a slide, through `anchor` ticks.
    ///
    /// # Errors
    ///
    /// Those of [`Self::length_ticks`].
    pub fn grid(self, argument: Argument, value: Interval, anchor: i128) -> Result<Grid> {
        let ticks = self.length_ticks(argument, value)?;
        Grid::new(ticks, anchor).ok_or(Error::NotPositive { argument, value })
    }

    /// The ticks of an offset: fixed and whole, of any sign.
    ///
    /// # Errors
    ///
    /// [`Error::Calendar`] or [`Error::IntervalNotWhole`].
    pub fn offset_ticks(self, offset: Interval) -> Result<i128> {
        self.interval_ticks(Argument::Offset, offset)
    }

    fn interval_ticks(self, argument: Argument, value: Interval) -> Result<i128> {
        let nanos = value.fixed_nanos().ok_or(Error::Calendar { argument, value })?;
        self.ticks(nanos).ok_or(Error::IntervalNotWhole { argument, value, precision: self })
    }

    /// The ticks of an origin given in another precision: finite and whole.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`] or [`Error::OriginNotWhole`].
    pub fn origin_ticks(self, origin: i64, of: Self) -> Result<i128> {
        let value = Civil { tick: origin, precision: of };
        value.require_finite(Argument::Origin)?;
        let nanos = i128::from(origin) * of.nanos_per_tick();
        self.ticks(nanos).ok_or(Error::OriginNotWhole { value, precision: self })
    }

    /// The ticks of an origin given as a DATE, in days from the epoch: finite.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`].
    pub fn date_ticks(self, days: i32) -> Result<i128> {
        const INFINITY: i32 = i32::MAX;
        let tick = if days == INFINITY { i64::MAX } else { -i64::MAX };
        if days == INFINITY || days == -INFINITY {
            let value = Civil { tick, precision: self };
            return Err(Error::Infinite { argument: Argument::Origin, value });
        }
        Ok(i128::from(days) * (NANOS_PER_DAY / self.nanos_per_tick()))
    }
}

impl Civil {
    /// Refuses an infinite timestamp.
    ///
    /// # Errors
    ///
    /// [`Error::Infinite`].
    pub(crate) fn require_finite(self, argument: Argument) -> Result<()> {
        if Precision::is_infinite(self.tick) {
            Err(Error::Infinite { argument, value: self })
        } else {
            Ok(())
        }
    }
}
