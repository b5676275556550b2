//! A zone's clock, from the database's form (TZif, RFC 9636) to the packed one.

use jiff_core::Timestamp;
use jiff_core::tz::posix::{Day, DayTime};
use jiff_core::tz::tzif::TimeZone;

/// When a clock is set, and to which offset from UTC in seconds.
#[derive(Clone)]
pub(crate) struct Clock {
    /// The offset before all changes.
    pub(crate) first: i32,
    /// From which instant on there is another offset, in order.
    pub(crate) changes: Vec<(i64, i32)>,
    /// How it goes on after the last of them.
    pub(crate) rule: Option<Rule>,
}

/// The two changes of every year.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) standard: i32,
    pub(crate) summer: i32,
    /// When summer time begins, and when it ends, by the clock that is then set.
    pub(crate) days: [YearDay; 2],
}

/// A weekday of a month: its week, of which 5 is the last, and the seconds from that midnight on.
#[derive(Clone, Copy)]
pub(crate) struct YearDay {
    pub(crate) month: i8,
    pub(crate) week: i8,
    /// From Sunday on.
    pub(crate) weekday: i8,
    pub(crate) second: i32,
}

impl YearDay {
    fn of(DayTime { date, time }: DayTime) -> Self {
        let Day::WeekdayOfMonth { month, week, weekday } = date else {
            panic!("a rule counts the days of a year, as none did before");
        };
        Self { month, week, weekday: weekday.to_sunday_zero_offset(), second: time.second }
    }
}

impl Clock {
    pub(crate) fn of_tzif(tzif: &[u8]) -> Self {
        let zone = TimeZone::parse(tzif).expect("data that its own author's crate reads");
        let rule = zone.posix_tz.as_ref().and_then(|posix| {
            let dst = posix.dst.as_ref()?;
            let days = [YearDay::of(dst.rule.start), YearDay::of(dst.rule.end)];
            Some(Rule { standard: posix.std_offset.seconds(), summer: dst.offset.seconds(), days })
        });
        let last = zone.transitions.timestamps.last().map_or(0, |last| last.as_second());
        let following = |instant| zone.next_transition(instant).filter(|next| next.timestamp() > instant);
        let changes = std::iter::successors(following(Timestamp::MIN), |last| following(last.timestamp()))
            .map(|change| (change.timestamp().as_second(), change.offset().seconds()))
            .take_while(|(instant, _)| rule.is_none() || *instant <= last)
            .collect();
        Self { first: zone.to_offset(Timestamp::MIN).seconds(), changes, rule }
    }

    /// As numbers of seven bits to a byte, the lowest first and the last below 128; signed ones with their sign in the lowest bit:
    /// how many offsets; each; how many changes; of each how many hours after the one before it (0: seconds follow) and the
    /// place of its offset; and the rule, if there is one, after a 1. The first offset is that before all changes.
    pub(crate) fn pack(&self) -> Vec<u8> {
        let (mut offsets, mut changes) = (vec![self.first], Vec::new());
        for (index, &(instant, offset)) in self.changes.iter().enumerate() {
            let before = index.checked_sub(1).map_or(self.first, |before| self.changes[before].1);
            // From the last one on the rule holds, whether or not it changes anything.
            if before == offset && index + 1 < self.changes.len() {
                continue;
            }
            let place = offsets.iter().position(|known| *known == offset).unwrap_or_else(|| {
                offsets.push(offset);
                offsets.len() - 1
            });
            changes.push((instant, place));
        }
        let mut packed = Vec::new();
        number(&mut packed, offsets.len() as u64);
        offsets.iter().for_each(|&offset| signed(&mut packed, offset.into()));
        number(&mut packed, changes.len() as u64);
        let mut from = 0;
        for (index, (instant, place)) in changes.into_iter().enumerate() {
            let step: i64 = instant - from;
            if index > 0 && step % 3_600 == 0 {
                number(&mut packed, (step / 3_600) as u64);
            } else {
                number(&mut packed, 0);
                signed(&mut packed, step);
            }
            number(&mut packed, place as u64);
            from = instant;
        }
        number(&mut packed, self.rule.is_some().into());
        if let Some(Rule { standard, summer, days }) = &self.rule {
            for &offset in [standard, summer] {
                signed(&mut packed, offset.into());
            }
            for YearDay { month, week, weekday, second } in days {
                for &part in [month, week, weekday] {
                    number(&mut packed, part as u64);
                }
                signed(&mut packed, (*second).into());
            }
        }
        packed
    }
}

fn number(packed: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        packed.push(value as u8 | 128);
        value >>= 7;
    }
    packed.push(value as u8);
}

fn signed(packed: &mut Vec<u8>, value: i64) {
    number(packed, (value << 1 ^ value >> 63) as u64);
}
