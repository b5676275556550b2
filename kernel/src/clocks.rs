//! The clocks of many zones side by side, for rows each of which has a zone of its own.
//!
//! Rows of a column are rather of one time than of one place. So what a clock shows is kept by slots of time, and in a slot zone
//! by zone: what the rows of a year need is a few kilobytes, which stay in the nearest cache, where tables that each zone has for
//! itself lie on more pages than a processor keeps addresses of. A stretch is filled in when a row of it is first met.
//!
//! It says of a zone what the clock shows in a slot, and how far beside it nothing changes. That settles the buckets that touch no
//! change, of many rows at once or of one; the others, of slots in which the clock is set more than once too, are worked out from
//! the [`Zone`].

use crate::simd::Kernel;
use crate::slice::{Extremes, Units};
use crate::validity::WORD;
use crate::zone::{Segment, TWO_DAYS, Zone};
use crate::{Edge, Grid, Precision};
use std::sync::Arc;

/// A slot has about `2^22` seconds, 48 days: clocks are rarely set twice in so short a time.
const SHIFT: u32 = 22;
const SLOT: i64 = 1 << SHIFT;
/// Five centuries and a half.
const SLOTS: usize = 4_096;
/// 1700-01-01. What nanoseconds can hold begins and ends further from all slots than a stretch is ever quiet.
const FROM: i64 = -8_520_336_000;

/// The unit of a quiet time, `2^12` seconds.
const QUIET_SHIFT: u32 = 12;

/// What one clock shows in one slot, in two words, so that a row costs two loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    /// 32 bits each: the second of the slot at which the clock is set, or, when it is not, how many seconds from the slot's
    /// beginning on it is not; and the offset until then.
    first: u64,
    /// The offset from then on, in 32 bits; then 16 bits each, in units: for how long before the slot the clock has shown
    /// nothing that it had shown before, and for how long after the slot it is not set.
    second: u64,
}

impl Stretch {
    /// Nobody has looked yet. No bucket lies between these bounds.
    const UNKNOWN: Self = Self::new(0, [1 << 30, 0], [0, 0]);
    /// Not told by two offsets. No bucket lies between these bounds either.
    const NONE: Self = Self::new(0, [1 << 30, 1], [0, 0]);

    const fn new(change: u32, [before, after]: [i32; 2], quiet: [u16; 2]) -> Self {
        Self {
            first: (change as u64) | (before as u64) << 32,
            second: (after as u32 as u64) | (quiet[0] as u64) << 32 | (quiet[1] as u64) << 48,
        }
    }

    fn of(zone: &Zone, slot: usize) -> Self {
        let begin = FROM + ((slot as i64) << SHIFT);
        let end = begin + SLOT;
        let index = zone.at(begin);
        let [here, next, after] = [index, index + 1, index + 2].map(|index| zone.segment(index));
        let fresh = |Segment { from, offset, top, .. }: Segment| from.max(top - offset);
        let quiet = |distance: i64| u16::try_from(distance >> QUIET_SHIFT).unwrap_or(u16::MAX);
        let before = begin - fresh(here);
        if before < 0 {
            return Self::NONE;
        }
        if end <= here.until {
            let change = u32::try_from(here.until - begin).unwrap_or(1 << 31).min(1 << 31);
            return Self::new(change, [here.offset as i32; 2], [quiet(before), 0]);
        }
        let back = (here.offset - next.offset).max(0);
        if next.until < end || fresh(next) != next.from + back {
            return Self::NONE;
        }
        let offsets = [here.offset as i32, next.offset as i32];
        Self::new((next.from - begin) as u32, offsets, [quiet(before), quiet(after.from - end)])
    }
}

/// The clocks of all zones of a column.
#[derive(Debug, Clone)]
pub struct Clocks {
    zones: Vec<Arc<Zone>>,
    /// How many zones a slot has room for.
    room: usize,
    /// Which row of `stretches` each slot has; 0, in which all are unknown, until it is met, and for other times.
    rows: [u16; SLOTS + 1],
    /// Rows of `room` zones.
    stretches: Vec<Stretch>,
}

impl Default for Clocks {
    fn default() -> Self {
        Self { zones: Vec::new(), room: 0, rows: [0; SLOTS + 1], stretches: Vec::new() }
    }
}

impl Clocks {
    /// So many stretches are kept at most, 16 MiB.
    const MOST: usize = 1 << 20;

