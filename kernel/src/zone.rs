//! A time zone as the kernel sees it: at which instants its wall clock was set, and what it shows between them.
//!
//! The data is plain: an offset, then changes of it in order. Where a rule goes on for ever ("from the second Sunday in
//! March"), the last changes of the table are those of 400 years, after which the Gregorian calendar repeats itself, weekdays
//! included; later instants are looked up as many cycles earlier.
//!
//! Two questions are answered: in which stretch between two changes an instant lies ([`Zone::at`]), and in which one the
//! clock first shows or jumps over a reading ([`Zone::reaching`]). Both are in whole seconds, since no clock is set in
//! between; offsets are in seconds east of UTC.

/// Seconds of 400 years of the Gregorian calendar.
const CYCLE: i64 = 146_097 * 86_400;

/// Before and after everything, with room to add offsets and cycles.
pub(crate) const FAR: i64 = 1 << 60;

/// No offset is as long, in seconds.
pub(crate) const TWO_DAYS: i64 = 2 * 86_400;

/// A stretch in which the clock runs on, in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    from: i64,
    offset: i64,
    top: i64,
}

/// A stretch of time in which the clock runs on, without being set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The instant at which it begins.
    pub(crate) from: i64,
    /// The instant at which it ends, which is not part of it.
    pub(crate) until: i64,
    /// What the clock shows is the instant plus this.
    pub(crate) offset: i64,
    /// The latest reading that the clock came near before this segment: it has shown what is below, but not this.
    pub(crate) top: i64,
    /// By how much the clock was set back at its beginning; negative when it was set forward.
    pub(crate) back: i64,
}

/// A time zone's wall clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    entries: Vec<Entry>,
    /// How many of the last entries come again every [`CYCLE`].
    cycle: Option<usize>,
    most_back: i64,
}

impl Zone {
    /// The clock that shows the instant plus `first` seconds, until it is set by `changes`: each the instant, in seconds
    /// from the epoch, from which on the offset is another one.
    ///
    /// With `repeats` the changes of the last 400 years come again for ever. `None` when the changes are not in ascending
    /// order, when an offset is two days or more, or when the last change is not that of 400 years before.
    ///
    /// # Examples
    ///
    /// ```
    /// use time_bucket_kernel::Zone;
    /// let utc = Zone::new(0, &[], false).unwrap();
    /// let set_once = Zone::new(3_600, &[(0, 7_200)], false).unwrap();
    /// assert_eq!((utc.offset(-1), set_once.offset(-1), set_once.offset(0)), (0, 3_600, 7_200));
    /// ```
    #[must_use]
    pub fn new(first: i32, changes: &[(i64, i32)], repeats: bool) -> Option<Self> {
        let mut entries = vec![Entry { from: -FAR, offset: first.into(), top: -FAR }];
        let mut most_back = 0;
        for &(from, offset) in changes {
            let last = *entries.last()?;
            let offset = i64::from(offset);
            if from <= last.from || from >= FAR || offset.abs().max(last.offset.abs()) >= TWO_DAYS {
                return None;
            }
            if offset != last.offset {
                entries.push(Entry { from, offset, top: last.top.max(from + last.offset) });
                most_back = most_back.max(last.offset - offset);
            }
        }
        let cycle = if repeats { Some(Self::cycle(&entries)?) } else { None };
        Some(Self { entries, cycle, most_back })
    }

    /// How many entries before the last one lies the one that it repeats.
    fn cycle(entries: &[Entry]) -> Option<usize> {
        let last = entries.last()?;
        let earlier = entries.iter().rposition(|entry| {
            *entry == Entry { from: last.from - CYCLE, offset: last.offset, top: last.top - CYCLE }
        })?;
        Some(entries.len() - 1 - earlier)
    }

    /// The offset at an instant, in seconds from the epoch.
    #[must_use]
    pub fn offset(&self, instant: i64) -> i64 {
        self.segment(self.at(instant.clamp(1 - FAR, FAR - 1))).offset
    }

    /// The longest time by which the clock is ever set back.
    pub(crate) const fn most_back(&self) -> i64 {
        self.most_back
    }

    /// How many segments there are.
    pub(crate) const fn len(&self) -> usize {
        if self.repeats() { usize::MAX } else { self.entries.len() }
    }

    /// The last entry, and how many entries before it lies the one that it repeats; `None` when it lasts for ever.
    fn repeated(&self) -> (&Entry, Option<usize>) {
        (self.entries.last().expect("there is one from the beginning of time"), self.cycle)
    }

    /// The index of the segment that holds an instant.
    pub(crate) fn at(&self, instant: i64) -> usize {
        let find = |instant| self.entries.partition_point(|entry| entry.from <= instant).saturating_sub(1);
        match self.repeated() {
            (last, Some(cycle)) if instant >= last.from => {
                let cycles = (instant - last.from) / CYCLE + 1;
                find(instant - cycles * CYCLE) + cycles as usize * cycle
            }
            _ => find(instant),
        }
    }

    /// The index of the first segment in which the clock shows `reading` or a later one.
    pub(crate) fn reaching(&self, reading: i64) -> usize {
        // The top of a segment tells what all those before it have shown.
        let find = |reading| self.entries[1..].partition_point(|entry| entry.top <= reading);
        match self.repeated() {
            (last, Some(cycle)) if reading >= last.top => {
                let cycles = (reading - last.top) / CYCLE + 1;
                find(reading - cycles * CYCLE) + cycles as usize * cycle
            }
            _ => find(reading),
        }
    }

    /// The segment of an index.
    #[inline]
    pub(crate) fn segment(&self, index: usize) -> Segment {
        let (Entry { from, offset, top }, until) = (self.entry(index), self.entry(index + 1).from);
        let back = if index == 0 { 0 } else { self.entry(index - 1).offset - offset };
        Segment { from, until, offset, top, back }
    }

    /// The entry of an index, of the table or so many cycles later. After the last one nothing comes.
    #[inline]
    fn entry(&self, index: usize) -> Entry {
        if let Some(entry) = self.entries.get(index) {
            return *entry;
        }
        let (last, cycle) = self.repeated();
        let Some(cycle) = cycle else { return Entry { from: FAR, ..*last } };
        let cycles = (index + 1 - self.entries.len()).div_ceil(cycle);
        let Entry { from, offset, top } = self.entries[index - cycles * cycle];
        let later = cycles as i64 * CYCLE;
        Entry { from: from + later, offset, top: top + later }
    }

    /// Whether the last changes come again for ever.
    pub(crate) const fn repeats(&self) -> bool {
        self.cycle.is_some()
    }
}
