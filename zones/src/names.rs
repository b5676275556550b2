//! The names that zones go by, and what each means.

use crate::packed::{NAMES, PLACES};

/// Which clock the zone of this name has, in any case.
pub(crate) fn find(name: &str) -> Option<usize> {
    let place = names().position(|known| known.eq_ignore_ascii_case(name))?;
    Some(PLACES[place].into())
}

/// Every name, in the order of their bytes. Offsets such as `GMT+05:30` are zones too, but too many to list.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.lines()
}

/// The seconds east of Greenwich of `GMT+5`, `GMT+0530`, `GMT-05:30`, `GMT+05:30:15` or `UTC+5`, in any case.
///
/// `UTC` takes whole hours from -12 to 14 alone. There the engine drops the minutes without a word, so that `UTC+05:30` would
/// be five hours east; it is no zone here.
pub(crate) fn offset(name: &str) -> Option<i32> {
    let (prefix, offset) = (name.get(..3)?.to_ascii_uppercase(), name.get(3..)?);
    let (sign, digits) = match offset.as_bytes().first()? {
        b'+' => (1, &offset[1..]),
        b'-' => (-1, &offset[1..]),
        _ => return None,
    };
    let number = |digits: &str| {
        let is_number =
            !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse::<i32>().ok()).flatten()
    };
    let parts: Vec<&str> = digits.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [digits] => {
            let value = number(digits)?;
            match digits.len() {
                1 | 2 => (value, 0, 0),
                3 | 4 => (value / 100, value % 100, 0),
                _ => (value / 10_000, value / 100 % 100, value % 100),
            }
        }
        [hours, minutes] if hours.len() <= 2 && minutes.len() == 2 => (number(hours)?, number(minutes)?, 0),
        [hours, minutes, seconds] if hours.len() <= 2 && minutes.len() == 2 && seconds.len() == 2 => {
            (number(hours)?, number(minutes)?, number(seconds)?)
        }
        _ => return None,
    };
    let is_offset = match &*prefix {
        "GMT" => hours <= 23 && minutes <= 59 && seconds <= 59,
        "UTC" => (-12..=14).contains(&(sign * hours)) && minutes == 0 && seconds == 0,
        _ => false,
    };
    is_offset.then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// The names that a misspelt one may have meant, most likely first: those that fewest letters have to be changed in, whole or
/// in the part after the last slash.
#[must_use]
pub fn nearest(name: &str) -> Vec<&'static str> {
    const SHOWN: usize = 3;
    let name = name.trim().to_ascii_lowercase().replace(' ', "_");
    let mut best: Vec<(usize, &'static str)> = Vec::with_capacity(SHOWN + 1);
    for known in names() {
        let lower = known.to_ascii_lowercase();
        let place = lower.rsplit('/').next().unwrap_or(&lower);
        let distance = strsim::osa_distance(&name, &lower).min(strsim::osa_distance(&name, place) + 1);
        // More than half of the letters changed is another word.
        if distance * 2 <= name.len().max(2) {
            let rank = best.partition_point(|other| *other < (distance, known));
            best.insert(rank, (distance, known));
            best.truncate(SHOWN);
        }
    }
    let most = best.first().map_or(0, |(distance, _)| distance + 1);
    best.retain(|(distance, _)| *distance <= most);
    best.into_iter().map(|(_, known)| known).collect()
}
