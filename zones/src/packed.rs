//! The names and clocks that `build/main.rs` has packed, and clocks out of them.

use kernel::Zone;

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// One clock after the other, as `Clock::pack` in `build/clock.rs` writes them.
static DATA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clocks.bin"));

/// How many clocks there are.
pub(crate) const CLOCKS: usize = STARTS.len();

/// The clock at a place, or `None` when there is none or its data is damaged.
///
/// Where the data ends in a rule ("the last Sunday of March, …") the changes of more than 400 years are written out, after
/// which the calendar repeats itself.
pub(crate) fn clock(place: usize) -> Option<Zone> {
    const YEARS_402: i64 = 402 * YEAR;
    let mut data = Reader(DATA.get(*STARTS.get(place)? as usize..)?);
    let offsets = (0..data.number()?).map(|_| data.offset()).collect::<Option<Vec<i32>>>()?;
    let mut last = 0;
    let mut changes = Vec::new();
    for _ in 0..data.number()? {
        last += match data.number()? {
            0 => data.signed()?,
            hours => hours as i64 * 3_600,
        };
        changes.push((last, *offsets.get(data.number()? as usize)?));
    }
    let has_rule = data.number()? == 1;
    if has_rule {
        let (standard, summer) = (data.offset()?, data.offset()?);
        let rules = [(data.year_day()?, standard, summer), (data.year_day()?, summer, standard)];
        let until = last.max(0) + YEARS_402;
        for year in 1_969 + last / YEAR..=1_971 + until / YEAR {
            let [mut first, mut second] =
                rules.map(|(day, before, after)| (day.second_of(year) - i64::from(before), after));
            if second < first {
                (first, second) = (second, first);
            }
            changes.extend([first, second].iter().filter(|(instant, _)| last < *instant && *instant < until));
        }
    }
    Zone::new(*offsets.first()?, &changes, has_rule)
}

/// A clock that is never set.
pub(crate) fn fixed(offset: i32) -> Option<Zone> {
    Zone::new(offset, &[], false)
}

/// The seconds of a mean year of the Gregorian calendar.
const YEAR: i64 = 31_556_952;

/// The data of a clock from some number on.
struct Reader(&'static [u8]);

impl Reader {
    fn number(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(value);
            }
            shift += 7;
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn offset(&mut self) -> Option<i32> {
        self.signed()?.try_into().ok()
    }

    fn year_day(&mut self) -> Option<YearDay> {
        let [month, week, weekday] = [self.number()?, self.number()?, self.number()?].map(|part| part as i64);
        Some(YearDay { month, week, weekday, second: self.signed()? })
    }
}

/// A weekday of a month: its week, of which 5 is the last, the day from Sunday on, and the seconds from that midnight on.
#[derive(Clone, Copy)]
struct YearDay {
    month: i64,
    week: i64,
    weekday: i64,
    second: i64,
}

impl YearDay {
    /// The seconds from 1970-01-01 to it in some year.
    fn second_of(&self, year: i64) -> i64 {
        let (first, next) = (first_of(year, self.month), first_of(year, self.month + 1));
        // The weekday of day 0 was a Thursday.
        let weekday = first + (self.weekday - first - 4).rem_euclid(7);
        let day = weekday + (self.week - 1) * 7;
        let day = if day < next { day } else { day - 7 };
        day * 86_400 + self.second
    }
}

/// Days from 1970-01-01 to the first of a month, of which 13 is the next January.
const fn first_of(year: i64, month: i64) -> i64 {
    // In years that begin in March, so that a leap day ends them.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5
        - 719_468
}
