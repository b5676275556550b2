//! The clocks of many zones side by side, for rows each of which has a zone of its own.
//!
//! Rows of a column are rather of one time than of one place. So what a clock shows is kept by slots of time, and in a slot zone
//! by zone: what the rows of a year need is a few kilobytes, which stay in the nearest cache, where tables that each zone has for
//! itself lie on more pages than a processor keeps addresses of. A slot is filled when rows of it are first met.
//!
//! A slot says of a zone what the clock shows in it, and how far beside it nothing changes. That settles the buckets that touch no
//! change; the others, of slots in which the clock is set more than once too, are worked out from the [`Zone`].

use crate::grid::Divisor;
use crate::zone::{Segment, Zone};
use crate::{Edge, Grid, Precision};
use std::sync::Arc;

/// A slot has `2^22` seconds, 48 days: clocks are rarely set twice in so short a time.
const SHIFT: u32 = 22;
const SLOT: i64 = 1 << SHIFT;
/// 1900-01-01
const FROM: i64 = -2_208_988_800;
/// Of two centuries, in which most rows lie.
const SLOTS: usize = 1_505;

/// The unit of [`Stretch::quiet`], `2^12` seconds.
const QUIET_SHIFT: u32 = 12;

/// What one clock shows in one slot.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// At which second of the slot the clock is set; or, when it is not, how many seconds from the slot's beginning on it is not.
    change: u32,
    /// The offset until then, and from then on.
    offsets: [i32; 2],
    /// For how long before the slot the clock has shown nothing that it had shown before, and after the slot it is not set.
    quiet: [u16; 2],
}

impl Stretch {
    /// No bucket lies between these two bounds.
    const NONE: Self = Self { change: 0, offsets: [1 << 30, 0], quiet: [0; 2] };

    fn new(zone: &Zone, slot: usize) -> Self {
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
            return Self { change, offsets: [here.offset as i32; 2], quiet: [quiet(before), 0] };
        }
        let back = (here.offset - next.offset).max(0);
        if next.until < end || fresh(next) != next.from + back {
            return Self::NONE;
        }
        Self {
            change: (next.from - begin) as u32,
            offsets: [here.offset as i32, next.offset as i32],
            quiet: [quiet(before), quiet(after.from - end)],
        }
    }
}

/// The clocks of all zones of a column.
#[derive(Debug, Clone)]
pub struct Clocks {
    zones: Vec<Arc<Zone>>,
    /// How many zones a slot has room for.
    room: usize,
    /// Which row of `stretches` each slot has; 0, in which no bucket lies, until it is filled, and for other times.
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
        if place < self.room {
            for slot in (0..SLOTS).filter(|&slot| self.rows[slot] > 0) {
                self.stretches[usize::from(self.rows[slot]) * self.room + place] = Stretch::new(zone, slot);
            }
        } else {
            self.room = (place + 1).next_power_of_two().max(4);
            self.rows.fill(0);
            self.stretches.clear();
            self.stretches.resize(self.room, Stretch::NONE);
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

    /// Fills the slots from one instant to another, in seconds, unless those are more than `most`.
    pub(crate) fn fill(&mut self, from: i64, to: i64, most: usize) {
        let slot = |instant: i64| ((instant.max(FROM) - FROM) >> SHIFT).min(SLOTS as i64 - 1) as usize;
        let slots = slot(from)..=slot(to);
        if slots.clone().count() > most {
            return;
        }
        for slot in slots {
            let row = self.stretches.len() / self.room.max(1);
            if self.rows[slot] == 0 && self.stretches.len() + self.room <= Self::MOST {
                self.rows[slot] = row as u16;
                self.stretches.extend(self.zones.iter().map(|zone| Stretch::new(zone, slot)));
                self.stretches.resize((row + 1) * self.room, Stretch::NONE);
            }
        }
    }
}

/// Finds buckets of one grid that lie between two changes of a clock, in readings that it shows for the first time.
#[derive(Clone, Copy)]
pub(crate) struct Between<'a> {
    divisor: &'a Divisor,
    precision: Precision,
    second: i64,
}

impl<'a> Between<'a> {
    /// Twice as far from a slot is within 64 bits.
    const WIDEST: u64 = 1 << 61;

    /// Of a grid in ticks of `precision`; `None` when its width is too large.
    #[inline(always)]
    pub(crate) fn new(grid: &'a Grid, precision: Precision) -> Option<Self> {
        let divisor = grid.divisor().filter(|divisor| divisor.width() <= Self::WIDEST)?;
        Some(Self { divisor, precision, second: precision.ticks_per_second() })
    }

    /// The edge of the bucket that holds `ts`, and whether that is it. Without a branch, since no processor could foretell it.
    #[inline(always)]
    pub(crate) fn edge(&self, edge: Edge, ts: i64, clocks: &Clocks, place: usize) -> (i64, bool) {
        let since = self.precision.whole_seconds(ts).wrapping_sub(FROM) as u64;
        let slot = ((since >> SHIFT) as usize).min(SLOTS);
        let stretch = clocks.stretches[usize::from(clocks.rows[slot]) * clocks.room + place];
        let Stretch { change, offsets: [before, after], quiet } = stretch;
        let [quiet_before, quiet_after] = quiet.map(|quiet| i64::from(quiet) << QUIET_SHIFT);
        let is_after = since & (SLOT as u64 - 1) >= u64::from(change);
        let select = |after: i64, before: i64| if is_after { after } else { before };
        let change = i64::from(change);
        let offset = select(after.into(), before.into());
        let fresh = select(change + i64::from((before - after).max(0)), -quiet_before);
        let until = select(SLOT + quiet_after, change);
        // Modulo 2^64 where there is no slot, which is exact where there is one.
        let reading = ts.wrapping_add(offset * self.second);
        let start = ts.wrapping_sub(self.divisor.ticks_past_start(reading) as i64);
        let end = start.wrapping_add(self.divisor.width() as i64);
        let begin = FROM + ((slot as i64) << SHIFT);
        let is_between = (start >= (begin + fresh) * self.second) & (end < (begin + until) * self.second);
        let tick = match edge {
            Edge::Start => start,
            Edge::End => end,
        };
        (tick, is_between & (slot < SLOTS))
    }
}
