//! What the engine's ICU adds to the names of the database.

use crate::clock::{Clock, Rule, YearDay};

/// Names that ICU has and the IANA database lacks, with the database's name for the same clock.
///
/// Those of three letters were abbreviations of Java's, each for one place; the engine takes them, though `CST` is China's
/// too, and `EST` and `MST`, which the database has, are Panama and Phoenix. Those that begin with `SystemV` and have no
/// summer time are fixed offsets.
pub(crate) const LINKS: [(&str, &str); 34] = [
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
pub(crate) const SYSTEM_V: [(&str, i32); 6] = [
    ("SystemV/AST4ADT", 4),
    ("SystemV/EST5EDT", 5),
    ("SystemV/CST6CDT", 6),
    ("SystemV/MST7MDT", 7),
    ("SystemV/PST8PDT", 8),
    ("SystemV/YST9YDT", 9),
];

/// The clock of the rules called SystemV, which the database dropped and ICU still has: standard time `hours` west of
/// Greenwich, and summer time from the last Sunday of April to the last Sunday of October, at 02:00, from 1902 on; in 1974
/// and 1975 from January and February on.
pub(crate) fn system_v(hours: i32) -> Clock {
    let (standard, summer) = (-hours * 3_600, -hours * 3_600 + 3_600);
    let at_two = |day: i64, offset: i32| day * 86_400 + 7_200 - i64::from(offset);
    let years = (1902..1974).flat_map(|year| {
        let [april, october] = [(4, 30), (10, 31)].map(|(month, day)| last_sunday(days(year, month, day)));
        [(april, summer), (october, standard)]
    });
    let oil = [(days(1974, 1, 6), summer), (last_sunday(days(1974, 11, 30)), standard)];
    let crisis = [(days(1975, 2, 23), summer), (last_sunday(days(1975, 10, 31)), standard)];
    let changes = years
        .chain(oil)
        .chain(crisis)
        .map(|(day, offset)| (at_two(day, if offset == summer { standard } else { summer }), offset));
    let days = [4, 10].map(|month| YearDay { month, week: 5, weekday: 0, second: 7_200 });
    Clock { first: standard, changes: changes.collect(), rule: Some(Rule { standard, summer, days }) }
}

/// Days from 1970-01-01 to a date.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    // Of years that begin in March, so that a leap day ends them.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469
}

/// The last Sunday up to a day; day 0 was a Thursday.
const fn last_sunday(day: i64) -> i64 {
    day - (day + 4).rem_euclid(7)
}