    /// The place of a zone's clock, which is added if need be.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use time_bucket_kernel::{Clocks, Zone};
    /// let utc = Arc::new(Zone::new(0, &[], false).unwrap());
    /// let mut clocks = Clocks::default();
    /// assert_eq!((clocks.place(&utc), clocks.place(&utc), clocks.len()), (0, 0, 1));
    /// ```
    pub fn place(&mut self, zone: &Arc<Zone>) -> usize {
        if let Some(place) = self.zones.iter().position(|known| Arc::ptr_eq(known, zone)) {
            return place;
        }
        let place = self.zones.len();
        self.zones.push(Arc::clone(zone));
        if place >= self.room {
            self.room = (place + 1).next_power_of_two().max(4);
            self.rows.fill(0);
            self.stretches.clear();
            self.stretches.resize(self.room, Stretch::UNKNOWN);
        }
        place
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.zones.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }

    /// The zone at a place.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn zone(&self, place: usize) -> &Zone {
        &self.zones[place]
    }

    #[inline(always)]
    fn index(&self, slot: u32, place: usize) -> usize {
        usize::from(self.rows[(slot as usize).min(SLOTS)]) * self.room + place
    }

    /// Fills in the stretch that a row was met in.
    fn meet(&mut self, slot: u32, place: usize) {
        let slot = slot as usize;
        if slot >= SLOTS {
            return;
        }
        if self.rows[slot] == 0 {
            if self.stretches.len() + self.room > Self::MOST {
                return;
            }
            self.rows[slot] = (self.stretches.len() / self.room) as u16;
            self.stretches.resize(self.stretches.len() + self.room, Stretch::UNKNOWN);
        }
        let index = self.index(slot as u32, place);
        if self.stretches[index] == Stretch::UNKNOWN {
            self.stretches[index] = Stretch::of(&self.zones[place], slot);
        }
    }
}

/// Where instants of one precision lie among the slots.
#[derive(Clone, Copy)]
struct Slots {
    second: i64,
    /// What instants are counted in so that 32 bits hold them, `2^shift` ticks; and the slots in one of these, in `2^-42`.
    shift: u32,
    factor: u32,
}

impl Slots {
    #[inline(always)]
    const fn new(precision: Precision) -> Self {
        // Slots need not begin on a whole second, as long as they rise with the instants: a stretch says what is right of rows
        // a little beside it.
        let (shift, factor) = match precision {
            Precision::Second => (2, 1 << SHIFT),
            Precision::Millisecond => (12, 4_294_967),
            Precision::Microsecond => (22, 4_398_046),
            Precision::Nanosecond => (32, 4_503_599),
        };
        Self { second: precision.ticks_per_second(), shift, factor }
    }

    /// How many ticks an instant lies after the first slot's beginning, modulo 2^64.
    #[inline(always)]
    const fn since(&self, ts: i64) -> u64 {
        ts.wrapping_sub(FROM * self.second) as u64
    }

    /// Less than this lies in slots.
    #[inline(always)]
    const fn end(&self) -> u64 {
        SLOTS as u64 * SLOT as u64 * self.second as u64
    }

    /// The slot of an instant, or the one after all.
    #[inline(always)]
    fn of(&self, ts: i64) -> u32 {
        let after = self.end() + SLOT as u64 * self.second as u64;
        let units = (self.since(ts).min(after) >> self.shift) as u32;
        ((u64::from(units) * u64::from(self.factor)) >> 42) as u32
    }
}

/// Finds buckets of one grid that lie between two changes of a clock, in readings that it shows for the first time.
#[derive(Clone, Copy)]
pub(crate) struct Between {
    slots: Slots,
    width: i64,
}

impl Between {
    /// Twice as far from a slot is within 64 bits.
    const WIDEST: i64 = 1 << 61;

    /// Of a grid in ticks of `precision`; `None` when its width is too large.
    #[inline(always)]
    pub(crate) fn new(grid: &Grid, precision: Precision) -> Option<Self> {
        let width = i64::try_from(grid.width()).ok().filter(|width| *width <= Self::WIDEST)?;
        Some(Self { slots: Slots::new(precision), width })
    }

