//! What the bind makes of an interval: its length, the checks, the text of messages. The text is read back by a
//! parser of its own and has to give the same three fields.
#![no_main]

use kernel::{Argument, Error};
use kernel::{Civil, Interval, Precision};
use libfuzzer_sys::fuzz_target;

fn parse(text: &str) -> Option<Interval> {
    let text = text.strip_prefix("INTERVAL '")?.strip_suffix('\'')?;
    let (mut months, mut days, mut micros) = (0_i64, 0_i64, 0_i128);
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let (sign, clock) = word.strip_prefix('-').map_or((1, word), |clock| (-1, clock));
            let [hours, minutes, seconds] = clock.split(':').collect::<Vec<_>>().try_into().ok()?;
            let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            if minutes.len() != 2 || seconds.len() != 2 || fraction.ends_with('0') {
                return None;
            }
            let whole = hours.parse::<i128>().ok()? * 3_600 + minutes.parse::<i128>().ok()? * 60;
            let whole = whole + seconds.parse::<i128>().ok()?;
            micros = sign * (whole * 1_000_000 + format!("{fraction:0<6}").parse::<i128>().ok()?);
        } else {
            let count: i64 = word.parse().ok()?;
            match words.next()? {
                "year" | "years" => months += count * 12,
                "month" | "months" => months += count,
                "day" | "days" => days = count,
                _ => return None,
            }
        }
    }
    Some(Interval {
        months: months.try_into().ok()?,
        days: days.try_into().ok()?,
        micros: micros.try_into().ok()?,
    })
}

fuzz_target!(|input: (i32, i32, i64, u8)| {
    let (months, days, micros, shape) = input;
    let months = if shape & 3 == 0 { months } else { 0 };
    let interval = Interval { months, days, micros };
    assert_eq!(parse(&interval.to_string()), Some(interval), "{interval}");

    let nanos = (i128::from(days) * 86_400_000_000 + i128::from(micros)) * 1_000;
    assert_eq!(interval.fixed_nanos(), (months == 0).then_some(nanos));
    let back = Interval::from_nanos(nanos).unwrap();
    assert_eq!(back.fixed_nanos(), Some(nanos));
    assert!(back.days.signum() as i64 * back.micros.signum() >= 0, "{back:?}");
    for precision in Precision::ALL {
        let tick = precision.nanos_per_tick();
        match precision.length_ticks(Argument::Width, interval) {
            Ok(ticks) => assert!(months == 0 && ticks > 0 && ticks * tick == nanos),
            Err(Error::Calendar { .. }) => assert!(months != 0),
            Err(Error::NotPositive { .. }) => assert!(months == 0 && nanos <= 0),
            Err(Error::IntervalNotWhole { .. }) => assert!(months == 0 && nanos > 0 && nanos % tick != 0),
            Err(error) => panic!("{error}"),
        }
        match precision.offset_ticks(interval) {
            Ok(ticks) => assert!(months == 0 && ticks * tick == nanos),
            Err(Error::Calendar { .. }) => assert!(months != 0),
            Err(error) => assert!(months == 0 && nanos % tick != 0, "{error}"),
        }
        for of in Precision::ALL {
            let whole = i128::from(micros) * of.nanos_per_tick();
            match precision.origin_ticks(micros, of) {
                Ok(ticks) => assert!(ticks * tick == whole && micros.unsigned_abs() != i64::MAX as u64),
                Err(Error::Infinite { .. }) => assert_eq!(micros.unsigned_abs(), i64::MAX as u64),
                Err(error) => assert!(whole % tick != 0, "{error}"),
            }
        }
        let text = Civil { tick: micros, precision }.to_string();
        assert!(!text.is_empty() && text.is_ascii() && !text.contains('\n'));
    }
});