    /// The edge of the bucket that holds `ts`, and whether that is it. `past_start` is how many ticks a reading lies past a grid
    /// point. Without a branch, since no processor could foretell it.
    #[inline(always)]
    fn edge(
        &self,
        edge: Edge,
        ts: i64,
        slot: u32,
        stretch: Stretch,
        past_start: impl Fn(i64) -> i64,
    ) -> (i64, bool) {
        let Self { slots, width } = self;
        let Stretch { first, second } = stretch;
        // Half a word times half a word, for which there are instructions of every width.
        let ticks = |seconds: i64| seconds * i64::from(slots.second as i32);
        let change = i64::from(first as u32);
        let [before, after] = [i64::from((first >> 32) as i32), i64::from(second as i32)];
        let quiet_before = (second >> 32 & 0xFFFF) as i64;
        let quiet_after = (second >> 48) as i64;
        let past = slots.since(ts).wrapping_sub(u64::from(slot) * (SLOT * slots.second) as u64) as i64;
        let is_after = past >= ticks(change);
        let offset = if is_after { after } else { before };
        let fresh = if is_after { change + (before - after).max(0) } else { -(quiet_before << QUIET_SHIFT) };
        let until = if is_after { SLOT + (quiet_after << QUIET_SHIFT) } else { change };
        // Exact where there is a slot, modulo 2^64 where there is none, in which these bounds may hold a bucket by mistake.
        let past_start = past_start(ts.wrapping_add(ticks(offset)));
        let start = past.wrapping_sub(past_start);
        let end = start.wrapping_add(*width);
        let is_between = (slot < SLOTS as u32) & (start >= ticks(fresh)) & (end < ticks(until));
        let start = ts.wrapping_sub(past_start);
        let tick = match edge {
            Edge::Start => start,
            Edge::End => start.wrapping_add(*width),
        };
        (tick, is_between)
    }

    /// The edge of the bucket that holds `ts`, if that lies between two changes.
    pub(crate) fn of_row(
        &self,
        grid: &Grid,
        edge: Edge,
        ts: i64,
        clocks: &mut Clocks,
        place: usize,
    ) -> Option<i64> {
        let divisor = grid.divisor()?;
        let slot = self.slots.of(ts);
        clocks.meet(slot, place);
        let stretch = clocks.stretches[clocks.index(slot, place)];
        let past_start = |reading| divisor.ticks_past_start(reading) as i64;
        let (tick, is_between) = self.edge(edge, ts, slot, stretch, past_start);
        is_between.then_some(tick)
    }
}

/// Settles the rows of a block that share a grid and whose buckets touch no change, and clears them in `left`. Rows in stretches
/// that are not filled in are left.
pub(crate) struct AtOnce<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) between: Between,
    pub(crate) clocks: &'a Clocks,
    pub(crate) edge: Edge,
    pub(crate) ts: &'a [i64],
    pub(crate) zones: &'a [u16],
    pub(crate) validity: Option<&'a [u64]>,
    pub(crate) left: &'a mut [u64],
    pub(crate) out: &'a mut [i64],
}

impl Kernel for AtOnce<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { grid, between, clocks, edge, ts, zones, validity, left, out } = self;
        let slots = between.slots;
        let Extremes { lowest, highest } =
            Extremes::where_valid(ts, validity, |ts| slots.since(ts) < slots.end());
        let Some(divisor) = grid.divisor().filter(|_| lowest <= highest) else { return };
        let (units, reach) = (Units::new(divisor), i128::from(TWO_DAYS * slots.second));
        let origin = grid.floor(i128::from(lowest) - reach);
        if !units.reach(i128::from(highest) + reach - origin) {
            return;
        }
        let past_start = |reading: i64| {
            let distance = reading.wrapping_sub(origin as i64);
            distance.wrapping_sub(units.whole_widths(distance))
        };
        let words = ts.chunks(WORD).zip(zones.chunks(WORD)).zip(out.chunks_mut(WORD));
        for (((ts, zones), out), left) in words.zip(left) {
            let mut padded = [0; WORD];
            padded[..ts.len()].copy_from_slice(ts);
            // What is looked up one by one stands between two loops that a processor does several rows of at a time.
            let numbers = padded.map(|ts| slots.of(ts));
            let mut stretches = [Stretch::UNKNOWN; WORD];
            for ((stretch, &slot), &zone) in stretches.iter_mut().zip(&numbers).zip(zones) {
                *stretch = clocks.stretches[clocks.index(slot, zone.into())];
            }
            let (mut ticks, mut settled) = ([0; WORD], 0);
            for row in 0..WORD {
                let (tick, is_between) =
                    between.edge(edge, padded[row], numbers[row], stretches[row], past_start);
                ticks[row] = tick;
                settled |= u64::from(is_between) << row;
            }
            out.copy_from_slice(&ticks[..out.len()]);
            *left &= !settled;
        }
    }
}
